"""A release folder checked against its certificate, and what the checks of every kind share."""

from __future__ import annotations

import re
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds.shared.facts import CONTRADICTION, contradiction, derive
from crowdblend.policies.registry import part
from crowdblend.reading import datapackage, readme
from crowdblend.reading.cells import ESTIMATES, EXACT, Cells, header_of, open_cells
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.reports.page import REPORT
from crowdblend.reading.reports.write import report_html
from crowdblend.reading.verification.shown_people import check_people
from crowdblend.trusted.calculus import Assumption, Certificate, verify
from crowdblend.trusted.calculus.certificate import by_strength
from crowdblend.trusted.calculus.encoding import read_text
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.frozen import dataclass
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
    folder, certificate = release.folder, release.certificate
    if datapackage.NAME in written:
        _compare(folder / datapackage.NAME, datapackage.data_package(folder, certificate))
    if readme.NAME in written:
        _compare(folder / readme.NAME, readme.readme(folder, certificate))
    if REPORT in written:
        page = _text(folder / REPORT)
        # A page without figures may be one that nothing is drawn on, or one that was made without.
        if _FIGURE.search(page) or page != report_html(folder, figures=False):
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


@dataclass(frozen=True)
class VerifiedRelease:
    """A certificate that holds, for the data beside it, and the files that it says nothing about.

    `not_compared` are explanations that another version wrote: their hashes are right, and their words were not read.
    """

    certificate: Certificate
    uncovered: tuple[str, ...]
    not_compared: tuple[str, ...] = ()


def verify_release(folder: Path) -> VerifiedRelease:
    """Verify a release folder: certificate, hashes, that the certificate follows from its facts, and the data."""
    certificate = verify(read_text(folder / CERTIFICATE))
    published = PublishedRelease(folder, certificate)
    uncovered = published.check_files()
    check_data(published)
    known = {path.name for path in published.files.values()} | set(EXPLANATIONS)
    if not set(published.facts.files) <= known:
        raise contradiction("it covers files that no release has")
    return VerifiedRelease(certificate, uncovered, check_explanations(published))


def check_data(release: PublishedRelease) -> None:
    """Refuse a certificate that does not follow from its facts, and data that contradict them."""
    try:
        check_certificate(release)
        check_people([part(release.kind, "verify").check(release) or ()])
    except InvalidInput as problem:
        where = problem.where if problem.where in release.facts.files else CERTIFICATE
        raise DoesNotVerify(str(problem), code=CONTRADICTION, where=where) from None
    except (ValueError, TypeError, ArithmeticError, LookupError) as problem:
        raise contradiction("its facts do not describe its data files") from problem


def check_certificate(release: PublishedRelease) -> None:
    """Refuse derivations other than those that the facts give, and what is taken on trust and not said to be."""
    if by_strength(derive(release.facts)) != release.certificate.derivations:
        raise contradiction("its derivations are not those that its facts give")
    assumed = {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY} & {*release.certificate.stated}
    if assumed != {release.facts.assumption} - {None}:
        raise contradiction("whether its rate is an assumption is not what it states")
    if release.facts.rows_are_people != (Assumption.ROWS_ARE_PEOPLE in release.certificate.stated):
        raise contradiction("whether its rows are people is not what it states")
    if bool(release.facts.proposed) != (Assumption.PROPOSED_DOMAINS in release.certificate.stated):
        raise contradiction("whether its domains were proposed is not what it states")


def require_files(release: PublishedRelease, *tables: str) -> list[Path]:
    """Return the data files of these tables, in order; refuse a certificate that lists other data files."""
    if set(release.files) != set(tables):
        raise contradiction("its data files are not those of its kind")
    return [release.files[table] for table in tables]


def require_cells(path: Path, columns: list[str], *, counter: str | None = None, flagged: bool = False) -> Cells:
    """Return a data file with exactly these columns, and with counts under this name, if any."""
    cells = open_cells(path, counted=counter is not None)
    counted = [] if counter is None else [counter, *([EXACT] if flagged else []), *ESTIMATES]
    if header_of(path) != [*columns, *counted]:
        raise contradiction(f"{path.name} has other columns")
    return cells
