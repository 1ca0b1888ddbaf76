"""What a folder publishes, as the checks of a kind see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from crowdblend.calculus import Certificate, verify
from crowdblend.calculus.description import Description
from crowdblend.calculus.folder_files import CERTIFICATE, check_files
from crowdblend.calculus.reading import read_text
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.registry import KINDS, file_name
from crowdblend.reading.cells import Cells, open_cells

ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True)
class Verified:
    """A certificate that holds, for the data beside it, and the files that it says nothing about."""

    certificate: Certificate
    uncovered: tuple[str, ...]


@dataclass(frozen=True)
class PublishedFolder:
    """A folder whose files have the certified hashes."""

    folder: Path
    certificate: Certificate

    def fact(self, name: str, kind: type[Any]) -> Any:
        """A fact of the certificate, in the form that it is stated in."""
        found = self.certificate.facts.get(name)
        if not isinstance(found, kind):
            raise contradiction(f"it does not state {name}")
        return found

    def parameter(self, name: str) -> Any:
        """A parameter that the certificate states for readers."""
        return self.fact("parameters", dict).get(name)

    @property
    def columns(self) -> list[str]:
        """The published columns."""
        return list(self.fact("columns", dict))

    @property
    def tables(self) -> dict[str, list[str]]:
        """The columns of every table; the one of all columns where there are not several."""
        stated = self.fact("tables", dict)
        for columns in stated.values():
            if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
                raise contradiction("it does not state the columns of its tables")
        return stated or {"data": self.columns}

    def described(self) -> list[Description]:
        """What the derivations are about, and every part of it."""
        return list(parts_of(self.certificate.description))

    def mechanisms(self, *names: str) -> list[Description]:
        """The mechanisms of these names in the release that the derivations are about; at least one."""
        found = [part for part in self.described() if part.name in names]
        if not found:
            raise contradiction("its derivations are about another kind of release")
        return found

    def files(self, *stems: str) -> list[Path]:
        """The data files of these names, in order; refuses a certificate that lists other data files."""
        listed = [name for name in self.fact("files", dict) if name.endswith(ENDINGS)]
        by_stem = {Path(name).stem: self.folder / name for name in listed}
        if len(by_stem) < len(listed) or set(by_stem) != set(stems):
            raise contradiction("its data files are not those of its kind")
        return [by_stem[stem] for stem in stems]

    def cells(self, path: Path, columns: list[str], *, counted: bool, flagged: bool = False) -> Cells:
        """A data file with exactly these columns."""
        try:
            opened = open_cells(path, counted=counted)
        except InvalidInput as problem:
            raise DoesNotVerify(str(problem), where=path.name, code=CODE) from None
        if list(opened.columns) != columns or opened.flagged != flagged:
            raise contradiction(f"{path.name} has other columns")
        return opened

    def threshold(self) -> int | None:
        """From which value on noisy cells are shown; None where all of them are."""
        if "show_from" in self.certificate.facts and self.certificate.facts["show_from"] is None:
            return None
        least: int = self.fact("show_from", int)
        return least

    def require_stated(self, **values: Any) -> None:
        """Refuse facts for readers that are not the numbers of the derivation, in the same type."""
        for name, value in values.items():
            stated = self.parameter(name)
            if stated != value or isinstance(stated, bool) != isinstance(value, bool):
                raise contradiction(f"{name} is not the one of its derivation")


CODE = "data-contradict"


def contradiction(what: str) -> DoesNotVerify:
    """The error for data that are not what their certificate says."""
    reason = f"certificate and data contradict each other: {what}. Ask the publisher for the original folder."
    return DoesNotVerify(reason, code=CODE, where="certificate.json")


def verify_release(folder: Path) -> Verified:
    """Verify a release folder: certificate, hashes, and what the certificate says of the data."""
    certificate = verify(read_text(folder / CERTIFICATE))
    uncovered = check_files(folder, certificate.facts.get("files", {}))
    check_data(PublishedFolder(folder, certificate))
    return Verified(certificate, uncovered)


def check_data(published: PublishedFolder) -> None:
    """Refuse data that contradict their certificate."""
    kind = published.certificate.facts.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise contradiction("its kind is none of ours")
    try:
        import_module(f"crowdblend.publishing.verification.{file_name(kind)}").check(published)
    except InvalidInput as problem:
        raise DoesNotVerify(str(problem), code=CODE, where="certificate.json") from None


def parts_of(description: Description) -> Iterator[Description]:
    """A description, and every part of it at any depth."""
    yield description
    for part in description.parts:
        yield from parts_of(part)
