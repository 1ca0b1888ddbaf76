"""A data file, read once in pieces, in the numbers that its report shows: totals by label, the largest cells, and how
large cells are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest

import numpy as np
import pyarrow as pa

from crowdblend.kinds.shared.facts import CellTable
from crowdblend.reading.cells import EXACT, Cells, N, Totals
from crowdblend.reading.margins import Margin, MarginCounter, number_labels

MOST_LABELS = 20
MOST_CELLS = 20
MOST_COLUMNS = 12
_NUMBERED = re.compile(r"([<≥]?)\s*\[?\(?\s*(-?\d+(?:\.\d+)?)")
EDGES = np.array([digit * 10**power for power in range(18) for digit in (1, 2, 5)])


@dataclass(frozen=True)
class ColumnTotals:
    """Published totals of one column: its largest labels, in the order of the page, and how many labels there are."""

    name: str
    totals: tuple[tuple[str, int], ...]
    distinct: int


@dataclass(frozen=True)
class Cell:
    """One published cell; `exact` is None where the release does not say, and the ends where nothing can be said."""

    labels: tuple[str, ...]
    count: int
    exact: bool | None
    estimate: float | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Summary:
    """A data file in the numbers that its report prints."""

    name: str
    columns: tuple[str, ...]
    flagged: bool
    counter: str
    cells: int
    people: int
    totals: tuple[ColumnTotals, ...]
    sizes: tuple[tuple[str, int], ...]
    """How many cells there are of every size: by their estimates where these are known, and else by their counts."""
    sized_by_estimates: bool
    largest: tuple[Cell, ...]
    margins: tuple[Margin, ...] = ()
    pair: Margin | None = None
    total: Margin | None = None


def summarize(data: Cells, table: CellTable | None = None) -> Summary:
    """Return a data file in the numbers that its report shows; of a table, what they say about the population."""
    # Sums by every column, by the first two and in all; none of cells that do not add up.
    names = data.columns[:MOST_COLUMNS]
    wanted = [*((name,) for name in names), *([names[:2]] if len(names) > 1 else []), ()]
    counters = [MarginCounter(table, data, one) for one in wanted] if table is not None and table.laws.add_up else []
    laws = None if table is None else table.laws
    stratum = None if laws is None else laws.stratum
    strata_key = data.keys[data.columns.index(stratum)] if stratum in data.columns else None
    estimated = laws is not None and laws.estimated and (stratum is None or strata_key is not None)
    # Of a table, the margins have the totals by label.
    by_label = {key: Totals([key]) for key in data.keys[:MOST_COLUMNS]} if table is None else {}
    sizes = np.zeros(len(EDGES) + 1, dtype=np.int64)
    cells = people = 0
    largest: list[Cell] = []
    for piece in data.pieces():
        counts = piece.column(N).to_numpy()
        cells, people = cells + len(counts), people + int(counts.sum())
        if estimated or stratum is None:  # counts of strata are not compared
            strata = None if strata_key is None else np.array(piece.column(strata_key).to_pylist(), object)
            held = laws.estimates(counts, strata) if laws is not None and estimated else counts
            sizes += np.bincount(np.searchsorted(EDGES, held, side="right"), minlength=len(sizes))
        largest = _largest(piece, data.keys, largest)
        for key, totals in by_label.items():
            totals.add(piece.select([key, N]))
        for counter in counters:
            counter.add(piece)
    classes = np.flatnonzero(sizes).tolist()
    # Of two columns no more labels are drawn.
    margins = [counter.margin(most=MOST_LABELS if len(counter.columns) == 2 else None) for counter in counters]
    several = [margin for margin in margins if len(margin.columns) == 1]
    return Summary(
        name=data.file.stem,
        columns=data.columns,
        flagged=data.flagged,
        counter=data.counter,
        cells=cells,
        people=people,
        totals=tuple(_column_totals(name, found) for name, found in zip(data.columns, by_label.values(), strict=False)),
        sizes=tuple((_class_name(at), int(sizes[at])) for at in range(min(classes), max(classes) + 1))
        if classes
        else (),
        sized_by_estimates=estimated,
        largest=_with_ends(largest, data, table),
        margins=tuple(several),
        pair=next((margin for margin in margins if len(margin.columns) == 2), None),
        total=next((margin for margin in margins if not margin.columns), None),
    )


def _column_totals(name: str, totals: Totals) -> ColumnTotals:
    """The labels that occur, the largest of them where they are many; of equal ones, those that come first."""
    found = totals.table()
    every = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    entries = nsmallest(MOST_LABELS, every, key=lambda entry: (-entry[1], entry[0]))
    whole = len(every) <= MOST_LABELS
    return ColumnTotals(name, tuple(in_order(entries) if whole else entries), len(every))


def _largest(piece: pa.Table, keys: list[str], before: list[Cell]) -> list[Cell]:
    """Return the largest cells so far; of equal ones, those whose labels come first."""
    counts = piece.column(N).to_numpy()
    rows = np.arange(len(counts))
    if len(counts) > MOST_CELLS:
        rows = np.flatnonzero(counts >= np.partition(counts, -MOST_CELLS)[-MOST_CELLS])
    met: list[dict[str, int]] = [{} for _ in keys]
    codes = [number_labels(piece.column(key), labels)[rows] for key, labels in zip(keys, met, strict=True)]
    labels = [np.array([*found, None], object)[:-1] for found in met]
    if len(rows) > MOST_CELLS:  # many equal ones: compared as numbers, since there may be a million
        places = [np.argsort(np.argsort(found.astype(np.str_), kind="stable")) for found in labels]
        ranks = [place[code] for place, code in zip(places, codes, strict=True)]
        chosen = np.lexsort([*ranks[::-1], -counts[rows]])[:MOST_CELLS]
        rows, codes = rows[chosen], [code[chosen] for code in codes]
    exact = piece.column(EXACT).to_numpy()[rows].tolist() if EXACT in piece.column_names else [None] * len(rows)
    named = [tuple(found[code[at]] for found, code in zip(labels, codes, strict=True)) for at in range(len(rows))]
    found = [Cell(*cell) for cell in zip(named, counts[rows].tolist(), exact, strict=True)]
    return sorted([*before, *found], key=lambda cell: (-cell.count, cell.labels))[:MOST_CELLS]


def _with_ends(cells: list[Cell], data: Cells, table: CellTable | None) -> tuple[Cell, ...]:
    """Return the cells with what they say about the population; None where nothing can be said."""
    if table is None or (table.laws.stratum is not None and table.laws.stratum not in data.columns):
        return tuple(cells)
    counts = np.array([cell.count for cell in cells], np.int64)
    exact = np.array([cell.exact for cell in cells], np.bool_) if data.flagged else None
    labels = None
    if table.laws.stratum is not None:
        at = data.columns.index(table.laws.stratum)
        labels = np.array([*(cell.labels[at] for cell in cells), None], object)[:-1]
    found = table.laws.intervals(counts, exact, labels)
    ends = zip(found.estimate.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return tuple(
        replace(
            cell,
            estimate=None if np.isnan(estimate) else estimate,
            low=None if low < 0 else low,
            high=None if high < 0 else high,
        )
        for cell, (estimate, low, high) in zip(cells, ends, strict=True)
    )


def size_class(count: int) -> str:
    """Return the class of sizes that a count falls into, in steps of 1, 2 and 5.

    >>> size_class(35), size_class(1), size_class(-2)
    ('20–49', '1', '0 or less')
    """
    return _class_name(bisect_right(EDGES, count))


def in_order(totals: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Labels that are numbers, intervals or dates by their value; others as they came.

    >>> in_order([("[10, 20)", 4), ("≥ 20", 9), ("[0, 10)", 7)])
    [('[0, 10)', 7), ('[10, 20)', 4), ('≥ 20', 9)]
    """
    return [totals[at] for at in in_numeric_order([label for label, _ in totals])]


def in_numeric_order(labels: Sequence[str]) -> list[int]:
    """The places of labels that are numbers, intervals or dates in the order of their values; others as they came."""
    places = [_NUMBERED.match(label) for label in labels]
    known = [place for place in places if place]
    if len(known) < max(2, len(labels) - 1):  # one class may be called "other"
        return list(range(len(labels)))
    ranks = {"<": -1, "": 0, "≥": 1}
    ends = [(float(place[2]), ranks[place[1]]) if place else (float("inf"), 0) for place in places]
    return sorted(range(len(labels)), key=lambda at: (ends[at], labels[at]))


def _class_name(at: int) -> str:
    if at == 0:
        return "0 or less"
    low = EDGES[at - 1]
    if at == len(EDGES):
        return f"{low:,} or more"
    high = EDGES[at] - 1
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
