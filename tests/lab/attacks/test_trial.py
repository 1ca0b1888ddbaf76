"""Chances, bounds and verdicts: what counts as a contradiction of a guarantee."""

import math
from fractions import Fraction
from itertools import product

import pytest
from scipy.stats import binom

from crowdblend.errors import InvalidInput
from crowdblend.lab.attacks.trial import DOUBT, Bound, Pair, Trial, exact_chance, observed_chance
from tests.cases import for_each


@for_each(("times", "runs"), [(0, 50), (1, 50), (25, 50), (49, 50), (50, 50), (3, 20_000)])
def test_bounds_are_those_of_clopper_and_pearson(times: int, runs: int) -> None:
    """At the lower end so many or more events have probability DOUBT, at the upper end so many or fewer."""
    chance = observed_chance(times, runs)
    if times:
        assert binom.sf(times - 1, runs, chance.low) == pytest.approx(DOUBT, rel=1e-6)
    else:
        assert chance.low == 0
    if times < runs:
        assert binom.cdf(times, runs, chance.high) == pytest.approx(DOUBT, rel=1e-6)
    else:
        assert chance.high == 1
    assert chance.standard_error == pytest.approx(math.sqrt(times / runs * (1 - times / runs) / runs))


def test_the_four_bounds_of_a_trial_are_wrong_once_in_a_million_times() -> None:
    assert 4 * DOUBT <= 1e-6


@for_each(("times", "runs"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(times: int, runs: int) -> None:
    with pytest.raises(InvalidInput, match="seen between"):
        observed_chance(times, runs)


@for_each("value", [-0.1, 1.5, Fraction(3, 2)])
def test_impossible_chances_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        exact_chance(value)


def excesses(bound: Bound, hit: float, miss: float) -> list[float]:
    """The definition: how far each of four events goes beyond e^ε times its chance in the other world, plus δ."""
    ways = ((hit, miss), (miss, hit), (1 - hit, 1 - miss), (1 - miss, 1 - hit))
    return [one - math.exp(bound.epsilon) * other - bound.delta for one, other in ways]


@for_each("epsilon", [0.0, 0.3, 1.0, 2.5], daily=2)
@for_each("delta", [0.0, 0.01, 0.3])
def test_a_promise_is_broken_exactly_when_its_definition_is(epsilon: float, delta: float) -> None:
    bound, steps, largest = Bound(epsilon, delta), 32, 0.0
    for above, below in product(range(steps + 1), repeat=2):
        hit, miss = above / steps, below / steps
        pair = Pair(exact_chance(Fraction(above, steps)), exact_chance(Fraction(below, steps)))
        broken = bound.surely_broken(pair)
        if not any(abs(excess) < 1e-9 for excess in excesses(bound, hit, miss)):
            assert broken == any(excess > 0 for excess in excesses(bound, hit, miss))
        if not broken:
            largest = max(largest, hit - miss)
            assert hit <= bound.allows(miss) + 1e-12
            assert pair.right <= (math.exp(epsilon) + delta) / (math.exp(epsilon) + 1) + 1e-12
    # The bound is attained, up to the grid.
    assert bound.advantage - 2 / steps <= largest <= bound.advantage + 1e-12


def test_a_tie_is_no_contradiction() -> None:
    bound = Bound(0.0, 0.25)
    assert not bound.surely_broken(Pair(exact_chance(Fraction(3, 4)), exact_chance(Fraction(1, 2))))
    assert bound.surely_broken(Pair(exact_chance(Fraction(3, 4) + Fraction(1, 10**30)), exact_chance(Fraction(1, 2))))


def test_runs_must_exceed_the_promise_by_more_than_chance() -> None:
    bound = Bound(0.0, 0.1)
    trial = Trial("it", True, bound, None, Pair(observed_chance(560, 1_000), observed_chance(440, 1_000)))
    assert trial.best.advantage > bound.delta
    assert not trial.exceeds(bound)
    assert Trial("it", True, bound, None, Pair(observed_chance(7_000, 10_000), observed_chance(4_400, 10_000))).exceeds(
        bound
    )
