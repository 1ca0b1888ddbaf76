"""Mistakes around noise: where it is put, how it is drawn, how much of it there is."""

from __future__ import annotations

import copy
import math
import secrets
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from crowdblend.auditing.claim import ExactClaim, SampledClaim
from crowdblend.auditing.exact.distributions import Distribution, beside, epsilon_above, mix, pushed, surely
from crowdblend.auditing.exact.worlds import Database, Mechanism, World, sampled
from crowdblend.auditing.statistical.subject import BlackBox, Neighbours
from crowdblend.auditing.twins.parts import HALF, blurred, close, counted, noisy
from crowdblend.auditing.twins.twin import Twin
from crowdblend.guarantees import OutlierPrivate, Relation
from crowdblend.numerics import balls
from crowdblend.numerics.noise_below_k import spliced_divergence

LETTERS = World(("A", "B"), 3)
NUMBERS = World((0, 1, 2, 3), 3)
CELLS = ("A", "B")
TOP = 5
# Noise of ratio 1/2 costs ln 2 when one person more or less moves one cell by one.
COST = epsilon_above(Fraction(2))


def only_where_somebody_is(table: Database) -> Distribution:
    """Cells in which nobody is are left out, and so is their noise."""
    there = [cell for cell in CELLS if cell in table]
    return pushed(noisy(there, HALF, TOP)(table), lambda counts: tuple(zip(there, counts, strict=True)))


def bins_from_the_data(table: Database) -> Distribution:
    """Two bins between the smallest and the largest value; noisy counts, exact edges."""
    if not table:
        return surely("nothing")
    low, high = min(table), max(table)
    middle = (low + high) / 2
    lower = sum(value <= middle for value in table)
    noisy_counts = beside([blurred(lower, HALF, TOP), blurred(len(table) - lower, HALF, TOP)])
    return pushed(noisy_counts, lambda counts: (low, high, counts))


def fixed_bins(table: Database) -> Distribution:
    """The bins 0–1 and 2–3, decided beforehand."""
    lower = sum(value in (0, 1) for value in table)
    return beside([blurred(lower, HALF, TOP), blurred(len(table) - lower, HALF, TOP)])


def total_beside(table: Database) -> Distribution:
    """Noisy cells, and their exact total beside them."""
    return pushed(noisy(CELLS, HALF, TOP)(table), lambda counts: (counts, len(table)))


def best_of_the_drawn(table: Database) -> Distribution:
    """Two of three candidates are drawn, and the one with more votes is chosen."""
    votes = counted(table)
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    return mix((Fraction(1, 3), surely(max(pair, key=lambda one: (votes[one], one)))) for pair in pairs)


def exponential_choice(table: Database) -> Distribution:
    """A candidate is chosen with a weight that doubles with every vote."""
    weights = {one: Fraction(2) ** counted(table)[one] for one in "ABC"}
    return {one: weight / sum(weights.values()) for one, weight in weights.items()}


# Exact from K on, noisy below, after sampling at one half.
K = 3
RANGE = 8


def _spliced(clamped: bool) -> Mechanism:
    def publish(table: Database) -> Distribution:
        count = len(table)
        if count >= K:
            return surely(min(count, RANGE))
        noisy_count = blurred(count, HALF, RANGE)
        return pushed(noisy_count, lambda value: min(value, K - 1)) if clamped else noisy_count

    return sampled(publish, HALF)


def _spliced_delta(epsilon: float) -> float:
    half = balls.number(0.5)
    return balls.upper_bound(
        lambda: spliced_divergence(balls, K, half, half, balls.exp(balls.number(epsilon)), flagged=False)
    )


