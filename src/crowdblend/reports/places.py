"""Published points in numbers: mean, covariance, quantiles, centres, neighbours, and how far noise moves them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdblend.frozen import dataclass
from crowdblend.lazy import lazy_imports

with lazy_imports():
    from pyarrow import csv, parquet
    from scipy import spatial

Values = NDArray[np.float64]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CENTRES = 5
ROUNDS = 25
# Centres and neighbours are computed from no more points than this, at even steps through the sorted file.
MOST_EXAMINED = 50_000
BINS = 64
# Places in a bucket, buckets and axes up to which looking around is quicker than a tree.
_CROWDED = 32
_MOST_BUCKETS = 1 << 22
_MOST_AXES = 2
# This many distances are computed one by one.
_FEW = 1 << 22


@dataclass(frozen=True)
class AxisNoise:
    """The movement of points on an axis: the mean, the standard deviation, the block's width."""

    mean: float
    deviation: float
    width: float


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

    def examined_points(self) -> Values:
        """Return a row for each point, or for at most MOST_EXAMINED of them at even steps."""
        step = -(-self.points // MOST_EXAMINED)
        chosen = np.searchsorted(np.cumsum(self.counts), np.arange(0, self.points, max(step, 1)), side="right")
        return np.array([values[chosen] for values in self.axes]).T


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
        for group in range(opened.num_row_groups):
            # Without threads it takes a third of the time: handing over takes longer than reading.
            table = opened.read_row_group(group, columns=axes, use_threads=False)
            yield [table.column(name).to_numpy().astype(np.float64, copy=False) for name in axes]


def runs(values: Sequence[Values]) -> Places:
    """Return the places of points, an array for each axis: those equal to the one before are counted with it."""
    begins = np.zeros(len(values[0]), np.bool_)
    begins[:1] = True
    for column in values:
        begins[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(begins)
    return Places(tuple(column[starts] for column in values), np.diff(starts, append=len(begins)))


def mean_error(noise: AxisNoise, points: int, *, folded: bool) -> float:
    """Free noise averages out; points folded into their block lean to its middle, by less than they move."""
    return noise.mean if folded else noise.deviation / math.sqrt(points)


def covariance_error(covariance: Values, noise: list[AxisNoise], points: int, one: int, other: int) -> float:
    """The standard error that free noise adds to a covariance, its own variance being subtracted on the diagonal.

    Of x + e and y + f the error is the mean of xf + ey + ef: of variance (s²·Var x + …)/n for independent noise. On the
    diagonal it is that of 2xe + e² − s², and e² of Laplace noise has the variance 5s⁴.
    """
    a, b = noise[one].deviation ** 2, noise[other].deviation ** 2
    x, y = max(covariance[one, one], 0.0), max(covariance[other, other], 0.0)
    variance = 4 * x * a + 5 * a * a if one == other else x * b + y * a + a * b
    return math.sqrt(variance / points)


def centres(points: Values) -> list[tuple[Values, int]]:
    """k-means centres and how many points are nearest to each, largest first; starts from points far apart."""
    scale = points.std(axis=0)
    scaled = points / np.where(scale > 0, scale, 1)
    chosen = [scaled[len(scaled) // 2]]
    distances = [_squares(scaled, chosen[0])]
    for _ in range(min(CENTRES, len(np.unique(scaled[:1000], axis=0))) - 1):
        chosen.append(scaled[int(np.argmax(np.min(distances, axis=0)))])
        distances.append(_squares(scaled, chosen[-1]))
    middles, nearest = np.array(chosen), np.argmin(distances, axis=0)
    for _ in range(ROUNDS - 1):
        middles = _middles(scaled, nearest, middles)
        before, nearest = nearest, np.argmin([_squares(scaled, centre) for centre in middles], axis=0)
        if np.array_equal(before, nearest):
            break
    middles = _middles(scaled, nearest, middles)
    sizes = np.bincount(nearest, minlength=len(middles))
    order = np.argsort(-sizes, kind="stable")
    return [(middles[at] * np.where(scale > 0, scale, 1), int(sizes[at])) for at in order]


def _squares(points: Values, centre: Values) -> Values:
    """Return the squared distances of points to a centre."""
    # Axis after axis: a sum over the two or three numbers of each row takes five times as long.
    squares = np.zeros(len(points))
    for axis in range(len(centre)):
        squares += (points[:, axis] - centre[axis]) ** 2
    return squares


def _middles(points: Values, nearest: NDArray[np.int64], middles: Values) -> Values:
    """The mean of the points nearest to each centre; a centre without points stays."""
    sizes = np.bincount(nearest, minlength=len(middles))
    sums = [np.bincount(nearest, points[:, axis], minlength=len(middles)) for axis in range(points.shape[1])]
    return np.where(sizes[:, None] > 0, np.column_stack(sums) / np.maximum(sizes, 1)[:, None], middles)


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


def neighbour_distances(points: Values) -> Values:
    """Return the Euclidean distances of two or more points to the nearest other one, in no particular order.

    Different places are put into buckets of equal sides, and the nearest place is looked for in the buckets around.
    What lies in none of them is further away than the side of a bucket, so a place is done with when another one was
    found within that distance, and for the others the sides are doubled. Loading SciPy's trees takes three times as
    long as all of this, so they are for places that are so crowded that buckets do not part them.
    """
    if not np.isfinite(points).all():
        raise ValueError("a point has no place")
    found = runs(list(points[np.lexsort(points.T[::-1])].T))
    places, nearest = np.column_stack(found.axes), np.where(found.counts > 1, 0.0, np.inf)
    left = np.flatnonzero(found.counts == 1)
    # With it there are about as many buckets as places.
    side = float(np.prod(np.ptp(places, axis=0)) / len(places)) ** (1 / places.shape[1])
    while len(left) * len(places) > _FEW:
        if not _look_around(places, left, side, nearest):
            nearest[left] = _in_tree(places, places[left])
            left = left[:0]
        left = left[nearest[left] > side]
        side *= 2
    for one in left:
        distances = _distances(places, places[one])
        distances[one] = np.inf
        nearest[one] = distances.min()
    return np.repeat(nearest, found.counts)


def _look_around(places: Values, left: NDArray[np.int64], side: float, nearest: Values) -> bool:
    """Note distances to places in the buckets around; False where that takes too long."""
    low, spread = places.min(axis=0), np.ptp(places, axis=0)
    if not 0 < side < np.inf or len(low) > _MOST_AXES or np.prod(spread / side + 3) > _MOST_BUCKETS:
        return False
    # A bucket before the first and one behind the last on every axis: around every place there are some.
    sizes = (spread / side).astype(np.int64) + 3
    weights = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
    buckets = (((places - low) / side).astype(np.int64) + 1) @ weights
    order, begins = np.argsort(buckets), np.append(0, np.cumsum(np.bincount(buckets, minlength=int(np.prod(sizes)))))
    for beside in product((-1, 0, 1), repeat=len(low)):
        looked_at = buckets[left] + np.dot(weights, beside)
        start, stop = begins[looked_at], begins[looked_at + 1]
        if (most := int((stop - start).max())) > _CROWDED:
            return False
        for step in range(most):
            there = np.flatnonzero(start + step < stop)
            one, other = left[there], order[start[there] + step]
            distances = _distances(places[one], places[other])
            distances[one == other] = np.inf
            nearest[one] = np.minimum(nearest[one], distances)
    return True


def _in_tree(places: Values, some: Values) -> Values:
    distances: Values = spatial.cKDTree(places).query(some, k=2)[0][:, 1]
    return distances


def _distances(places: Values, others: Values) -> Values:
    squares = np.zeros(len(places))
    for axis in range(places.shape[1]):
        squares += (places[:, axis] - others[..., axis]) ** 2
    return np.sqrt(squares)
