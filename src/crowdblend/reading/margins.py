"""Counts by some of the columns, with estimates and intervals for the population.

What is shown of suppressed cells adds up to a lower end, and cells that are not shown add an upper one; a bare sum
of them is never called an estimate. Sums of noisy cells are estimates where every cell is shown, and are refused where
cells were cut off at a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.estimates import Intervals, domain_sizes, estimator_of, finest_cells, nothing_known
from crowdblend.estimates.estimator import CONFIDENCE, Estimator
from crowdblend.reading.cells import EXACT, Cells, N
from crowdblend.reading.domain import Labels, classes_of, combinations
from crowdblend.recoding.classes import MOST_CELLS_LISTED

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Margin:
    """A table by some columns: labels, sums of what is shown, and in how many shown cells and cells of the domain.

    `declared` says whether its labels are in the order in which they were declared.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: Whole
    shown: Whole
    cells: int | None
    intervals: Intervals
    declared: bool = True

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The labels of every row."""
        return list(zip(*self.labels, strict=True)) if self.labels else [()] * len(self.counts)

    def table(self) -> pa.Table:
        """The margin as a table; blank where nothing can be said."""
        found, unknown = self.intervals, pa.nulls(len(self.counts), pa.int64())
        hidden = unknown if self.cells is None else pa.array(self.cells - self.shown)
        estimate = pa.array(found.estimate, pa.float64(), mask=np.isnan(found.estimate))
        ends = [pa.array(end, pa.int64(), mask=end < 0) for end in (found.low, found.high)]
        columns = [pa.array(column, pa.string()) for column in self.labels]
        counts = pa.array(self.counts, pa.int64(), mask=self.shown == 0)
        names = [*self.columns, "count", "unpublished_cells", "estimate", "low", "high"]
        return pa.table([*columns, counts, hidden, estimate, *ends], names=names)


class MarginCounter:
    """Adds cells up by some columns as pieces come; `margin` then says what the sums stand for."""

    def __init__(
        self, facts: Mapping[str, Any], cells: Cells, columns: Sequence[str], domain: Mapping[str, Labels | None]
    ) -> None:
        self.facts, self.cells, self.columns, self.domain = facts, cells, tuple(columns), domain
        self.estimator = estimator_of(facts)
        if are_cut(facts) and any(size != 1 for name, size in domain_sizes(facts).items() if name not in columns):
            raise InvalidInput(
                "Noisy cells below a threshold are not published, so that sums of the others are too large.",
                remedy="Read the cells themselves, without a margin.",
                where="margin",
                code="reading.cut-cells",
            )
        self._keys = [cells.keys[cells.columns.index(name)] for name in columns]
        self._found: dict[tuple[str, ...], list[int]] = {}
        known = [domain.get(name) for name in columns]
        size = combinations([None if labels is None else len(labels) for labels in known])
        if size is not None and size <= MOST_CELLS_LISTED:
            self._found = {row: [0, 0, 0, 0] for row in product(*(labels or () for labels in known))}

    def add(self, piece: pa.Table) -> None:
        """Count these cells as well."""
        for row, added in _grouped(piece, self._keys, self.estimator):
            entry = self._found.setdefault(row, [0, 0, 0, 0])
            self._found[row] = [before + more for before, more in zip(entry, added, strict=True)]

    def margin(self, confidence: float = CONFIDENCE) -> Margin:
        """Every combination of labels, those of the domain first, with its sum and what it stands for."""
        classes = classes_of(self.facts, self.domain)
        inside = combinations([size for name, size in classes.items() if name not in self.columns])
        table = np.array(list(self._found.values()), np.int64).reshape(len(self._found), 4)
        labels = tuple(zip(*self._found, strict=True)) if self.columns and self._found else ((),) * len(self.columns)
        counts, shown, noisy = table[:, 0], table[:, 1], table[:, 2]
        if inside is not None and finest_cells(self.facts, self.cells.columns) != 1:
            # Rows of this file are sums themselves; each of their finest cells may be noisy.
            noisy = np.full(len(counts), inside)
        exact = table[:, 3] > 0 if self.cells.flagged else None
        intervals = _intervals(self.estimator, counts, shown, noisy, exact, inside, confidence)
        declared = all(self.domain.get(name) is not None for name in self.columns)
        return Margin(self.columns, labels, counts, shown, inside, intervals, declared)


def margin_of(
    facts: Mapping[str, Any],
    cells: Cells,
    columns: Sequence[str],
    domain: Mapping[str, Labels | None],
    confidence: float,
) -> Margin:
    """The margin of a published file by some of its columns."""
    counter = MarginCounter(facts, cells, columns, domain)
    for piece in cells.pieces():
        counter.add(piece)
    return counter.margin(confidence)


def are_cut(facts: Mapping[str, Any]) -> bool:
    """Whether noisy cells below a threshold are left out, so that sums of the others say nothing."""
    return facts.get("show_from") is not None


def _intervals(
    estimator: Estimator | None,
    counts: Whole,
    shown: Whole,
    noisy: Whole,
    exact: NDArray[np.bool_] | None,
    inside: int | None,
    confidence: float,
) -> Intervals:
    if estimator is None:
        return nothing_known(len(counts))
    hidden = None if inside is None else inside - shown
    if inside != 1:
        if not estimator.law.noiseless:
            return estimator.sums(counts, noisy, None, confidence=confidence)
        return estimator.sums(counts, shown, hidden, confidence=confidence)
    there = shown > 0
    found = nothing_known(len(counts))
    if there.any():
        flags = None if exact is None else exact[there]
        some = estimator.cells(counts[there], flags, confidence=confidence)
        found.estimate[there], found.low[there], found.high[there] = some.estimate, some.low, some.high
    if not there.all() and estimator.law.shown_from is not None:
        found.low[~there], found.high[~there] = 0, estimator.unpublished(confidence=confidence)
    return found


def _grouped(
    piece: pa.Table, keys: list[str], estimator: Estimator | None
) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """The sums of one piece by labels: values, cells, cells that may be noisy, and cells that are called exact."""
    values = piece.column(N).to_numpy()
    noisy = np.zeros(len(values), np.bool_) if estimator is None else estimator.noisy_cells(values)
    exact = piece.column(EXACT).to_numpy() if EXACT in piece.column_names else np.zeros(len(values), np.bool_)
    ones = np.ones(len(values), np.int64)
    numbers = {N: values, "cells": ones, "noisy": noisy.astype(np.int64), EXACT: exact.astype(np.int64)}
    if not keys:
        yield (), [int(column.sum()) for column in numbers.values()]
        return
    whole = pa.table([*(piece.column(key) for key in keys), *map(pa.array, numbers.values())], names=[*keys, *numbers])
    grouped = whole.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in numbers])
    columns = [grouped.column(key).to_pylist() for key in keys]
    sums = [grouped.column(f"{name}_sum").to_pylist() for name in numbers]
    for at in range(grouped.num_rows):
        yield tuple(column[at] for column in columns), [column[at] for column in sums]
