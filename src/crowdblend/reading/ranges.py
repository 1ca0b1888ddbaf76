"""Ranges of an ordered column, from tables of its classes and of wider ones: the best unbiased sums, with intervals.

Tables of one column at several widths are a tree: the cell of a wide class has the people of some narrower ones. Let y
be all published cells and u the variances of their noise. The numbers x of people in the narrowest classes that make
the squares (y − A·x)²/u smallest are found in two passes (after Hay, Rastogi, Miklau and Suciu 2010). Going up, a cell
is the mean of its own value and of the sum of its parts, in which the surer one counts more; going down, what a cell
differs from the sum of its parts is divided among these by their variances.

The sum c·x of a range has the variance c·M⁻¹c with M = Aᵀ·u⁻¹·A, and M⁻¹c is what the two passes make of y that is u·c
in the narrowest classes and 0 in all others.

All values are numbers of sampled people. What a sum says about the population, `range_interval` finds by the law of who
is sampled and of the noise together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import DATA, CellTable, ReleaseFacts
from crowdblend.methods.estimates.range_intervals import range_interval
from crowdblend.methods.recoding.domain import Domain
from crowdblend.reading.margins import Margin

Floats = NDArray[np.float64]
Edge = float | int | str | date


class Counted(Protocol):
    """A publication of people counted in cells, as it is read."""

    @property
    def facts(self) -> ReleaseFacts:
        """The facts of the publication."""

    @property
    def tables(self) -> Mapping[str, CellTable]:
        """The tables of the publication by their names."""

    def margin(self, columns: Sequence[str], confidence: float) -> Margin:
        """Return the margin of some columns."""


@dataclass(frozen=True)
class Level:
    """The cells of one width: how many of the narrowest classes each has, their values and variances of noise."""

    times: int
    values: Floats
    variances: Floats


@dataclass(frozen=True)
class Tree:
    """Levels from the narrowest on, each of which joins classes of the one before."""

    levels: tuple[Level, ...]

    @classmethod
    def of(cls, levels: Sequence[Level]) -> Tree:
        """Return the tree; refuse widths that do not nest."""
        ordered = tuple(sorted(levels, key=lambda level: level.times))
        if any(wide.times % narrow.times or wide.times == narrow.times for narrow, wide in pairwise(ordered)):
            raise _refusal(
                "Classes of two widths overlap.", "Name a column that was published with `publish.ranges = true`."
            )
        return cls(ordered)

    def solve(self, values: Sequence[Floats]) -> Floats:
        """Return the numbers of the narrowest classes that are closest to these values of all cells."""
        best, spread = [values[0]], [self.levels[0].variances]
        starts = []
        for (narrow, wide), own in zip(pairwise(self.levels), values[1:], strict=True):
            starts.append(np.arange(0, len(best[-1]), wide.times // narrow.times))
            parts, unsure = (np.add.reduceat(array, starts[-1]) for array in (best[-1], spread[-1]))
            kept = wide.variances * unsure / (wide.variances + unsure)
            best.append(kept * (own / wide.variances + parts / unsure))
            spread.append(kept)
        found = best[-1]
        for parts, unsure, start in zip(best[-2::-1], spread[-2::-1], reversed(starts), strict=True):
            sizes = np.diff(np.append(start, len(parts)))
            missing = (found - np.add.reduceat(parts, start)) / np.add.reduceat(unsure, start)
            found = parts + unsure * np.repeat(missing, sizes)
        return found

    def sum(self, start: int, stop: int) -> tuple[float, float]:
        """Return the best value of some neighbouring classes together, and the variance of its noise."""
        narrowest = self.levels[0]
        inside = np.zeros(len(narrowest.values))
        inside[start:stop] = 1.0
        value = float(self.solve([level.values for level in self.levels])[start:stop].sum())
        others = [np.zeros(len(level.values)) for level in self.levels[1:]]
        return value, float(self.solve([narrowest.variances * inside, *others])[start:stop].sum())


def published_ranges(
    publications: Iterable[Counted], column: str, edges: Sequence[Edge], confidence: float
) -> pa.Table:
    """Return the people between every two edges of an ordered column, from its tables at several widths."""
    found = {
        one.tables[DATA].columns[column].join or 1: one
        for one in publications
        if set(one.tables[DATA].columns) == {column} and one.tables[DATA].columns[column].is_ordered
    }
    own = None if 1 not in found else found[1].tables[DATA].laws.estimator
    if own is None or not all(_counts_alike(one, found[1]) for one in found.values()):
        raise _refusal(
            f"No table has the ordered column {column[:60]!r} alone, with noise on every class.",
            "Name a column that was published with `publish.ranges = true`.",
        )
    rates = own.stratum
    if rates.rate is None or rates.low < rates.high:
        raise _refusal(
            "People were sampled with different probabilities, and ranges are estimated where all have one.",
            "Read the table, whose intervals hold for all of them.",
        )
    levels = []
    for times, one in found.items():
        table, margin = one.tables[DATA], one.margin([column], confidence)
        classes = slice(_own_classes(table.columns[column]))
        law = table.shown_by[0]
        levels.append(Level(times, margin.counts[classes].astype(float), law.variances(margin.counts)[classes]))
    domain = found[1].tables[DATA].columns[column]
    return _range_estimates(Tree.of(levels), rates.rate, domain, edges, confidence)


def _counts_alike(one: Counted, other: Counted) -> bool:
    """Return whether two tables count the same people, each with noise on every cell, and show all cells."""
    laws = [law for each in (one, other) for law in each.tables[DATA].shown_by]
    noisy = all(law.exact_from is None and law.shown_from is None for law in laws)
    return noisy and one.facts.sample == other.facts.sample


def _range_estimates(tree: Tree, rate: float, domain: Domain, edges: Sequence[Edge], confidence: float) -> pa.Table:
    """Return the people between every two edges, with intervals, of a sample at this rate."""
    places = _places(domain)
    edges = [_number(edge) if domain.period is None else str(edge) for edge in edges]
    for edge in edges:
        if edge not in places:
            some = ", ".join(map(_text, [*places][:3]))
            raise _refusal(f"No class begins or ends at {_text(edge)[:60]}.", f"Name ends of classes, such as {some}.")
    at = [places[edge] for edge in edges]
    if len(edges) < 2 or any(start >= stop for start, stop in pairwise(at)):
        raise _refusal("Edges of ranges are two or more, and rise.", "Pass for example [0, 1000, 5000].")
    sums = [tree.sum(start, stop) for start, stop in pairwise(at)]
    ends = [range_interval(value, variance, rate, confidence) for value, variance in sums]
    return pa.table(
        {
            "from": [_text(edge) for edge in edges[:-1]],
            "to": [_text(edge) for edge in edges[1:]],
            "estimate": [value / rate for value, _ in sums],
            "low": pa.array([low for low, _ in ends], pa.int64()),
            "high": pa.array([high for _, high in ends], pa.int64()),
        }
    )


def _text(edge: Edge) -> str:
    return f"{edge:.15g}" if isinstance(edge, float) else str(edge)


def _own_classes(domain: Domain) -> int:
    """Return the number of classes without those of other and missing values."""
    return len(domain.labels or ()) - (domain.other is not None) - (domain.missing is not None)


def _places(domain: Domain) -> Mapping[Edge, int]:
    """Return after how many classes every edge lies; a period is called by its label."""
    classes, first = _own_classes(domain), int(domain.bottom)
    if domain.period is not None:
        labels = [*(domain.labels or ())[:classes], domain.to]
        return {label: place for place, label in enumerate(labels) if label is not None}
    if domain.breaks is not None:
        return {round(float(edge), 9): first + place for place, edge in enumerate(domain.breaks)}
    start, width = domain.start, domain.width
    assert isinstance(start, int | float), "intervals have a start"
    assert width is not None, "and a width"
    return {round(float(start + place * width), 9): first + place for place in range(classes - first - domain.top + 1)}


def _number(edge: Edge) -> float:
    """Return the number that a text or a number means; no class begins at what is none."""
    try:
        return round(float(str(edge)), 9)
    except ValueError:
        return math.nan


def _refusal(message: str, remedy: str) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where="ranges", code="reading.ranges")
