"""Releases that look safe and are not. Nothing outside the attacks imports them, and nothing certifies them.

Rows published k times over, which is k-anonymous (LQS 3.1), and local recoding: a group of rows shows, in every column,
the range of the values in it (LQS Algorithm 1), with groups made by Mondrian's cuts or by clustering.
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


def generalize(groups: list[Rows]) -> Groups:
    """Return the published groups, in an order that tells nothing further."""
    return sorted((tuple(map(_range, group.T)), len(group)) for group in groups)


def _range(values: NDArray[np.int64]) -> tuple[int, int]:
    return int(values.min()), int(values.max())


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
    return generalize(_cut(rows, k)) if len(rows) >= k else []


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


def cluster(rows: Rows, k: int) -> Groups:
    """Return groups of at least k rows that lie close together. Fewer than k rows are not published at all.

    A group starts with the smallest row that is left and takes its k − 1 nearest neighbours; a row that remains joins
    the group whose first row is nearest.

    >>> cluster(np.array([[1], [2], [3], [4], [9]]), 2)
    [(((1, 2),), 2), (((3, 9),), 3)]
    """
    if len(rows) < k:
        return []
    left = rows[np.lexsort(rows.T[::-1])]
    groups: list[Rows] = []
    while len(left) >= k:
        order = np.argsort(_distances(left, left[0]), kind="stable")
        groups.append(left[order[:k]])
        left = left[np.sort(order[k:])]
    starts = np.array([group[0] for group in groups])
    for row in left:
        nearest = int(np.argmin(_distances(starts, row)))
        groups[nearest] = np.vstack([groups[nearest], row])
    return generalize(groups)


def _distances(rows: Rows, row: Rows) -> Rows:
    distances: Rows = np.abs(rows - row).sum(axis=1)
    return distances
