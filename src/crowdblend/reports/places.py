"""Published points as a report needs them: read from their file, and counted for a map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crowdblend.packages import csv, parquet
from crowdblend.releases.places import Places, Values

BINS = 64
# Rows read at once: few, so that the same memory serves them all.
ROWS = 1 << 16


def read_places(path: Path, axes: list[str]) -> Places:
    """Return the places of a published file."""
    pieces = [Places.of([np.empty(0)] * len(axes)), *map(Places.of, _coordinates(path, axes))]
    values = zip(*(places.axes for places in pieces), strict=True)
    counts = np.concatenate([places.counts for places in pieces])
    return Places.of(tuple(map(np.concatenate, values)), counts)  # a place may go on in the next piece


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
