"""The first point of a table, which no differentially private release can keep and crowd-blending can (CBP Prop. 12).

A line of CELLS places. The table has k + 1 points at its left end and then k at its right end; its neighbour has the
first point at the right end instead. Nobody is an outlier. Anyone who publishes a point for every row, in order, should
at least say on which side the first one is, within a quarter of the line. Proposition 12: an ε-differentially private
release fails on one of the two tables with probability 1/(1 + e^ε) or more, that is nearly every second time.

The experiment keeps rows in their order, as the paper's mechanism does. That is covered by points.noisy, not by
points.sampled; a release sorts its points.
"""

from __future__ import annotations

import math

import numpy as np

from crowdblend.lab.papers.reproduction import Cell, Reproduction
from crowdblend.reading.figures.charts import Axis, Line, LineChart
from crowdblend.trusted.randomness import SeededSource, discrete_laplace, rational
from crowdblend.trusted.randomness.probability import flips

CELLS, BLOCK, RUNS = 256, 4, 20_000
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0)
QUARTER = (CELLS - 1) // 4


def first_point() -> Reproduction:
    """Return how often the first point stays within a quarter of the line, on the worse table."""
    return Reproduction(
        name="cbp-proposition12",
        title="How often the first point is kept within a quarter of the line",
        source="CBP, Propositions 11 and 12",
        columns=(
            "epsilon",
            "differentially private, at most",
            "noise on every point",
            "a coin between the ends",
            "crowd-blending, at least",
            "crowd-blending",
        ),
        rows=tuple(_row(number, epsilon) for number, epsilon in enumerate(EPSILONS)),
        chart=_chart(),
        note=f"{RUNS:,} releases each, from a fixed seed. The line has {CELLS} places, and blocks are {BLOCK} places "
        "wide. Noise on every point hides where on the line it is; the coin publishes one of the two ends and is the "
        "best that differential privacy allows; crowd-blending noise hides where in its block a point is.",
    )


def _row(number: int, epsilon: float) -> tuple[Cell, ...]:
    return (
        epsilon,
        limit(epsilon),
        kept_by_noise(epsilon / (CELLS - 1), 3 * number),
        # A coin that favours the true end by e^ε names it this often.
        float(np.mean(flips(RUNS, rational(limit(epsilon)), SeededSource(3 * number + 1)))),
        guaranteed_epsilon(epsilon),
        kept_by_noise(epsilon / (BLOCK - 1), 3 * number + 2),
    )


def limit(epsilon: float) -> float:
    """Return the limit of every ε-differentially private release on both tables: 1 − 1/(1 + e^ε)."""
    return 1 / (1 + math.exp(-epsilon))


def guaranteed_epsilon(epsilon: float) -> float:
    """CBP Proposition 11 for one point, with the exact tail of the noise that is drawn."""
    a = math.exp(-epsilon / (BLOCK - 1))
    return 1 - 2 * a ** (QUARTER + 1) / (1 + a)


def kept_by_noise(loss: float, seed: int) -> float:
    """Return how often noise of this loss per place moves a point by at most a quarter of the line."""
    moved = discrete_laplace(RUNS, loss, SeededSource(seed))
    return float(np.mean(np.abs(moved) <= QUARTER))


def _chart() -> LineChart:
    curves = {"differentially private, at most": limit, "crowd-blending, at least": guaranteed_epsilon}
    grid = [step / 20 for step in range(1, 61)]
    return LineChart(
        [Line(name, [(epsilon, curve(epsilon)) for epsilon in grid]) for name, curve in curves.items()],
        x=Axis("epsilon"),
        y=Axis("probability that the first point is kept"),
        title="The first point of a table",
    )
