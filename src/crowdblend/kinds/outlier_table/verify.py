"""Outlier tables: every shown bin reaches the threshold from which bins are shown."""

from __future__ import annotations

from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_cells, check_estimates
from crowdblend.reading.release import PublishedRelease


def check(release: PublishedRelease) -> None:
    """Refuse a bin below the threshold."""
    ((name, table),) = release.tables.items()
    (path,) = require_files(release, name)
    cells = require_cells(path, list(table.columns), counter=table.laws.counter)
    check_cells(table, cells)
    check_estimates(table.laws, cells)
