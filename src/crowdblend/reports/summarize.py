"""Read a data file once, in pieces, and keep what the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.estimates import Intervals, nothing_known, row_intervals, strata_of, stratified_intervals
from crowdblend.reading.cells import EXACT, Cells, N
from crowdblend.reading.domain import declared_domain
from crowdblend.reading.margins import MarginCounter, are_cut, numbered
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
    by_label = {key: _LabelTotals() for key in data.keys[:MOST_COLUMNS]}
    sizes = np.zeros(len(EDGES) + 1, dtype=np.int64)
    cells = people = 0
    largest: list[_Row] = []
    for piece in data.pieces():
        counts = piece.column(N).to_numpy()
        cells, people = cells + len(counts), people + int(counts.sum())
        sizes += np.bincount(np.searchsorted(EDGES, counts, side="right"), minlength=len(sizes))
        largest = _largest(piece, data.keys, largest)
        for key, totals in by_label.items():
            totals.add(piece.column(key), counts)
        for counter in counters:
            counter.add(piece)
    # Of two columns no more labels are drawn.
    margins = [counter.margin(most=MOST_LABELS if len(counter.columns) == 2 else None) for counter in counters]
    several = [margin for margin in margins if len(margin.columns) == 1]
    columns = tuple(totals.column(name) for name, totals in zip(data.columns, by_label.values(), strict=False))
    return Summary(
        name=data.path.stem,
        columns=data.columns,
        flagged=data.flagged,
        cells=cells,
        people=people,
        totals=columns,
        sizes=size_classes(sizes.tolist()),
        largest=_cells(largest, data, facts),
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


class _LabelTotals:
    """Counts of one column by label, added up as pieces come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._cells = self._people = np.zeros(0, np.int64)

    def add(self, column: pa.ChunkedArray, counts: NDArray[np.int64]) -> None:
        """Count these cells as well."""
        codes = numbered(column, self._numbers)
        more = (0, len(self._numbers) - len(self._people))
        self._people, self._cells = np.pad(self._people, more), np.pad(self._cells, more)
        np.add.at(self._people, codes, counts)
        np.add.at(self._cells, codes, 1)

    def column(self, name: str) -> ColumnTotals:
        """The labels that occur, the largest of them where they are many; of equal ones, those that come first."""
        labels, met = list(self._numbers), np.flatnonzero(self._cells).tolist()
        every = ((labels[at], int(self._people[at])) for at in met)
        entries = nsmallest(MOST_LABELS, every, key=lambda entry: (-entry[1], entry[0]))
        whole = len(met) <= MOST_LABELS
        return ColumnTotals(name, tuple(in_order(entries) if whole else entries), len(met))


class _Row(NamedTuple):
    """A cell as the file has it."""

    people: int
    labels: tuple[str, ...]
    exact: bool | None


def _rank(row: _Row) -> tuple[int, tuple[str, ...]]:
    """Larger cells first; of equal ones, those whose labels come first."""
    return -row.people, row.labels


def _largest(piece: pa.Table, keys: list[str], before: list[_Row]) -> list[_Row]:
    """The largest cells so far."""
    counts = piece.column(N).to_numpy()
    rows = np.arange(len(counts))
    if len(counts) > MOST_CELLS:
        rows = np.flatnonzero(counts >= np.partition(counts, -MOST_CELLS)[-MOST_CELLS])
    met: list[dict[str, int]] = [{} for _ in keys]
    codes = [numbered(piece.column(key), labels)[rows] for key, labels in zip(keys, met, strict=True)]
    labels = [np.array([*found, None], object)[:-1] for found in met]
    if len(rows) > MOST_CELLS:  # many equal ones: compared as numbers, since there may be a million
        places = [np.argsort(np.argsort(found.astype(np.str_), kind="stable")) for found in labels]
        ranks = [place[code] for place, code in zip(places, codes, strict=True)]
        chosen = np.lexsort([*ranks[::-1], -counts[rows]])[:MOST_CELLS]
        rows, codes = rows[chosen], [code[chosen] for code in codes]
    exact = piece.column(EXACT).to_numpy()[rows].tolist() if EXACT in piece.column_names else [None] * len(rows)
    named = [tuple(found[code[at]] for found, code in zip(labels, codes, strict=True)) for at in range(len(rows))]
    found = [_Row(*row) for row in zip(counts[rows].tolist(), named, exact, strict=True)]
    return sorted([*before, *found], key=_rank)[:MOST_CELLS]


def _cells(largest: list[_Row], data: Cells, facts: Mapping[str, Any] | None) -> tuple[Cell, ...]:
    counts = np.array([row.people for row in largest], np.int64)
    exact = np.array([row.exact for row in largest], np.bool_) if data.flagged else None
    known = _rows_known(largest, data, facts, counts, exact)
    return tuple(Cell(row.labels, row.people, row.exact, *_known(known, at)) for at, row in enumerate(largest))


def _rows_known(
    rows: list[_Row],
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
    at = data.columns.index(strata.column)
    labels = np.array([*(row.labels[at] for row in rows), None], object)[:-1]
    return stratified_intervals(strata, data.columns, labels, counts)


def _known(found: Intervals, at: int) -> tuple[float | None, int | None, int | None]:
    """The estimate and its ends, None where nothing can be said."""
    estimate, low, high = float(found.estimate[at]), int(found.low[at]), int(found.high[at])
    return None if np.isnan(estimate) else estimate, None if low < 0 else low, None if high < 0 else high
