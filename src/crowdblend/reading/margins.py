"""Counts by some of the columns, with estimates and intervals for the population.

What is shown of suppressed cells adds up to a lower end, and cells that are not shown add an upper one; a bare sum
of them is never called an estimate. Sums of noisy cells are estimates where every cell is shown, and are refused where
cells were cut off at a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.facts import CellTable
from crowdblend.methods.estimates.cells import combinations, fill, sum_strata
from crowdblend.methods.estimates.estimator import CONFIDENCE, Estimator, Intervals, nothing_known
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.reading.cells import EXACT, Cells, N, Totals
from crowdblend.trusted.machine.packages import compute as pc

Whole = NDArray[np.int64]
# Values, cells, cells that may be noisy, and cells that are called exact.
_SUMS = (N, "cells", "noisy", EXACT)


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
    counter: str = "sampled"
    """What the column of sums is called."""
    exact: NDArray[np.bool_] | None = None
    """Which of the cells are published as exact, where the release says so."""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The labels of every row."""
        return list(zip(*self.labels, strict=True)) if self.labels else [()] * len(self.counts)

    def table(self) -> pa.Table:
        """The margin as a table; blank where nothing can be said. Of open labels unpublished cells are not counted."""
        found = self.intervals
        hidden = {"unpublished_cells": pa.array(self.cells - self.shown)} if self.cells and self.declared else {}
        estimate = pa.array(found.estimate, pa.float64(), mask=np.isnan(found.estimate))
        ends = [pa.array(end, pa.int64(), mask=end < 0) for end in (found.low, found.high)]
        columns = [pa.array(column, pa.string()) for column in self.labels]
        counts = pa.array(self.counts, pa.int64(), mask=self.shown == 0)
        names = [*self.columns, self.counter, *hidden, "estimate", "low", "high"]
        return pa.table([*columns, counts, *hidden.values(), estimate, *ends], names=names)


