"""A release folder checked against its certificate, and what the checks of every kind share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import CONTRADICTION, contradiction, derive, read_facts
from crowdblend.policies.registry import part
from crowdblend.reading import datapackage, readme
from crowdblend.reading.cells import ESTIMATES, EXACT, Cells, open_cells
from crowdblend.reading.data_file import DataFile, Row
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.page import REPORT
from crowdblend.reading.reports.write import report_of
from crowdblend.reading.verification.shown_people import check_people
from crowdblend.trusted.calculus import Assumption, Certificate
from crowdblend.trusted.calculus.certificate import by_strength, node
from crowdblend.trusted.calculus.checker import certificate_of, sealed
from crowdblend.trusted.calculus.encoding import read_text
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.version import __version__

EXPLANATIONS = (datapackage.NAME, readme.NAME, REPORT)
_FIGURE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Coordinates have two decimals, and the last one may differ between machines.
_NEAR = 0.021


def check_explanations(release: PublishedRelease) -> tuple[str, ...]:
    """Refuse files that say something else than facts and data give; return those that were not compared.

    They are made again and compared. Another version may word them differently, so that only those of the version that
    verifies are compared.
    """
    written = [name for name in EXPLANATIONS if name in release.facts.files]
    if release.facts.software.get("crowdblend") != __version__:
        return tuple(written)
    if datapackage.NAME in written:
        _compare(release.folder / datapackage.NAME, datapackage.data_package(release))
    if readme.NAME in written:
        _compare(release.folder / readme.NAME, readme.readme(release))
    if REPORT in written:
        path = release.folder / REPORT
        page = _text(path)
        # A page without figures may be one that nothing is drawn on, or one that was made without.
        if _FIGURE.search(page) or page != report_of(release, figures=False):
            _compare(path, report_of(release))
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


@dataclass(frozen=True)
class VerifiedRelease:
    """A certificate that holds, for the data beside it, and the files that it says nothing about.

    `not_compared` are explanations that another version wrote: their hashes are right, and their words were not read.
    """

    certificate: Certificate
    uncovered: tuple[str, ...]
    not_compared: tuple[str, ...] = ()


def verify_release(folder: Path) -> VerifiedRelease:
    """Verify a release folder: its certificate, which follows from its facts, hashes, data, and what explains them."""
    published = open_verified(folder)
    known = {file.name for file in published.data_files} | set(EXPLANATIONS)
    if not set(published.facts.files) <= known:
        raise contradiction("it covers files that no release has")
    return VerifiedRelease(published.certificate, published.uncovered, check_explanations(published))


def open_verified(folder: Path) -> PublishedRelease:
    """Open a release folder whose certificate follows from its facts, and whose data do not contradict them."""
    certificate = check_certificate(read_text(folder / CERTIFICATE))
    published = PublishedRelease(folder, certificate)
    _ = published.uncovered  # refuses files that are not the certified ones
    check_data(published)
    return published


def check_certificate(text: str) -> Certificate:
    """Return the certificate that a text states; refuse one that does not follow from its facts.

    It is derived once, from its facts; what is taken on trust must be said to be.
    """
    document = sealed(text)
    facts = read_facts(document["facts"])
    derivations = derive(facts)
    if [node(made) for made in by_strength(derivations)] != document["derivations"]:
        raise contradiction("its derivations are not those that its facts give")
    certificate = certificate_of(document, lambda: derivations)
    assumed = {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY} & {*certificate.stated}
    if assumed != {facts.assumption} - {None}:
        raise contradiction("whether its rate is an assumption is not what it states")
    if facts.rows_are_people != (Assumption.ROWS_ARE_PEOPLE in certificate.stated):
        raise contradiction("whether its rows are people is not what it states")
    if bool(facts.proposed) != (Assumption.PROPOSED_DOMAINS in certificate.stated):
        raise contradiction("whether its domains were proposed is not what it states")
    return certificate


def check_data(release: PublishedRelease) -> None:
    """Refuse data that contradict the facts of their certificate."""
    try:
        check_people([part(release.kind, "verify").check(release) or ()])
    except InvalidInput as problem:
        where = problem.where if problem.where in release.facts.files else CERTIFICATE
        raise DoesNotVerify(str(problem), code=CONTRADICTION, where=where) from None
    except (ValueError, TypeError, ArithmeticError, LookupError) as problem:
        raise contradiction("its facts do not describe its data files") from problem


def require_files(release: PublishedRelease, *tables: str) -> list[DataFile]:
    """Return the data files of these tables, in order; refuse a certificate that lists other data files."""
    if set(release.files) != set(tables):
        raise contradiction("its data files are not those of its kind")
    return [release.files[table] for table in tables]


def require_cells(file: DataFile, columns: list[str], *, counter: str | None = None, flagged: bool = False) -> Cells:
    """Return a data file with exactly these columns, and with counts under this name, if any."""
    cells = open_cells(file, counted=counter is not None)
    counted = [] if counter is None else [counter, *([EXACT] if flagged else []), *ESTIMATES]
    require_columns(file, [*columns, *counted])
    return cells


def require_columns(file: DataFile, columns: list[str]) -> None:
    """Refuse a data file with other columns than these."""
    if file.header != columns:
        raise contradiction(f"{file.name} has other columns")


def require_rows(file: DataFile, columns: list[str], texts: Sequence[str], blank: Sequence[str] = ()) -> list[Row]:
    """Return the rows of a file with exactly these columns; every number is finite, and only some may be blank."""
    require_columns(file, columns)
    numbers = [name for name in columns if name not in texts]
    rows = file.rows([name for name in columns if name in texts], numbers, blank)
    for row in rows:
        for name in numbers:
            if not (name in blank and row[name] is None) and not math.isfinite(row[name]):
                raise contradiction(f"{file.name} has something else than a number in {name}")
    return rows
