"""Noisy totals and the simulators of their proofs, on every small table with a concealed row.

The noise is added exactly. Where no event can gain by splitting an
outcome, outcomes are grouped (see noise_below_k), so nothing is cut off.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from crowdblend.methods.planning.statistics.accuracy import finite_population
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import NoisyTotals
from tests.cases import for_each

from .distributions import both, divergence, epsilon_above, growth_below, mix
from .noise_below_k import blurred
from .worlds import drawn

N, DAILY = 3, 5
Row = tuple[int, ...]


@dataclass(frozen=True)
class Statistics:
    """Totals by their bins, with the noise of each, and every row that a person can have; the first one is ⊥."""

    bins: tuple[int, ...]
    steps: tuple[int, ...]
    growths: tuple[Fraction, ...]
    rows: tuple[Row, ...]

    def totals(self) -> NoisyTotals:
        parts = [
            RULES["totals.sum"].conclude(grid_steps=steps, noise_epsilon=epsilon_above(growth))
            if bins == 1
            else RULES["totals.histogram"].conclude(bins=bins, noise_epsilon=epsilon_above(growth))
            if steps == 1
            else RULES["totals.groups"].conclude(bins=bins, grid_steps=steps, noise_epsilon=epsilon_above(growth))
            for bins, steps, growth in zip(self.bins, self.steps, self.growths, strict=True)
        ]
        return RULES["totals.together"].conclude(*parts)  # type: ignore[return-value]

    def noisy(self, centres: Sequence[int]) -> dict[Hashable, Fraction]:
        """The totals with exact noise on each."""
        growths = [g for bins, g in zip(self.bins, self.growths, strict=True) for _ in range(bins)]
        tops = [N * s for bins, s in zip(self.bins, self.steps, strict=True) for _ in range(bins)]
        spread: dict[Hashable, Fraction] = {(): Fraction(1)}
        for centre, growth, top in zip(centres, growths, tops, strict=True):
            spread = both(spread, blurred(int(centre), 1 / growth, 0, top))
        return spread


def _sum(steps: int, growth: Fraction) -> Statistics:
    return Statistics((1,), (steps,), (growth,), tuple((value,) for value in range(steps + 1)))


def _bins(bins: int, growth: Fraction) -> Statistics:
    rows = tuple(tuple(int(b == chosen) for b in range(bins)) for chosen in range(bins))
    return Statistics((bins,), (1,), (growth,), ((0,) * bins, *rows))


def _groups(groups: int, steps: int, growth: Fraction) -> Statistics:
    """Averages in groups: a person gives all steps away, some to the lower and the rest to the upper total."""
    rows = []
    for group in range(groups):
        for value in range(steps + 1):
            row = [0] * (2 * groups)
            row[2 * group : 2 * group + 2] = [steps - value, value]
            rows.append(tuple(row))
    return Statistics((2 * groups,), (steps,), (growth,), ((0,) * (2 * groups), *rows))


WORLDS = {
    "yes or no": _sum(1, Fraction(5, 4)),
    "loud yes or no": _sum(1, Fraction(3)),
    "three values": _sum(2, Fraction(6, 5)),
    "two bins": _bins(2, Fraction(5, 4)),
    "three bins": _bins(3, Fraction(4, 3)),
    "an average among some": _groups(1, 2, Fraction(6, 5)),
    "a value and two bins": Statistics(
        (1, 2), (2, 1), (Fraction(7, 6), Fraction(5, 4)), ((0, 0, 0), (0, 1, 0), (1, 0, 1), (2, 1, 0))
    ),
}


def _worlds_and_samples() -> list[tuple[str, int]]:
    return [(name, k) for name in WORLDS for k in range(1, N + 1)]


def everybody(world: Statistics, table: Sequence[Row]) -> dict[Hashable, Fraction]:
    return world.noisy(np.sum(table, axis=0))


def estimate(rows: np.ndarray) -> np.ndarray:
    """n/k times the totals of the rows, rounded half up in whole numbers."""
    k = len(rows)
    return (2 * N * rows.sum(axis=0) + k) // (2 * k)


def simulated(world: Statistics, seen: Sequence[Row], k: int) -> dict[Hashable, Fraction]:
    """What the simulator of everybody's totals publishes when it sees k random rows of this table."""
    return mix(
        (share, world.noisy(estimate(np.array([seen[place] for place in places]))))
        for share, places in drawn(seen, k)  # type: ignore[arg-type]
    )


