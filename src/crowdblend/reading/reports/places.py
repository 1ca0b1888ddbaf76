"""Published points as a report needs them: read from their file, and counted for a map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from crowdblend.kinds.shared.places import Places, Values
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.figures.maps import Rectangle
from crowdblend.trusted.machine.packages import pyarrow as pa

# Tiles along an axis, and cells of the grid in which boxes are counted.
MOST_TILES, _FINEST = 64, 1 << 22
Tile = tuple[Rectangle, int]
# Rows read at once: few, so that the same memory serves them all.
ROWS = 1 << 16


def read_places(file: DataFile, axes: list[str]) -> Places:
    """Return the places of a published file."""
    pieces = [Places.of([np.empty(0)] * len(axes)), *map(Places.of, _coordinates(file, axes))]
    values = zip(*(places.axes for places in pieces), strict=True)
    counts = np.concatenate([places.counts for places in pieces])
    return Places.of(tuple(map(np.concatenate, values)), counts)  # a place may go on in the next piece


def _coordinates(file: DataFile, axes: list[str]) -> Iterator[list[Values]]:
    """Yield the coordinates of a published file, an array for each axis, some rows at a time."""
    # Without threads it takes a third of the time: handing over takes longer than reading.
    for batch in file.batches(dict.fromkeys(axes, pa.float64()), rows=ROWS, threads=False):
        columns = (batch.column(name).to_numpy(zero_copy_only=False) for name in axes)
        yield [column.astype(np.float64, copy=False) for column in columns]


def tile_edges(low: float, high: float, step: float, least: float) -> list[float]:
    """Return the edges of tiles between two ends: each tile a whole number of steps wide, and no finer than `least`.

    Tiles that are all alike are preferred where they need not be twice as wide; else the last one ends at `high`.

    >>> tile_edges(0.0, 10.0, 0.5, 1.6)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    >>> tile_edges(0.0, 7.0, 1.0, 4.0)
    [0.0, 7.0]
    """
    total = max(1, round((high - low) / step))
    fewest = min(total, max(1, math.ceil(least / step - 1e-9), math.ceil(total / MOST_TILES)))
    wide = next((steps for steps in range(fewest, 2 * fewest + 1) if total % steps == 0), fewest)
    return [*(low + at * (high - low) / total for at in range(0, total, wide)), high]


def count_in_grid(places: Places, across: list[float], up: list[float]) -> list[Tile]:
    """Return the tiles between these edges of the first two axes that have points, with how many."""
    counts, x, y = np.histogram2d(places.axes[0], places.axes[1], bins=[across, up], weights=places.counts)
    return [
        ((float(x[i]), float(y[j]), float(x[i + 1]), float(y[j + 1])), int(counts[i, j]))
        for i, j in np.argwhere(counts > 0).tolist()
    ]


def count_in_boxes(places: Places, boxes: Sequence[Rectangle]) -> list[Tile] | None:
    """Return the boxes that have points, with how many; None where their edges make too fine a grid to count in."""
    left, bottom, right, top = (np.array(ends) for ends in zip(*boxes, strict=True))
    across, up = np.union1d(left, right), np.union1d(bottom, top)
    if len(across) * len(up) > _FINEST:
        return None
    counts, _, _ = np.histogram2d(places.axes[0], places.axes[1], bins=[across, up], weights=places.counts)
    sums = np.zeros((len(across), len(up)))
    sums[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)
    i, k = np.searchsorted(across, left), np.searchsorted(across, right)
    j, m = np.searchsorted(up, bottom), np.searchsorted(up, top)
    held = sums[k, m] - sums[i, m] - sums[k, j] + sums[i, j]
    return [(box, int(count)) for box, count in zip(boxes, held.tolist(), strict=True) if count > 0]
