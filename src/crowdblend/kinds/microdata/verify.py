"""Microdata: every combination of labels is shared by at least k rows."""

from __future__ import annotations

from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_cells, check_order, check_people
from crowdblend.reading.cells import N
from crowdblend.reading.release import PublishedRelease


def check(release: PublishedRelease) -> None:
    """Refuse rows of a class with fewer than k."""
    ((name, table),) = release.tables.items()
    (path,) = require_files(release, name)
    cells = require_cells(path, list(table.columns))
    counts = check_cells(table, cells).column(N).to_numpy()
    check_people(release.facts, table, int(counts.sum()), int(counts.max(initial=0)))
    check_order(table, cells)
