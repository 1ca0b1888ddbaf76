"""Published points in numbers: mean and quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdblend.frozen import dataclass
from crowdblend.packages import csv, parquet

Values = NDArray[np.float64]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 64
# Rows read at once: few, so that the same memory serves them all.
ROWS = 1 << 16


@dataclass(frozen=True)
class Places:
    """Published points in the order of their file: each place once where several points in a row have it.

    `axes` are the coordinates, an array each, and `counts` says how many points a place has.
    """

    axes: tuple[Values, ...]
    counts: NDArray[np.int64]

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


def read_places(path: Path, axes: list[str]) -> Places:
    """Return the places of a published file."""
    pieces = [runs([np.empty(0)] * len(axes)), *(runs(piece) for piece in _coordinates(path, axes))]
    values = zip(*(places.axes for places in pieces), strict=True)
    return Places(tuple(map(np.concatenate, values)), np.concatenate([places.counts for places in pieces]))


def _coordinates(path: Path, axes: list[str]) -> Iterator[list[Values]]:
    """Yield the coordinates of a published file, an array for each axis, some rows at a time."""
    if path.suffix == ".csv":
        table = csv.read_csv(str(path), convert_options=csv.ConvertOptions(include_columns=axes))
        yield [table.column(name).to_numpy().astype(np.float64) for name in axes]
        return
    with parquet.ParquetFile(path) as opened:
        # Without threads it takes a third of the time: handing over takes longer than reading.
        for batch in opened.iter_batches(ROWS, columns=axes, use_threads=False):
            columns = (batch.column(name).to_numpy(zero_copy_only=False) for name in axes)
            yield [column.astype(np.float64, copy=False) for column in columns]


def runs(values: Sequence[Values]) -> Places:
    """Return the places of points, an array for each axis: those equal to the one before are counted with it."""
    begins = np.zeros(len(values[0]), np.bool_)
    begins[:1] = True
    for column in values:
        begins[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(begins)
    return Places(tuple(column[starts] for column in values), np.diff(starts, append=len(begins)))


def bin_points(
    places: Places, bounds: list[tuple[float, float]]
) -> list[tuple[tuple[float, float, float, float], int]]:
    """Counts of the first two coordinates by bins of the bounds, the empty ones left out."""
    (left, right), (bottom, top) = bounds
    ends = [[left, right], [bottom, top]]
    counts, x, y = np.histogram2d(places.axes[0], places.axes[1], bins=BINS, range=ends, weights=places.counts)
    return [
        ((float(x[i]), float(y[j]), float(x[i + 1]), float(y[j + 1])), int(counts[i, j]))
        for i, j in np.argwhere(counts > 0).tolist()
    ]
