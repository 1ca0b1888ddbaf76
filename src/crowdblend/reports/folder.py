"""A release folder, checked: the certificate re-derived, and every data file compared with its hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate, verify_file
from crowdblend.errors import InvalidInput
from crowdblend.reports.html import visible

ENDINGS = (".parquet", ".csv")
REPORT = "report.html"


@dataclass(frozen=True)
class Folder:
    """What is published: a certificate that holds, and its data files by name, with their hashes."""

    certificate: Certificate
    files: Mapping[str, Path]
    hashes: Mapping[str, str]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the certificate says about the release; guarded by the digest, derived from nothing."""
        return self.certificate.facts

    def fact(self, name: str, kind: type[Any]) -> Any:
        """One fact, or the empty value of its kind when the certificate does not state it in that form."""
        value = self.facts.get(name)
        return value if isinstance(value, kind) else kind()


def open_folder(path: Path) -> Folder:
    """Check a release folder; raises DoesNotVerify when certificate or data were changed."""
    path = Path(path)
    if not path.is_dir():
        raise InvalidInput(f"{visible(str(path))} is not a folder. Pass the folder that has certificate.json in it.")
    certificate = verify_file(path)
    # The page cannot show its own hash.
    hashes = {name: value for name, value in certificate.facts.get("files", {}).items() if name != REPORT}
    names = [name for name in hashes if name.endswith(ENDINGS)]
    if not names:
        raise InvalidInput("The certificate names no data file (.parquet or .csv). Pass the folder of a whole release.")
    # The main table comes first, whatever the others are called.
    names.sort(key=lambda name: (Path(name).stem != "data", name))
    return Folder(certificate, {name: path / name for name in names}, hashes)