def sampled(world: Statistics, table: Sequence[Row], k: int) -> dict[Hashable, Fraction]:
    """The release of a sample's totals, and on a table with a concealed row its simulator."""
    return mix(
        (share, world.noisy(np.sum([table[place] for place in places], axis=0)))
        for share, places in drawn(table, k)  # type: ignore[arg-type]
    )


def hidden(table: Sequence[Row], person: int, value: Row) -> tuple[Row, ...]:
    return (*table[:person], value, *table[person + 1 :])


def holds(
    promise: Guarantee, world: Statistics, release: Callable[..., object], simulator: Callable[..., object]
) -> bool:
    """On every table, whoever is concealed: the two are within the promised factor, and nothing is added on top."""
    growth = growth_below(promise.epsilon)  # type: ignore[attr-defined]
    remembered, imagined = cache(release), cache(simulator)
    # Rows are interchangeable, so one order of each table is enough.
    return all(
        divergence(remembered(table), imagined(tuple(sorted(hidden(table, i, world.rows[0])))), growth) == 0  # type: ignore[arg-type]
        for table in combinations_with_replacement(world.rows, N)
        for i in range(N)
    )


@for_each(("name", "k"), _worlds_and_samples(), daily=DAILY)
def test_everybodys_totals_can_be_simulated_from_random_rows(name: str, k: int) -> None:
    world = WORLDS[name]
    promise = RULES["totals.zero-knowledge"].conclude(world.totals(), samples=k, population=N)
    assert holds(promise, world, lambda t: everybody(world, t), lambda seen: simulated(world, seen, k))


@for_each(("name", "k"), _worlds_and_samples(), daily=DAILY)
def test_totals_of_a_sample_can_be_simulated_from_random_rows(name: str, k: int) -> None:
    world = WORLDS[name]
    private = RULES["totals.differential"].conclude(world.totals())
    promise = RULES["sample-and-sanitize.sharp"].conclude(private, samples=k, population=N)
    assert holds(promise, world, lambda t: sampled(world, t, k), lambda seen: sampled(world, seen, k))


@for_each("name", WORLDS, daily=3)
def test_totals_hide_a_replaced_person(name: str) -> None:
    world, k = WORLDS[name], 2
    whole = RULES["totals.differential"].conclude(world.totals())
    drew: Differential = RULES["sample-and-sanitize.differential"].conclude(whole, samples=k, population=N)  # type: ignore[assignment]
    assert drew.relation is Relation.REPLACE
    assert drew.samplings == 1
    growth, release = growth_below(drew.epsilon), cache(lambda t: sampled(world, t, k))
    for table in combinations_with_replacement(world.rows, N):
        for value in world.rows:
            other = tuple(sorted(hidden(table, 0, value)))
            assert divergence(release(table), release(other), growth) == 0


def test_the_simulators_error_is_not_free() -> None:
    """Without the term for estimating from few rows the promise is false, so the term is needed."""
    world = WORLDS["yes or no"]
    honest = RULES["totals.zero-knowledge"].conclude(world.totals(), samples=1, population=N)
    wrong = ZeroKnowledge(world.totals().step, 0.0, honest.aggregate, Relation.CONCEAL)  # type: ignore[attr-defined]
    assert not holds(wrong, world, lambda t: everybody(world, t), lambda seen: simulated(world, seen, 1))


@for_each("n", range(1, 9))
def test_means_of_draws_have_the_moments_that_the_proof_uses(n: int) -> None:
    """Serfling's bound, both for the draw and for what is left: a convex function is largest at values 0 and 1."""
    for k in range(1, n + 1):
        proxy = finite_population(k, n) / (8 * k)
        for ones in range(n + 1):
            law = {
                j: math.comb(ones, j) * math.comb(n - ones, k - j) / math.comb(n, k)
                for j in range(max(0, k - n + ones), min(k, ones) + 1)
            }
            for s in (-30, -8, -2, -0.3, 0.3, 2, 8, 30):
                moment = sum(p * math.exp(s * (j / k - ones / n)) for j, p in law.items())
                assert moment <= math.exp(s * s * proxy) * (1 + 1e-12)
