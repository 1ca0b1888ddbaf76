"""Clustering: put the k nearest rows into a group until too few are left, and spread those over the groups."""

from __future__ import annotations

import numpy as np

from crowdblend.attacks.targets.groups import Groups, Rows, generalized


def clustered(rows: Rows, k: int) -> Groups:
    """Groups of at least k rows that lie close together. Fewer than k rows are not published at all.

    A group starts with the smallest row that is left and takes its k − 1 nearest neighbours; whoever remains joins the
    group whose first row is nearest.

    >>> clustered(np.array([[1], [2], [3], [4], [9]]), 2)
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
    return generalized(groups)


def _distances(rows: Rows, row: Rows) -> Rows:
    distances: Rows = np.abs(rows - row).sum(axis=1)
    return distances