class MarginCounter:
    """Adds cells up by some columns as pieces come; `margin` then says what the sums stand for.

    Labels are numbered as they are met, those of the domain first. Sums of a domain that is listed are kept in a table;
    others are added up by Arrow, which takes long to load.
    """

    def __init__(self, table: CellTable, cells: Cells, columns: Sequence[str]) -> None:
        self.laws, self.cells, self.asked = table.laws, cells, tuple(columns)
        self.labels = {name: domain.labels for name, domain in table.columns.items()}
        # Strata have rates of their own, so they are added up one by one.
        stratum = self.laws.stratum
        columns = self.asked
        if stratum is not None and stratum in cells.columns and stratum not in columns:
            columns = (*columns, stratum)  # in the last place, from which `_over_strata` takes it
        self.columns = columns
        # People who are counted in several classes may be so in several strata.
        kept = self.asked if self.laws.repeated else columns
        if not self.laws.add_up and any(size != 1 for name, size in self.laws.sizes.items() if name not in kept):
            raise InvalidInput(
                "People are counted in each of their classes, so that sums of cells are not numbers of people."
                if self.laws.repeated
                else "Noisy cells below a threshold are not published, so that sums of the others mean nothing.",
                remedy="Read the cells themselves, without a margin.",
                where="margin",
                code="reading.repeated-people" if self.laws.repeated else "reading.cut-cells",
            )
        self._keys = [cells.keys[cells.columns.index(name)] for name in columns]
        declared = [dict.fromkeys(self.labels.get(name) or ()) for name in columns]
        self._numbers = [{label: at for at, label in enumerate(labels)} for labels in declared]
        closed = all(self.labels.get(name) is not None for name in columns)
        self._declared = tuple(map(len, declared))
        size = combinations(self._declared) if closed else None
        self._listed = self._declared if size is not None and size <= MOST_CELLS_LISTED else None
        rows = 0 if self._listed is None else math.prod(self._listed)
        self._table: Whole = np.zeros((len(_SUMS), rows), np.int64)
        self._others = Totals(self._keys, _SUMS, numbered=True)

    def add(self, piece: pa.Table) -> None:
        """Count these cells as well."""
        values = piece.column(N).to_numpy()
        estimator, stratum = self.laws.estimator, self.laws.stratum
        noisy = np.zeros(len(values), np.bool_) if estimator is None else estimator.noisy_cells(values)
        exact = piece.column(EXACT).to_numpy() if EXACT in piece.column_names else np.zeros(len(values), np.bool_)
        codes = [number_labels(piece.column(key), found) for key, found in zip(self._keys, self._numbers, strict=True)]
        if stratum is not None and stratum in self.columns:
            at = self.columns.index(stratum)
            strata = np.asarray(codes[at])
            for label, own in self.laws.strata.items():
                here = np.flatnonzero(strata == self._numbers[at].get(label, -1))
                noisy[here] = own is not None and own.noisy_cells(values[here])
        sums = [values, np.ones(len(values), np.int64), noisy.astype(np.int64), exact.astype(np.int64)]
        if self._listed is not None:
            if all(len(met) == size for met, size in zip(self._numbers, self._listed, strict=True)):
                self._add_listed(codes, sums)  # no label was met that is not listed
                return
            listed = np.ones(len(values), np.bool_)
            for code, size in zip(codes, self._listed, strict=True):
                listed &= code < size
            self._add_listed([code[listed] for code in codes], [column[listed] for column in sums])
            codes, sums = ([column[~listed] for column in columns] for columns in (codes, sums))
        self._others.add(pa.table([*codes, *sums], names=[*self._keys, *_SUMS]))

    def _add_listed(self, codes: Sequence[Whole], sums: Sequence[Whole]) -> None:
        """Count cells whose labels are those of the domain."""
        if not codes:
            self._table[:, 0] += [column.sum() for column in sums]
            return
        assert self._listed is not None
        rows = np.ravel_multi_index(codes, self._listed)
        for into, column in zip(self._table, sums, strict=True):
            if column.any():
                np.add.at(into, rows, column)

    def margin(self, confidence: float = CONFIDENCE, most: int | None = None) -> Margin:
        """Return every combination of labels, those of the domain first, with its sum and what it stands for.

        With `most`, only those of the largest labels of every column.
        """
        inside, stratum = self.laws.finest_classes(self.columns), self.laws.stratum
        codes, table = self._laid_out()
        names = [np.array([*found, None], object)[:-1] for found in self._numbers]
        if most is not None:
            kept = np.ones(len(table), np.bool_)
            for code, labels in zip(codes[: len(self.asked)], names, strict=False):
                kept &= _among_largest(code, labels, table[:, 0], most)
            codes, table = [code[kept] for code in codes], table[kept]
        counts, shown, noisy = table[:, 0], table[:, 1], table[:, 2]
        exact = table[:, 3] > 0 if self.cells.flagged else None
        declared = all(self.labels.get(name) is not None for name in self.asked)
        known = inside if self.laws.classes_in_a_row == 1 else None  # of points without blocks nobody can count them
        labelled = tuple(tuple(labels[code].tolist()) for code, labels in zip(codes, names, strict=True))
        if stratum is None or stratum not in self.columns:
            intervals = _intervals(self.laws.estimator, counts, shown, noisy, exact, inside, confidence)
            return Margin(self.asked, labelled, counts, shown, known, intervals, declared, self.laws.counter, exact)
        whole = stratum in self.asked
        level = confidence if whole else self.laws.level(confidence)
        of_rows = np.array([*labelled[self.columns.index(stratum)], None], object)[:-1]
        intervals = nothing_known(len(counts))
        for label, estimator in self.laws.strata.items():
            here = np.flatnonzero(of_rows == label)
            fill(intervals, here, _intervals(estimator, counts[here], shown[here], noisy[here], None, inside, level))
        found = Margin(self.columns, labelled, counts, shown, known, intervals, declared, self.laws.counter)
        return found if whole else _over_strata(found, len(self.laws.strata))

    def _laid_out(self) -> tuple[list[Whole], Whole]:
        """Return the numbers of the labels of every row, and its sums: all of the domain, then what else was met."""
        found = self._others.table()
        codes = [found.column(key).to_numpy() for key in self._keys]
        if codes and len(found):
            order = np.lexsort([self._places(at)[code] for at, code in enumerate(codes)][::-1])
            found, codes = found.take(order), [code[order] for code in codes]
        sums = np.column_stack([found.column(name).to_numpy() for name in _SUMS])
        if self._listed is None:
            return codes, sums
        every = np.indices(self._listed, np.int64).reshape(len(self._listed), math.prod(self._listed))
        numbers = [np.concatenate([every[at], code]) for at, code in enumerate(codes)]
        return numbers, np.concatenate([self._table.T, sums])

    def _places(self, at: int) -> Whole:
        """Return the place of every label of a column: those of the domain as declared, then others by their texts."""
        declared = self._declared[at]
        others = pc.array_sort_indices(pa.array(list(self._numbers[at])[declared:], pa.large_string())).to_numpy()
        return np.concatenate([np.arange(declared), declared + np.argsort(others)])


