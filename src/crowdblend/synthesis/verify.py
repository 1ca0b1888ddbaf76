"""Synthetic rows checked against their facts: as many as stated, with declared labels, and what their sources state."""

from __future__ import annotations

from dataclasses import replace

from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_labels
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import DATA, contradiction
from crowdblend.synthesis.facts import STEM, SyntheticFacts


def check(release: PublishedRelease) -> None:
    """Refuse other rows than the facts say, a file that is not called synthetic, and assumptions that are left out."""
    facts = release.facts
    assert isinstance(facts, SyntheticFacts)
    if facts.sources and set(release.certificate.stated) != set(facts.stated_assumptions):
        raise contradiction("it does not state what its sources take on trust")
    if not facts.sources:
        _check_beside(replace(release, publication=None), facts)
    (path,) = require_files(release, DATA)
    if path.stem != STEM:
        raise contradiction("the file of its rows is not called synthetic")
    cells, rows = require_cells(path, list(facts.columns)), 0
    for piece in cells.rows():
        rows += piece.num_rows
        check_labels(facts.columns, cells, piece)
    if rows != facts.rows:
        raise contradiction("it has another number of rows than it states")


def _check_beside(whole: PublishedRelease, facts: SyntheticFacts) -> None:
    """Refuse rows with columns that the tables beside them do not have, and tables that are not beside them."""
    counted = {name: one.tables[DATA].columns for name, one in whole.counted_publications.items()}
    known = [(name, domain) for columns in counted.values() for name, domain in columns.items()]
    if not all(any(one == column for one in known) for column in facts.columns.items()):
        raise contradiction("its rows have a column that no table beside them has")
    if [(one.source, one.name, set(one.columns)) for one in facts.met] != [
        (0, name, set(columns)) for name, columns in counted.items()
    ]:
        raise contradiction("it says how rows meet other tables than those beside them")
