"""Read a data file once, in pieces, and keep what the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.estimates import Intervals, nothing_known, row_intervals, strata_of, stratified_intervals
from crowdblend.reading.cells import EXACT, Cells, N, Totals
from crowdblend.reading.domain import declared_domain
from crowdblend.reading.margins import MarginCounter, are_cut
from crowdblend.reports.summary import (
    EDGES,
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_LABELS,
    Cell,
    ColumnTotals,
    Summary,
    in_order,
    size_classes,
)


def summarize(data: Cells, facts: Mapping[str, Any] | None = None) -> Summary:
    """A data file in the numbers that its report shows; with facts, also what they say about the population."""
    counters = _counters(data, facts)
    keys = data.keys[:MOST_COLUMNS]
    by_label = [Totals([key]) for key in keys]
    sizes = np.zeros(len(EDGES) + 1, dtype=np.int64)
    cells = people = 0
    largest: pa.Table | None = None
    for piece in data.pieces():
        counts = piece.column(N).to_numpy()
        cells, people = cells + len(counts), people + int(counts.sum())
        sizes += np.bincount(np.searchsorted(EDGES, counts, side="right"), minlength=len(sizes))
        largest = _largest(piece, largest)
        for totals in by_label:
            totals.add(piece)
        for counter in counters:
            counter.add(piece)
    # Of two columns no more labels are drawn.
    margins = [counter.margin(most=MOST_LABELS if len(counter.columns) == 2 else None) for counter in counters]
    several = [margin for margin in margins if len(margin.columns) == 1]
    columns = tuple(_column(name, totals.table()) for name, totals in zip(data.columns, by_label, strict=False))
    return Summary(
        name=data.path.stem,
        columns=data.columns,
        flagged=data.flagged,
        cells=cells,
        people=people,
        totals=columns,
        sizes=size_classes(sizes.tolist()),
        largest=_cells(largest, data, facts) if largest is not None else (),
        margins=tuple(several),
        pair=next((margin for margin in margins if len(margin.columns) == 2), None),
        total=next((margin for margin in margins if not margin.columns), None),
    )


def _counters(data: Cells, facts: Mapping[str, Any] | None) -> list[MarginCounter]:
    """Sums by every column, by the first two and in all; none of cells that were cut off."""
    if facts is None or are_cut(facts):
        return []
    names = data.columns[:MOST_COLUMNS]
    wanted = [(name,) for name in names] + ([names[:2]] if len(names) > 1 else []) + [()]
    return [MarginCounter(facts, data, columns, declared_domain(facts)) for columns in wanted]


def _largest(piece: pa.Table, before: pa.Table | None) -> pa.Table:
    """The largest cells so far; of equal ones, those whose labels come first."""
    import pyarrow.compute as pc  # noqa: PLC0415 - takes long to load

    counts = piece.column(N).to_numpy()
    if len(counts) > MOST_CELLS:
        least = np.partition(counts, -MOST_CELLS)[-MOST_CELLS]
        piece = piece.filter(pa.array(counts >= least))
    texts = [(field.name, field.type if field.name in (N, EXACT) else pa.large_string()) for field in piece.schema]
    cells = piece.cast(pa.schema(texts))
    cells = cells if before is None else pa.concat_tables([before, cells])
    labels = [name for name in cells.column_names if name not in (N, EXACT)][:MOST_COLUMNS]
    order = [(N, "descending"), *((name, "ascending") for name in labels)]
    return cells.take(pc.select_k_unstable(cells, MOST_CELLS, order))


def _cells(largest: pa.Table, data: Cells, facts: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    rows = largest.to_pylist()
    counts = np.array([row[N] for row in rows], np.int64)
    exact = np.array([row[EXACT] for row in rows], np.bool_) if data.flagged else None
    found = _rows_known(rows, data, facts, counts, exact)
    cells = [
        Cell(tuple(row[key] for key in data.keys), row[N], row.get(EXACT), *_known(found, at))
        for at, row in enumerate(rows)
    ]
    return tuple(sorted(cells, key=lambda cell: (-cell.count, cell.labels)))


def _rows_known(
    rows: list[dict[str, Any]],
    data: Cells,
    facts: Mapping[str, Any] | None,
    counts: NDArray[np.int64],
    exact: NDArray[np.bool_] | None,
) -> Intervals:
    strata = None if facts is None else strata_of(facts)
    if facts is None or (strata is not None and strata.column not in data.columns):
        return nothing_known(len(rows))
    if strata is None:
        return row_intervals(facts, data.columns, counts, exact)
    key = data.keys[data.columns.index(strata.column)]
    labels = np.array([*(row[key] for row in rows), None], object)[:-1]
    return stratified_intervals(strata, data.columns, labels, counts)


def _known(found: Intervals, at: int) -> tuple[float | None, int | None, int | None]:
    """The estimate and its ends, None where nothing can be said."""
    estimate, low, high = float(found.estimate[at]), int(found.low[at]), int(found.high[at])
    return None if np.isnan(estimate) else estimate, None if low < 0 else low, None if high < 0 else high


def _column(name: str, totals: pa.Table) -> ColumnTotals:
    every = zip(totals.column(0).to_pylist(), totals.column(1).to_pylist(), strict=True)
    entries = nsmallest(MOST_LABELS, every, key=lambda entry: (-entry[1], entry[0]))
    whole = totals.num_rows <= MOST_LABELS
    return ColumnTotals(name, tuple(in_order(entries) if whole else entries), totals.num_rows)
