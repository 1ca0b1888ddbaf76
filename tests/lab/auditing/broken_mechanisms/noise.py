"""Mistakes around noise: where it is put, how it is drawn, how much of it there is."""

import copy
import math
import secrets
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.exact.definitions import ExactClaim
from crowdblend.lab.auditing.exact.distributions import (
    Database,
    Distribution,
    Mechanism,
    World,
    beside,
    epsilon_above,
    mix,
    poisson_sampled,
    surely,
)
from crowdblend.lab.auditing.statistical.subject import BlackBox, Neighbours
from crowdblend.trusted.guarantees.privacy import OutlierPrivate, Relation
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.noise_below_k import spliced_divergence
from tests.lab.auditing.broken_mechanisms.parts import (
    HALF,
    SampledClaim,
    add,
    blurred,
    close,
    mistaken,
    noisy,
    push_forward,
)

LETTERS = World(("A", "B"), 3)
CELLS = ("A", "B")
TOP = 5
# Noise of ratio 1/2 costs ln 2 when one person more or less moves one cell by one.
LN_2 = epsilon_above(Fraction(2))
HISTOGRAM = noisy(CELLS, HALF, TOP)


@mistaken("empty-cells", "noise is put on cells only in which somebody is", close(LN_2), LETTERS, HISTOGRAM)
def _only_where_somebody_is(table: Database) -> Distribution:
    there = [cell for cell in CELLS if cell in table]
    return push_forward(noisy(there, HALF, TOP)(table), lambda counts: tuple(zip(there, counts, strict=True)))


def _cells_that_occur(reaches: Callable[[int, int], bool]) -> Mechanism:
    """Noise on the cells in which somebody is, of which those are shown whose count and noisy count reach something."""

    def cell(table: Database, label: str) -> Distribution:
        count = table.count(label)
        noisy_count = blurred(count, HALF, TOP) if count else surely(0)
        return push_forward(noisy_count, lambda value: (label, value) if count and reaches(count, int(value)) else None)

    return lambda table: beside(cell(table, label) for label in CELLS)


# Somebody who is alone reaches 3 with probability (1/2)²/(1 + 1/2).
mistaken(
    "threshold-on-the-count",
    "cells are shown whose count, without the noise, reaches the threshold",
    close(LN_2, math.nextafter(1 / 6, 1)),
    LETTERS,
    _cells_that_occur(lambda _, noisy_count: noisy_count >= 3),
)(_cells_that_occur(lambda count, _: count >= 3))


def _two_bins(table: Database, lower: int) -> Distribution:
    return beside([blurred(lower, HALF, TOP), blurred(len(table) - lower, HALF, TOP)])


@mistaken(
    "bins-from-data",
    "the edges of the bins are the smallest and largest value",
    close(LN_2),
    World((0, 1, 2, 3), 3),
    lambda table: _two_bins(table, sum(value in (0, 1) for value in table)),
)
def bins_from_the_data(table: Database) -> Distribution:
    """Two bins have noisy counts and exact edges."""
    if not table:
        return surely("nothing")
    low, high = min(table), max(table)
    lower = sum(value <= (low + high) / 2 for value in table)
    return push_forward(_two_bins(table, lower), lambda counts: (low, high, counts))


@mistaken("total-beside", "the exact total stands beside noisy cells", close(LN_2), LETTERS, HISTOGRAM)
def _total_beside(table: Database) -> Distribution:
    return push_forward(HISTOGRAM(table), lambda counts: (counts, len(table)))


def exponential_choice(table: Database) -> Distribution:
    """Choose a candidate with a weight that doubles with every vote."""
    weights = {one: Fraction(2) ** table.count(one) for one in "ABC"}
    return {one: weight / sum(weights.values()) for one, weight in weights.items()}


@mistaken(
    "best-of-drawn",
    "candidates are drawn at random and the best of them is returned exactly",
    close(LN_2),
    World(("A", "B", "C"), 3),
    exponential_choice,
)
def best_of_the_drawn(table: Database) -> Distribution:
    """Two of three candidates are drawn, and the one with more votes is chosen."""
    pairs = [("A", "B"), ("A", "C"), ("B", "C")]
    return mix((Fraction(1, 3), surely(max(pair, key=lambda one: (table.count(one), one)))) for pair in pairs)


add(
    "one-cell-noise",
    "noise for one changed cell is certified for replaced people, who change two",
    ExactClaim(close(LN_2, relation=Relation.REPLACE), HISTOGRAM, LETTERS),
    ExactClaim(close(epsilon_above(Fraction(4)), relation=Relation.REPLACE), HISTOGRAM, LETTERS),
)

# Exact from K on, noisy below, after sampling at one half.
K = 3
RANGE = 8


