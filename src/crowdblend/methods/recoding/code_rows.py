"""Rows of numbers, column by column: where equal ones begin, how many they are, equal ones as one and one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]


def begins(columns: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Return the rows, among sorted rows, that begin a new value."""
    new = np.zeros(len(columns[0]), dtype=np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def runs(columns: tuple[Column, ...]) -> tuple[tuple[Column, ...], Column]:
    """Return the different rows among sorted ones, and how often each occurs."""
    starts = np.flatnonzero(begins(columns))
    return tuple(column[starts] for column in columns), np.diff(starts, append=len(columns[0]))


def slices(rows: int, size: int) -> Iterator[slice]:
    """Yield all rows in pieces of this size; one empty piece where there are none."""
    for start in range(0, max(rows, 1), size):
        yield slice(start, start + size)


def repeat_rows(counts: Column, size: int) -> Iterator[tuple[slice, Column]]:
    """Yield rows that occur several times in pieces of this size, each with its rows and how often it has them."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for rows in slices(total, size):
        start, stop = rows.start, min(rows.stop, total)
        touched = slice(np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop, side="left") + 1)
        begins_at = ends[touched] - counts[touched]
        yield touched, np.minimum(ends[touched], stop) - np.maximum(begins_at, start)


def rolled_up(codes: NDArray[np.int32], counts: Column, sizes: list[int]) -> tuple[NDArray[np.int32], Column]:
    """Equal rows as one, in order, with their counts added up; column i has codes below sizes[i]."""
    keys, below = np.zeros(len(counts), np.int64), 1
    for column, size in enumerate(sizes):
        if below > 2**62 // size:
            known, keys = np.unique(keys, return_inverse=True)
            below = len(known)
        keys = keys * size + codes[:, column]
        below *= size
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    added = np.zeros(len(first), np.int64)
    np.add.at(added, place, counts)
    return codes[first], added
