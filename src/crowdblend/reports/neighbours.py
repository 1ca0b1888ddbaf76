"""How far every point is from the nearest other one.

    points ──▶ different places ──▶ buckets of equal sides ──▶ the nearest place in the buckets around

What lies in no bucket around a place is further away than the side of a bucket. So a place is done with when another
one was found within that distance, and for the others the sides are doubled. Loading SciPy's trees takes three times as
long as all of this, so they are for places that are so crowded that buckets do not part them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from crowdblend.reports.places import Values, runs

# Places in a bucket, buckets and axes up to which looking around is quicker than a tree.
_CROWDED = 32
_MOST_BUCKETS = 1 << 22
_MOST_AXES = 2
# So many distances are computed one by one.
_FEW = 1 << 22


def neighbour_distances(points: Values) -> Values:
    """The Euclidean distances of two or more points to the nearest other one, in no particular order."""
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
    from scipy.spatial import cKDTree  # noqa: PLC0415  slow to load

    distances: Values = cKDTree(places).query(some, k=2)[0][:, 1]
    return distances


def _distances(places: Values, others: Values) -> Values:
    squares = np.zeros(len(places))
    for axis in range(places.shape[1]):
        squares += (places[:, axis] - others[..., axis]) ** 2
    return np.sqrt(squares)