def _outlier(fades: bool) -> Mechanism:
    """Noise with ε(size) = ε/(4 − size) below three people and ε from there on, or with ε for everybody."""

    def publish(table: Database) -> Distribution:
        part = 4 - len(table) if fades and len(table) < 3 else 1
        return blurred(len(table), Fraction(1, 2 ** (12 // part)), 20)

    return publish


# ε = 12·ln 2, so that all four noises have whole powers of 2 for ratios.
OUTLIERS = OutlierPrivate(epsilon_above(Fraction(2**12)), 1, 4, 2.0, 1e-6)


# What can only be run. The population is a tuple of counts.


def _geometric_difference(generator: np.random.Generator, size: int = 1) -> list[int]:
    drawn = generator.geometric(1 - math.exp(-1), (2, size))
    return [int(step) for step in drawn[0] - drawn[1]]


def _fresh() -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(128))


def reused_seed(counts: tuple[int, ...]) -> tuple[int, ...]:
    """The generator is seeded with the same number in every release."""
    noise = _geometric_difference(np.random.default_rng(2012), len(counts))
    return tuple(count + step for count, step in zip(counts, noise, strict=True))


def fresh_seed(counts: tuple[int, ...]) -> tuple[int, ...]:
    """The generator is seeded by the operating system."""
    noise = _geometric_difference(_fresh(), len(counts))
    return tuple(count + step for count, step in zip(counts, noise, strict=True))


def forked_noise(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Every worker gets the parent's generator, as a forked process does, and draws the same noise from it."""
    parent = _fresh()
    return tuple(count + _geometric_difference(copy.deepcopy(parent))[0] for count in counts)


def float_laplace(counts: tuple[int, ...]) -> float:
    """Laplace noise in double precision, by inverting its distribution function."""
    uniform = _fresh().random() - 0.5
    noise = -math.copysign(1.0, uniform) * math.log(max(1 - 2 * abs(uniform), 1e-300))
    return counts[0] + noise


def grid_laplace(counts: tuple[int, ...]) -> float:
    """Whole noise, whatever the count."""
    return float(counts[0] + _geometric_difference(_fresh())[0])


def _run(name: str, mechanism: Callable[[tuple[int, ...]], object]) -> SampledClaim:
    pairs = (Neighbours("one person, and nobody", (1, 0), (0, 0)), Neighbours("two, and one", (2, 1), (1, 1)))
    return SampledClaim(BlackBox(name, close(1.0), mechanism, pairs))


def _exact(mechanism: Mechanism, world: World = LETTERS, epsilon: float = COST, delta: float = 0.0) -> ExactClaim:
    return ExactClaim(close(epsilon, delta), mechanism, world)


def _replaced(epsilon: float) -> ExactClaim:
    return ExactClaim(close(epsilon, relation=Relation.REPLACE), noisy(CELLS, HALF, TOP), LETTERS)


_HISTOGRAM = _exact(noisy(CELLS, HALF, TOP))

TWINS = (
    Twin(
        "empty-cells",
        "noise is put on cells only in which somebody is",
        _exact(only_where_somebody_is),
        _HISTOGRAM,
    ),
    Twin(
        "bins-from-data",
        "the edges of the bins are the smallest and largest value",
        _exact(bins_from_the_data, NUMBERS),
        _exact(fixed_bins, NUMBERS),
    ),
    Twin("total-beside", "the exact total stands beside noisy cells", _exact(total_beside), _HISTOGRAM),
    Twin(
        "best-of-drawn",
        "candidates are drawn at random and the best of them is returned exactly",
        _exact(best_of_the_drawn, World(("A", "B", "C"), 3)),
        _exact(exponential_choice, World(("A", "B", "C"), 3)),
    ),
    Twin(
        "one-cell-noise",
        "noise for one changed cell is certified for replaced people, who change two",
        _replaced(COST),
        _replaced(epsilon_above(Fraction(4))),
    ),
    Twin(
        "clamped-noise",
        "noisy cells are cut off below k, which tells them from exact ones",
        _exact(_spliced(True), World(("A",), 8), 0.8, _spliced_delta(0.8)),
        _exact(_spliced(False), World(("A",), 8), 0.8, _spliced_delta(0.8)),
    ),
    Twin(
        "noise-for-the-crowd",
        "outliers get no more noise than people in a crowd",
        ExactClaim(OUTLIERS, _outlier(False), World(("A",), 5)),
        ExactClaim(OUTLIERS, _outlier(True), World(("A",), 5)),
    ),
    Twin(
        "seed-reused",
        "every release draws its noise from the same seed",
        _run("reused seed", reused_seed),
        _run("fresh seed", fresh_seed),
    ),
    Twin(
        "forked-noise",
        "forked processes share one generator and draw the same noise",
        _run("forked noise", forked_noise),
        _run("fresh seed", fresh_seed),
    ),
    Twin(
        "float-laplace",
        "Laplace noise is drawn in floating point",
        _run("Laplace in doubles", float_laplace),
        _run("whole noise", grid_laplace),
    ),
)
