"""Tables: every cell from k on, or noisy and shown from a threshold."""

from __future__ import annotations

from crowdblend.kinds.table.facts import TOTALS, TableFacts
from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_cells, check_estimates, check_people, check_totals
from crowdblend.reading.cells import Cells, N
from crowdblend.reading.release import PublishedRelease
from crowdblend.releases.facts import contradiction


def check(release: PublishedRelease) -> None:
    """Refuse a table with a cell that is not shown, or without one that is, and totals that were not planned."""
    facts = release.facts
    assert isinstance(facts, TableFacts)
    ((name, table),) = release.tables.items()
    path, *totals = require_files(release, name, *([TOTALS] if facts.totals else []))
    cells = require_cells(path, list(table.columns), counter=table.laws.counter, flagged=table.flagged)
    counts = check_cells(table, cells).column(N).to_numpy()
    check_people(facts, table, int(counts.sum()), int(counts.max(initial=0)))
    check_estimates(table.laws, cells)
    for other in totals:
        _check_totals(facts, require_cells(other, ["total"], counter="count"))


def _check_totals(facts: TableFacts, cells: Cells) -> None:
    """Refuse totals other than those that were planned, or with other intervals than their noise gives."""
    losses = {total.name: total.noise_epsilon for total in facts.totals}
    names = [name for piece in cells.rows() for name in piece.column(cells.keys[0]).to_pylist()]
    if names != list(losses):
        raise contradiction(f"{cells.path.name} has other totals than were planned")
    check_totals(cells, list(losses.values()))
