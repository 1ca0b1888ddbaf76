"""Local recoding: a group of rows shows, in every column, the range of the values that are in it (LQS Algorithm 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""One row per person, one column per attribute."""

Groups = list[tuple[tuple[tuple[int, int], ...], int]]
"""For each group the range of every column, and how many rows show it."""


def generalized(groups: list[Rows]) -> Groups:
    """What is published of the groups, in an order that tells nothing further."""
    return sorted((tuple(map(_range, group.T)), len(group)) for group in groups)


def _range(values: NDArray[np.int64]) -> tuple[int, int]:
    return int(values.min()), int(values.max())
