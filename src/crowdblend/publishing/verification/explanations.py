"""datapackage.json, README.md and report.html compared with what facts and data give.

They are made again and compared. Another version may word them differently, so that only those of the version that
verifies are compared; `verify` says of the others that they were not.
"""

from __future__ import annotations

import re
from pathlib import Path

from crowdblend.reading import datapackage, readme
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import contradiction
from crowdblend.reports.page import REPORT
from crowdblend.reports.write import report_html
from crowdblend.version import __version__

EXPLANATIONS = (datapackage.NAME, readme.NAME, REPORT)
_FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Coordinates have two decimals, and the last one may differ between machines.
_NEAR = 0.021


def check_explanations(release: PublishedRelease) -> tuple[str, ...]:
    """Refuse files that say something else than facts and data give; return those that were not compared."""
    written = [name for name in EXPLANATIONS if name in release.facts.files]
    if release.facts.software.get("crowdblend") != __version__:
        return tuple(written)
    folder, certificate = release.folder, release.certificate
    if datapackage.NAME in written:
        _compare(folder / datapackage.NAME, datapackage.data_package(folder, certificate))
    if readme.NAME in written:
        _compare(folder / readme.NAME, readme.readme(folder, certificate))
    if REPORT in written:
        # A page without figures may be one that nothing is drawn on, or one that was made without.
        without = not _FIGURE.search(_text(folder / REPORT)) and _text(folder / REPORT) == report_html(
            folder, figures=False
        )
        if not without:
            _compare(folder / REPORT, report_html(folder))
    return ()


def _compare(path: Path, right: str) -> None:
    """Refuse a file whose text is not the right one; figures may differ in last digits."""
    found = _text(path)
    if found == right:
        return
    figures, rights = _FIGURE.findall(found), _FIGURE.findall(right)
    if _FIGURE.sub("", found) != _FIGURE.sub("", right) or len(figures) != len(rights):
        raise contradiction(f"{path.name} is not what the facts and the data give")
    for one, other in zip(figures, rights, strict=True):
        numbers, others = _NUMBER.findall(one), _NUMBER.findall(other)
        if _NUMBER.sub("", one) != _NUMBER.sub("", other) or any(
            abs(float(a) - float(b)) > _NEAR for a, b in zip(numbers, others, strict=True)
        ):
            raise contradiction(f"a figure of {path.name} is not what the facts and the data give")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
