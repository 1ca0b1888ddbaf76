"""Releases that look safe and are not. Nothing outside the attacks imports them, and nothing certifies them.

Rows published k times over, which is k-anonymous (LQS 3.1), and local recoding: a group of rows shows, in every column,
the range of the values in it (LQS Algorithm 1), with groups made by Mondrian's cuts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""One row per person, one column per attribute."""

Groups = list[tuple[tuple[tuple[int, int], ...], int]]
"""For each group the range of every column, and how many rows show it."""


Row = TypeVar("Row", bound=Hashable)


def duplicate(rows: Sequence[Row], k: int) -> list[Row]:
    """Return every row k times.

    >>> is_k_anonymous(duplicate(["alone"], 3), 3), is_k_anonymous(["alone"], 3)
    (True, False)
    """
    return [row for row in rows for _ in range(k)]


def is_k_anonymous(table: Sequence[Hashable], k: int) -> bool:
    """Return whether every row appears at least k times, which is all that k-anonymity requires."""
    return all(times >= k for times in Counter(table).values())


def mondrian(rows: Rows, k: int) -> Groups:
    """Return the groups that cannot be cut any more. Fewer than k rows are not published at all.

    The column with the widest range is cut first, between the two different values nearest to its middle row.

    >>> mondrian(np.array([[1], [2], [3], [9]]), 2)
    [(((1, 2),), 2), (((3, 9),), 2)]
    """
    groups = _cut(rows, k) if len(rows) >= k else []
    # In an order that tells nothing further.
    return sorted((tuple((int(column.min()), int(column.max())) for column in group.T), len(group)) for group in groups)


def _cut(rows: Rows, k: int) -> list[Rows]:
    if len(rows) >= 2 * k:
        for column in np.argsort(-np.ptp(rows, axis=0), kind="stable"):
            ordered = rows[np.argsort(rows[:, column], kind="stable")]
            steps = np.flatnonzero(np.diff(ordered[:, column])) + 1
            if len(steps):
                middle = int(steps[np.argmin(np.abs(2 * steps - len(rows)))])
                if k <= middle <= len(rows) - k:
                    return [*_cut(ordered[:middle], k), *_cut(ordered[middle:], k)]
    return [rows]
