"""Outlier tables: every shown bin reaches the threshold from which bins are shown."""

from __future__ import annotations

from crowdblend.kinds.outlier_table.facts import OutlierTableFacts
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease
from crowdblend.reading.verification.consistency import require_cells, require_files
from crowdblend.reading.verification.counts import check_cells, check_estimates
from crowdblend.reading.verification.shown_people import ShownPeople, number_of_cells


def check(release: PublishedRelease) -> tuple[ShownPeople]:
    """Refuse a bin below the threshold; return the people who are shown."""
    facts = release.facts
    assert isinstance(facts, OutlierTableFacts)
    ((name, table),) = release.tables.items()
    (file,) = require_files(release, name)
    cells = require_cells(file, list(table.columns), counter=table.laws.counter)
    counts = check_cells(table, cells).column(N).to_numpy()
    check_estimates(table.laws, cells)
    rows, every = facts.unit.most, number_of_cells(table.columns.values())
    return (ShownPeople(facts.mechanism.law, facts.design, counts, cells=every, each=rows),)
