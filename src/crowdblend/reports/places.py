"""Published points in numbers: mean, covariance, quantiles, centres, neighbours, and how far noise moves them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CENTRES = 5
ROUNDS = 25
# Centres and neighbours are computed from no more points than this, at even steps through the sorted file.
MOST_EXAMINED = 50_000
BINS = 64


@dataclass(frozen=True)
class AxisNoise:
    """How far points may have moved on one axis: on average, as a standard deviation, and the width of their block."""

    mean: float
    deviation: float
    width: float


def read_points(path: Path, axes: list[str]) -> Points:
    """The coordinates of a published file, a row each."""
    if path.suffix == ".csv":
        from pyarrow import csv  # noqa: PLC0415

        table = csv.read_csv(str(path), convert_options=csv.ConvertOptions(include_columns=axes))
    else:
        from pyarrow import parquet  # noqa: PLC0415

        table = parquet.read_table(str(path), columns=axes)
    return np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in axes])


def largest_noise(facts: list[Any], axes: list[str]) -> list[AxisNoise]:
    """The noise of the largest blocks, as the certificate states it for every size of blocks."""
    noise = []
    for name in axes:
        stated = [shape[name] for shape in facts if isinstance(shape, Mapping) and name in shape]
        noise.append(
            AxisNoise(*(max((float(on[key]) for on in stated), default=0.0) for key in ("mean", "deviation", "width")))
        )
    return noise


def mean_error(noise: AxisNoise, points: int, *, folded: bool) -> float:
    """Free noise averages out; points folded into their block lean to its middle, by less than they move."""
    return noise.mean if folded else noise.deviation / math.sqrt(points)


def covariance_error(covariance: Points, noise: list[AxisNoise], points: int, one: int, other: int) -> float:
    """The standard error that free noise adds to a covariance, its own variance being subtracted on the diagonal.

    Of x + e and y + f the error is the mean of xf + ey + ef: of variance (s²·Var x + …)/n for independent noise. On the
    diagonal it is that of 2xe + e² − s², and e² of Laplace noise has the variance 5s⁴.
    """
    a, b = noise[one].deviation ** 2, noise[other].deviation ** 2
    x, y = max(covariance[one, one], 0.0), max(covariance[other, other], 0.0)
    variance = 4 * x * a + 5 * a * a if one == other else x * b + y * a + a * b
    return math.sqrt(variance / points)


def thin_out(points: Points) -> Points:
    """All points, or at most MOST_EXAMINED of them at even steps."""
    step = -(-len(points) // MOST_EXAMINED)
    return points[::step]


def centres(points: Points) -> list[tuple[Points, int]]:
    """k-means centres and how many points are nearest to each, largest first; starts from points far apart."""
    scale = points.std(axis=0)
    scaled = points / np.where(scale > 0, scale, 1)
    chosen = [scaled[len(scaled) // 2]]
    for _ in range(min(CENTRES, len(np.unique(scaled[:1000], axis=0))) - 1):
        distances = np.min([((scaled - centre) ** 2).sum(axis=1) for centre in chosen], axis=0)
        chosen.append(scaled[int(np.argmax(distances))])
    middles = np.array(chosen)
    nearest = np.zeros(len(scaled), np.int64)
    for _ in range(ROUNDS):
        nearest = np.argmin([((scaled - centre) ** 2).sum(axis=1) for centre in middles], axis=0)
        middles = np.array(
            [
                scaled[nearest == at].mean(axis=0) if (nearest == at).any() else centre
                for at, centre in enumerate(middles)
            ]
        )
    sizes = np.bincount(nearest, minlength=len(middles))
    order = np.argsort(-sizes, kind="stable")
    return [(middles[at] * np.where(scale > 0, scale, 1), int(sizes[at])) for at in order]


def neighbour_distances(points: Points) -> Points:
    """The Euclidean distance of each point to the nearest other one."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  slow to load

    distances: Points = cKDTree(points).query(points, k=2)[0][:, 1]
    return distances


def binned(points: Points, bounds: list[tuple[float, float]]) -> list[tuple[tuple[float, float, float, float], int]]:
    """Counts of the first two coordinates by bins of the bounds, the empty ones left out."""
    (left, right), (bottom, top) = bounds
    counts, x, y = np.histogram2d(points[:, 0], points[:, 1], bins=BINS, range=[[left, right], [bottom, top]])
    return [
        ((float(x[i]), float(y[j]), float(x[i + 1]), float(y[j + 1])), int(counts[i, j]))
        for i, j in np.argwhere(counts > 0).tolist()
    ]
