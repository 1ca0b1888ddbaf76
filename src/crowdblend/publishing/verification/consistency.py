"""A release folder checked against its certificate, and what the checks of every kind share."""

from __future__ import annotations

from pathlib import Path

from crowdblend.calculus import Assumption, Certificate, verify
from crowdblend.calculus.certificate import by_strength
from crowdblend.calculus.folder_files import CERTIFICATE, check_files
from crowdblend.calculus.reading import read_text
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.policies.registry import part
from crowdblend.publishing.verification.explanations import EXPLANATIONS, check_explanations
from crowdblend.reading.cells import Cells, open_cells
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import CONTRADICTION, contradiction, derive


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
    uncovered = check_files(folder, published.facts.files)
    check_data(published)
    known = {path.name for path in published.files.values()} | set(EXPLANATIONS)
    if not set(published.facts.files) <= known:
        raise contradiction("it covers files that no release has")
    return VerifiedRelease(certificate, uncovered, check_explanations(published))


def check_data(release: PublishedRelease) -> None:
    """Refuse a certificate that does not follow from its facts, and data that contradict them."""
    try:
        check_certificate(release)
        part(release.kind, "verify").check(release)
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
    if list(cells.columns) != columns or cells.flagged != flagged or (counter is not None and cells.counter != counter):
        raise contradiction(f"{path.name} has other columns")
    return cells
