"""Published points in numbers: where they are, how many are there, and quantiles of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.code_rows import begins

Values = NDArray[np.float64]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Places:
    """Published points in the order of their file: each place once where several points in a row have it.

    `axes` are the coordinates, an array each, and `counts` says how many points a place has.
    """

    axes: tuple[Values, ...]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, axes: Sequence[Values], counts: NDArray[np.int64] | None = None) -> Places:
        """Return the places of rows, each of them one point unless told how many it stands for."""
        starts = np.flatnonzero(begins(tuple(axes)))
        if counts is None:
            return cls(tuple(column[starts] for column in axes), np.diff(starts, append=len(axes[0])))
        if len(starts) == len(counts):
            return cls(tuple(axes), counts)
        return cls(tuple(column[starts] for column in axes), np.add.reduceat(counts, starts))

    @property
    def points(self) -> int:
        """The number of points."""
        return int(self.counts.sum())

    def quantiles(self, axis: int) -> Values:
        """Return the QUANTILES of a coordinate, linear between the two points on either side."""
        order = np.argsort(self.axes[axis], kind="stable")
        values, ends = self.axes[axis][order], np.cumsum(self.counts[order])
        rank = (ends[-1] - 1) * np.array(QUANTILES)
        below, above = (values[np.searchsorted(ends, end(rank), side="right")] for end in (np.floor, np.ceil))
        between: Values = below + (above - below) * (rank - np.floor(rank))
        return between
