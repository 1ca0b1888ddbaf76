"""Points against a noisy grid turned into points, at equal (ε, δ), as one JSON object: python -m bench.points_utility

Both start from the accidents of examples/uk_accidents.toml as a sample at rate 0.1, and promise ε = 1, δ = 1e-6. The
grid is a histogram with discrete Laplace noise on every cell, the empty ones too; sampling allows noise of the larger
loss ln(1 + (e^ε − 1)/rate). Negative counts become 0, and every count becomes points spread evenly over its cell. A
grid has one width, and every width is tried. Errors are means over five releases: of 1,000 random rectangles' counts,
of the mean (in degrees, both axes added), and of the covariance matrix (its entries' errors added).
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from crowdblend.kinds.points.plan import method
from crowdblend.kinds.points.policy import PointsPolicy
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.load import load_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import KeyedSource, ReleaseKey, discrete_laplace, new_key

Points = NDArray[np.float64]
POLICY = Path(__file__).parents[1] / "examples" / "uk_accidents.toml"
RATE, EPSILON, RELEASES, RANGES = 0.1, 1.0, 5, 1000
LOW, HIGH = np.array([-7.68, 48.9]), np.array([2.56, 61.7])
KILOMETRE = np.array([1 / 69, 1 / 111])
WIDTHS = (1, 2, 5, 10, 20, 40)


def grid(points: Points, kilometres: float, rng: np.random.Generator) -> Points:
    """A noisy histogram of square cells, turned into points."""
    width = KILOMETRE * kilometres
    cells = np.ceil((HIGH - LOW) / width).astype(int)
    edges = [LOW[axis] + width[axis] * np.arange(cells[axis] + 1) for axis in range(2)]
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=edges)[0].astype(np.int64)
    loss = math.log(1 + math.expm1(EPSILON) / RATE)
    noisy = counts + discrete_laplace(counts.size, loss, KeyedSource(new_key(), b"grid")).reshape(counts.shape)
    shown = np.argwhere(noisy > 0)
    places = np.repeat(shown, noisy[noisy > 0], axis=0)
    return LOW + width * (places + rng.random(places.shape))


def ranges(rng: np.random.Generator) -> list[tuple[Points, Points]]:
    """Rectangles anywhere in the domain, each side between 2 % and 50 % of it."""
    found = []
    for _ in range(RANGES):
        middle = LOW + (HIGH - LOW) * rng.random(2)
        half = (HIGH - LOW) * np.exp(rng.uniform(math.log(0.02), math.log(0.5), 2)) / 2
        found.append((middle - half, middle + half))
    return found


def counted(points: Points, asked: list[tuple[Points, Points]]) -> Points:
    """How many points are in each rectangle."""
    points = points[np.argsort(points[:, 0])]
    counts = []
    for low, high in asked:
        start, stop = np.searchsorted(points[:, 0], [low[0], high[0]])
        counts.append(np.count_nonzero((points[start:stop, 1] >= low[1]) & (points[start:stop, 1] < high[1])))
    return np.array(counts, np.float64)


def errors(published: Points, truth: Points, asked: list[tuple[Points, Points]]) -> Points:
    """The three errors of one release."""
    counts = np.abs(counted(published, asked) - counted(truth, asked)).mean()
    mean = np.abs(published.mean(axis=0) - truth.mean(axis=0)).sum()
    covariance = np.abs(np.cov(published.T) - np.cov(truth.T)).sum()
    return np.array([counts, mean, covariance])


def main() -> None:
    rng = np.random.default_rng(1)
    policy = load_policy(POLICY).only
    assert isinstance(policy, PointsPolicy)
    rows = duckdb.connect().sql(f"SELECT lng, lat FROM '{policy.data.source}'").fetchnumpy()
    truth, asked = np.column_stack([rows["lng"], rows["lat"]]), ranges(rng)
    made = method(policy).plan()
    sample = count_classes(policy, Everybody()).classes

    def ours() -> Points:
        published = made.mechanisms[0].publish(sample, ReleaseKey(new_key()))
        cells = zip(policy.axes, published.one_by_one().cells, strict=True)
        return np.column_stack([axis.midpoints(places) for (_, axis), places in cells])

    results = {"points": [errors(ours(), truth, asked) for _ in range(RELEASES)]}
    for width in WIDTHS:
        results[f"grid of {width} km"] = [errors(grid(truth, width, rng), truth, asked) for _ in range(RELEASES)]
    names = ("range count", "mean", "covariance")
    told = {
        work: dict(zip(names, (round(float(value), 4) for value in np.mean(found, axis=0)), strict=True))
        for work, found in results.items()
    }
    print(json.dumps({"blocks": policy.blocks.count, "k": made.parameters.k, "errors": told}, indent=2))


if __name__ == "__main__":
    main()
