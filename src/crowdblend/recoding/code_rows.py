"""Rows of numbers, column by column: where equal ones begin, how many they are, and equal ones as one."""

from __future__ import annotations

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