def margin_of(table: CellTable, cells: Cells, columns: Sequence[str], confidence: float) -> Margin:
    """Return the margin of a published file by some of its columns."""
    counter = MarginCounter(table, cells, columns)
    for piece in cells.pieces():
        counter.add(piece)
    return counter.margin(confidence)


def _over_strata(margin: Margin, strata: int) -> Margin:
    """Return the margin without its last column, which is that of the strata."""
    places: dict[tuple[str, ...], int] = {}
    rows = np.array([places.setdefault(row[:-1], len(places)) for row in margin.rows], np.int64)
    counts, shown = (np.zeros(len(places), np.int64) for _ in range(2))
    np.add.at(counts, rows, margin.counts)
    np.add.at(shown, rows, margin.shown)
    labels = tuple(zip(*places, strict=True)) if margin.columns[:-1] else ()
    cells = None if margin.cells is None else margin.cells * strata
    intervals = sum_strata(margin.intervals, rows, len(places))
    return Margin(margin.columns[:-1], labels, counts, shown, cells, intervals, margin.declared, margin.counter)


def _intervals(
    estimator: Estimator | None,
    counts: Whole,
    cells_shown: Whole,
    noisy: Whole,
    exact: NDArray[np.bool_] | None,
    inside: int | None,
    confidence: float,
) -> Intervals:
    if estimator is None:
        return nothing_known(len(counts))
    hidden = None if inside is None else inside - cells_shown
    if inside != 1:
        if not estimator.law.noiseless:
            return estimator.sums(counts, noisy, None, confidence=confidence)
        return estimator.sums(counts, cells_shown, hidden, confidence=confidence)
    there = cells_shown > 0
    found = nothing_known(len(counts))
    if there.any():
        flags = None if exact is None else exact[there]
        some = estimator.cells(counts[there], flags, confidence=confidence)
        found.estimate[there], found.low[there], found.high[there] = some.estimate, some.low, some.high
    if not there.all() and estimator.law.shown_from is not None:
        found.low[~there], found.high[~there] = 0, estimator.largest_unpublished(confidence=confidence)
    return found


def number_labels(column: Any, numbers: dict[str, int]) -> Whole:
    """Return the number of every label; one that was not met before gets the next."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    coded = coded.combine_chunks()
    places = [numbers.setdefault(label, len(numbers)) for label in coded.dictionary.to_pylist()]
    found: Whole = np.array(places, np.int64)[coded.indices.to_numpy()]
    return found


def _among_largest(codes: Whole, labels: NDArray[np.object_], counts: Whole, most: int) -> NDArray[np.bool_]:
    """Return the rows that have one of the labels that count most."""
    totals = np.zeros(len(labels), np.int64)
    np.add.at(totals, codes, counts)
    ranked = sorted(range(len(labels)), key=lambda at: (-totals[at], labels[at]))[:most]
    return np.isin(codes, ranked)