def _spliced(clamped: bool) -> Mechanism:
    def publish(table: Database) -> Distribution:
        count = len(table)
        if count >= K:
            return surely(min(count, RANGE))
        noisy_count = blurred(count, HALF, RANGE)
        return push_forward(noisy_count, lambda value: min(value, K - 1)) if clamped else noisy_count

    return poisson_sampled(publish, HALF)


def _spliced_delta(epsilon: float) -> float:
    half = balls.number(0.5)
    return balls.upper_bound(
        lambda: spliced_divergence(balls, K, half, half, balls.exp(balls.number(epsilon)), flagged=False)
    )


mistaken(
    "clamped-noise",
    "noisy cells are cut off below k, which tells them from exact ones",
    close(0.8, _spliced_delta(0.8)),
    World(("A",), 8),
    _spliced(False),
)(_spliced(True))


def _outlier(fades: bool) -> Mechanism:
    """Noise with ε(size) = ε/(4 − size) below three people and ε from there on, or with ε for everybody."""

    def publish(table: Database) -> Distribution:
        part = 4 - len(table) if fades and len(table) < 3 else 1
        return blurred(len(table), Fraction(1, 2 ** (12 // part)), 20)

    return publish


mistaken(
    "noise-for-the-crowd",
    "outliers get no more noise than people in a crowd",
    # ε = 12·ln 2, so that all four noises have whole powers of 2 for ratios.
    OutlierPrivate(epsilon_above(Fraction(2**12)), 1, 4, 2.0, 1e-6),
    World(("A",), 5),
    _outlier(True),
)(_outlier(False))

# What can only be run. The population is a tuple of counts.


def _geometric_difference(generator: np.random.Generator, size: int = 1) -> list[int]:
    drawn = generator.geometric(1 - math.exp(-1), (2, size))
    return [int(step) for step in drawn[0] - drawn[1]]


def _fresh() -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(128))


def _with_noise(counts: tuple[int, ...], generator: np.random.Generator) -> tuple[int, ...]:
    return tuple(map(sum, zip(counts, _geometric_difference(generator, len(counts)), strict=True)))


def _run(name: str, mechanism: Callable[[tuple[int, ...]], object]) -> SampledClaim:
    pairs = (Neighbours("one person, and nobody", (1, 0), (0, 0)), Neighbours("two, and one", (2, 1), (1, 1)))
    return SampledClaim(BlackBox(name, close(1.0), mechanism, pairs))


def fresh_seed(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Seed the generator by the operating system."""
    return _with_noise(counts, _fresh())


def reused_seed(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Seed the generator with the same number in every release."""
    return _with_noise(counts, np.random.default_rng(2012))


def forked_noise(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Give every worker the parent's generator, as a forked process does, so that they draw the same noise."""
    parent = _fresh()
    return tuple(count + _geometric_difference(copy.deepcopy(parent))[0] for count in counts)


def float_laplace(counts: tuple[int, ...]) -> float:
    """Add Laplace noise in double precision, by inverting its distribution function."""
    uniform = _fresh().random() - 0.5
    noise = -math.copysign(1.0, uniform) * math.log(max(1 - 2 * abs(uniform), 1e-300))
    return counts[0] + noise


def grid_laplace(counts: tuple[int, ...]) -> float:
    """Add whole noise, whatever the count."""
    return float(counts[0] + _geometric_difference(_fresh())[0])


for name, mistake, wrong, right in (
    ("seed-reused", "every release draws its noise from the same seed", reused_seed, fresh_seed),
    ("forked-noise", "forked processes share one generator and draw the same noise", forked_noise, fresh_seed),
    ("float-laplace", "Laplace noise is drawn in floating point", float_laplace, grid_laplace),
):
    add(name, mistake, _run(mistake, wrong), _run("fresh noise", right))


BOUND = 2
EDGES = 8


def links_unchecked(graph: Database) -> Distribution:
    """The number of links with noise for people of at most two, whoever comes."""
    return blurred(len(graph), HALF, EDGES)


def links_checked(graph: Database) -> Distribution:
    """The same, and a graph beyond the bound is refused before anything is computed."""
    if len(graph) > BOUND:
        raise InvalidInput(f"Everybody must have at most {BOUND} links. Raise the bound before looking at the data.")
    return links_unchecked(graph)


def _links(mechanism: Mechanism) -> ExactClaim:
    """One person has up to two links, each of which costs ln 2; with more, and with all of them concealed."""
    stars = tuple((tuple(("hub", friend) for friend in range(links)), ()) for links in range(1, 2 * BOUND + 1))
    guarantee = close(epsilon_above(Fraction(2) ** BOUND), relation=Relation.CONCEAL)
    return ExactClaim(guarantee, mechanism, World((), 0), pairs=stars)


add(
    "degree-unchecked",
    "somebody has more links than the bound that the noise was made for",
    _links(links_unchecked),
    _links(links_checked),
)
