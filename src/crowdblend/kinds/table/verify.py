"""Tables: every cell from k on, or noisy and shown from a threshold; several are sums of one, or counted alone."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa

from crowdblend.kinds.facts import contradiction
from crowdblend.kinds.table.facts import TOTALS, TableFacts
from crowdblend.publishing.verification.consistency import require_cells, require_files
from crowdblend.publishing.verification.counts import check_cells
from crowdblend.publishing.verification.estimates import check_estimates, check_totals
from crowdblend.reading.cells import Cells, N
from crowdblend.reading.release import PublishedRelease


def check(published: PublishedRelease) -> None:
    """Refuse a table with a cell that is not shown, or without one that is, and tables that are not sums of one."""
    facts = published.facts
    assert isinstance(facts, TableFacts)
    tables = published.tables
    totals = [TOTALS] if facts.totals else []
    paths = require_files(published, *tables, *totals)
    opened: list[Cells] = []
    found: list[pa.Table] = []
    for path, table in zip(paths, tables.values(), strict=False):
        cells = require_cells(path, list(table.columns), counted=True, flagged=table.flagged)
        opened.append(cells)
        found.append(check_cells(table, cells))
        check_estimates(table.laws, cells)
    if facts.mechanism is not None or facts.strata:
        _check_sums(opened, found)
    if totals:
        _check_totals(facts, require_cells(paths[-1], ["total"], counted=True))


def _check_sums(opened: list[Cells], found: list[pa.Table]) -> None:
    """Refuse tables that are not sums of one."""
    for one, other in combinations(range(len(found)), 2):
        shared = [name for name in opened[one].columns if name in opened[other].columns]
        if _margin(opened[one], found[one], shared) != _margin(opened[other], found[other], shared):
            raise contradiction(f"{opened[one].path.name} and {opened[other].path.name} are not sums of one table")


def _check_totals(facts: TableFacts, cells: Cells) -> None:
    """Refuse totals other than those that were planned, or with other intervals than their noise gives."""
    losses = {total.name: total.noise_epsilon for total in facts.totals}
    names = [name for piece in cells.rows() for name in piece.column(cells.keys[0]).to_pylist()]
    if sorted(names) != sorted(losses):
        raise contradiction(f"{cells.path.name} has other totals than were planned")
    check_totals(cells, [losses[name] for name in names])


def _margin(cells: Cells, found: pa.Table, names: list[str]) -> dict[tuple[str, ...], int]:
    """The counts by some of the columns, or their total."""
    keys = [cells.keys[cells.columns.index(name)] for name in names]
    if not keys:
        return {(): sum(found.column(N).to_pylist())}
    summed = found.group_by(keys, use_threads=False).aggregate([(N, "sum")])
    labels = zip(*(summed.column(key).to_pylist() for key in keys), strict=True)
    return dict(zip(labels, summed.column(f"{N}_sum").to_pylist(), strict=True))
