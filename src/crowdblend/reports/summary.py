"""What a report shows of a data file: totals by label, the largest cells, and how large cells are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.reading.margins import Margin

MOST_LABELS = 20
MOST_CELLS = 20
MOST_COLUMNS = 12
_NUMBERED = re.compile(r"([<≥]?)\s*\[?\(?\s*(-?\d+(?:\.\d+)?)")
EDGES = [digit * 10**power for power in range(18) for digit in (1, 2, 5)]


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
    cells: int
    people: int
    totals: tuple[ColumnTotals, ...]
    sizes: tuple[tuple[str, int], ...]
    largest: tuple[Cell, ...]
    margins: tuple[Margin, ...] = ()
    pair: Margin | None = None
    total: Margin | None = None


def size_class(count: int) -> str:
    """The class of sizes that a count falls into, in steps of 1, 2 and 5.

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


def size_classes(sizes: list[int]) -> tuple[tuple[str, int], ...]:
    """Every class from the first to the last that holds a cell, so that gaps show."""
    held = [at for at, number in enumerate(sizes) if number]
    return tuple((_class_name(at), sizes[at]) for at in range(held[0], held[-1] + 1)) if held else ()


def _class_name(at: int) -> str:
    if at == 0:
        return "0 or less"
    low = EDGES[at - 1]
    if at == len(EDGES):
        return f"{_number(low)} or more"
    high = EDGES[at] - 1
    return _number(low) if low == high else f"{_number(low)}–{_number(high)}"


def _number(count: int) -> str:
    return f"{count:,}"
