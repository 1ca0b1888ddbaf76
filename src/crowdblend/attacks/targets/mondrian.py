"""Mondrian: cut the rows in two again and again, as long as both halves keep k of them."""

from __future__ import annotations

import numpy as np

from crowdblend.attacks.targets.groups import Groups, Rows, generalized


def mondrian(rows: Rows, k: int) -> Groups:
    """The groups that cannot be cut any more. Fewer than k rows are not published at all.

    The column with the widest range is cut first, between the two different values nearest to its middle row.

    >>> mondrian(np.array([[1], [2], [3], [9]]), 2)
    [(((1, 2),), 2), (((3, 9),), 2)]
    """
    return generalized(_cut(rows, k)) if len(rows) >= k else []


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
