"""A release folder held against its certificate, and what the checks of every kind share."""

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
from crowdblend.reading.release import CONTRADICTION, PublishedRelease, contradiction


@dataclass(frozen=True)
class Verified:
    """A certificate that holds, for the data beside it, and the files that it says nothing about."""

    certificate: Certificate
    uncovered: tuple[str, ...]


def verify_release(folder: Path) -> Verified:
    """Verify a release folder: certificate, hashes, and what the certificate says of the data."""
    certificate = verify(read_text(folder / CERTIFICATE))
    uncovered = check_files(folder, certificate.facts.get("files", {}))
    check_data(PublishedRelease(folder, certificate))
    return Verified(certificate, uncovered)


def check_data(published: PublishedRelease) -> None:
    """Refuse data that contradict their certificate."""
    if published.kind not in KINDS:
        raise contradiction("its kind is none of ours")
    try:
        import_module(f"crowdblend.publishing.verification.{file_name(published.kind)}").check(published)
    except InvalidInput as problem:
        where = problem.where if problem.where in published.fact("files", dict) else CERTIFICATE
        raise DoesNotVerify(str(problem), code=CONTRADICTION, where=where) from None


def parts_of(description: Description) -> Iterator[Description]:
    """Yield a description, and every part of it at any depth."""
    yield description
    for part in description.parts:
        yield from parts_of(part)


def mechanisms(published: PublishedRelease, *names: str) -> list[Description]:
    """Return the mechanisms of these names in the release that the derivations are about; at least one."""
    found = [part for part in parts_of(published.certificate.description) if part.name in names]
    if not found:
        raise contradiction("its derivations are about another kind of release")
    return found


def require_stated(published: PublishedRelease, **values: Any) -> None:
    """Refuse facts for readers that are not the numbers of the derivation, in the same type."""
    parameters = published.require("parameters", dict)
    for name, value in values.items():
        stated = parameters.get(name)
        if stated != value or isinstance(stated, bool) != isinstance(value, bool):
            raise contradiction(f"{name} is not the one of its derivation")


def show_from(published: PublishedRelease) -> int | None:
    """Return the value from which on noisy cells are shown; None where all of them are."""
    shows_all = "show_from" in published.facts and published.facts["show_from"] is None
    return None if shows_all else published.require("show_from", int)


def require_files(published: PublishedRelease, *tables: str) -> list[Path]:
    """Return the data files of these tables, in order; refuse a certificate that lists other data files."""
    if set(published.files) != set(tables):
        raise contradiction("its data files are not those of its kind")
    return [published.files[table] for table in tables]


def require_cells(path: Path, columns: list[str], *, counted: bool, flagged: bool = False) -> Cells:
    """Return a data file with exactly these columns."""
    cells = open_cells(path, counted=counted)
    if list(cells.columns) != columns or cells.flagged != flagged:
        raise contradiction(f"{path.name} has other columns")
    return cells
