"""Rows of whole numbers as one number each: in mixed radix, column after column, so that their order stays the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.code_rows import runs

Whole = NDArray[np.int64]
# Numbers up to here are counted in an array of their own.
MOST_NUMBERS = 1 << 25


def number_rows(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Whole:
    """Rows as numbers from 0 that are equal exactly when the rows are; each column is below its size."""
    numbers, most = columns[0].astype(np.int64, copy=False), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if most * size > MOST_NUMBERS:  # close the gaps
            numbers = np.unique(numbers, return_inverse=True)[1].ravel()
            column = np.unique(column, return_inverse=True)[1].ravel()  # noqa: PLW2901
            most, size = int(numbers.max(initial=0)) + 1, int(column.max(initial=0)) + 1  # noqa: PLW2901
        numbers = numbers * size + column
        most *= size
    return numbers if most <= MOST_NUMBERS else np.unique(numbers, return_inverse=True)[1].ravel()


class RowCounter:
    """Counts equal rows, which come some at a time.

    Nearly all lie within `bounds`, the least and the largest number of each column. Where that fits into one number it
    is quick, and by counting quicker still.
    """

    def __init__(self, bounds: Sequence[tuple[int, int]], rows: int) -> None:
        self._bounds, self._spans = bounds, [most - least + 1 for least, most in bounds]
        most = math.prod(self._spans)
        self._counts = np.zeros(most, np.int64) if most <= max(MOST_NUMBERS, 4 * rows) else None
        self._numbers = np.empty(0 if self._counts is not None or most >= 2**63 else rows, np.int64)
        self._filled = 0
        self._fits = most < 2**63
        self._others: list[Sequence[Whole]] = []

    def add(self, columns: Sequence[Whole]) -> None:
        """Count some more rows."""
        inside = np.full(len(columns[0]), self._fits)
        for column, (least, most) in zip(columns, self._bounds, strict=True):
            if column.min(initial=least) < least or column.max(initial=most) > most:
                inside &= (least <= column) & (column <= most)
        if not inside.all():
            self._others.append([column[~inside] for column in columns])
            columns = [column[inside] for column in columns]
        numbers = self._number(columns)
        if self._counts is not None:
            np.add.at(self._counts, numbers, 1)
        elif self._fits:
            self._numbers[self._filled : self._filled + len(numbers)] = numbers
            self._filled += len(numbers)

    def counts(self) -> tuple[tuple[Whole, ...], Whole]:
        """Return the different rows in sorted order, column by column, and how often each came."""
        if self._counts is not None:
            numbers = np.flatnonzero(self._counts)
            times = self._counts[numbers]
        else:
            held = self._numbers[: self._filled]
            held.sort()
            (numbers,), times = runs((held,))
        columns = self._columns(numbers)
        if self._others:
            others = tuple(map(np.concatenate, zip(*self._others, strict=True)))
            order = np.lexsort(others[::-1])
            others, of_others = runs(tuple(column[order] for column in others))
            columns = tuple(map(np.concatenate, zip(columns, others, strict=True)))
            order = np.lexsort(columns[::-1])
            columns, times = tuple(column[order] for column in columns), np.concatenate([times, of_others])[order]
        return columns, times

    def _number(self, columns: Sequence[Whole]) -> Whole:
        numbers = columns[0].astype(np.int64)
        numbers -= self._bounds[0][0]
        for column, (least, _), span in zip(columns[1:], self._bounds[1:], self._spans[1:], strict=True):
            numbers *= span
            numbers += column
            numbers -= least
        return numbers

    def _columns(self, numbers: Whole) -> tuple[Whole, ...]:
        columns = []
        for (least, _), span in zip(reversed(self._bounds), reversed(self._spans), strict=True):
            before = numbers // span
            columns.append(numbers - before * span + least)
            numbers = before
        return tuple(columns[::-1])
