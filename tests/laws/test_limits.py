"""Limits that every reader can check in the head."""

import math
from dataclasses import replace

import pytest
from flint import arb

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.rules.queries import noise_bound
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.guarantees.utility import AVERAGE, Sampler
from tests.cases import for_each

ADD, SWAP, HIDE = Relation.ADD_REMOVE, Relation.REPLACE, Relation.CONCEAL
PURE = ZeroKnowledge(0.3, 0.0, RandomSamples(5, 1000), HIDE)


@for_each("rate", [1e-3, 1e-9, 1e-300])
def test_a_vanishing_rate_leaves_nothing_to_learn(rate: float) -> None:
    made = RULES["sampling.amplification"].conclude(Differential(1.0, 0.5, ADD), rate=rate)
    assert 0 < made.epsilon <= 1.72 * rate
    assert 0 < made.delta <= rate / 2 * (1 + 1e-15)
    lower = RULES["dps.lower-rate"].conclude(DifferentialUnderSampling(0.5, 1.0, 0.25), rate=rate)
    assert 0 < lower.epsilon <= 3.44 * rate
    assert 0 < lower.delta <= rate / 2 * (1 + 1e-15)


def test_the_same_rate_changes_nothing() -> None:
    premise = DifferentialUnderSampling(0.5, 1.0, 0.25)
    made = RULES["dps.lower-rate"].conclude(premise, rate=0.5)
    assert made.delta == premise.delta
    assert premise.epsilon <= made.epsilon <= math.nextafter(premise.epsilon, 2)


@for_each("rate", [1e-6, 0.1, 0.3, 0.999])
@for_each("epsilon", [0.0, 0.5, 20.0])
def test_a_crowd_of_one_promises_the_rate(rate: float, epsilon: float) -> None:
    assert RULES["suppression.exact"].conclude(CrowdBlending(1, 0.0), rate=rate, epsilon=epsilon).delta == rate
    assert RULES["blending.sharp"].conclude(CrowdBlending(1, 0.0), rate=rate, epsilon=epsilon).delta == rate


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_a_crowd_of_one_promises_the_rate_in_the_papers_argument_too(rate: float) -> None:
    assert RULES["blending.explicit"].conclude(CrowdBlending(1, 0.0), rate=rate, epsilon=1.0).delta == rate


@for_each("k", [1, 2, 7, 40])
@for_each("rate", [0.01, 0.5])
def test_delta_is_at_least_the_chance_that_the_whole_crowd_is_sampled(k: int, rate: float) -> None:
    """And tends to it: with an ε beyond all bounds only the impossible-without-you event is left."""
    made = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=500.0)
    assert rate**k * (1 - 1e-12) <= made.delta <= rate**k * (1 + 1e-12)


def test_suppression_at_epsilon_zero_is_total_variation() -> None:
    """k = 2, ε = 0: the worst class gives β·max P[Bin(n, β) = 1], here 0.5·0.5."""
    made = RULES["suppression.exact"].conclude(CrowdBlending(2, 0.0), rate=0.5, epsilon=0.0)
    assert made.delta == 0.25


def test_perfect_promises_stay_perfect() -> None:
    nothing = Differential(0.0, 0.0, ADD)
    assert RULES["differential.group"].conclude(nothing, people=9) == Differential(0.0, 0.0, ADD, 9)
    assert RULES["differential.replace"].conclude(nothing) == Differential(0.0, 0.0, SWAP)
    sampled = RULES["sampling.amplification"].conclude(nothing, rate=0.3)
    assert (sampled.epsilon, sampled.delta) == (0.0, 0.0)
    both = RULES["composition.differential"].conclude(nothing, nothing)
    assert both == nothing


@pytest.mark.parametrize("rule_id", ["zero-knowledge.group", "zero-knowledge.group-samples"])
def test_a_group_of_one_is_one_person(rule_id: str) -> None:
    assert RULES[rule_id].conclude(PURE, people=1) == PURE


@for_each("relation", [ADD, SWAP, HIDE])
def test_a_differential_group_of_one_is_one_person(relation: Relation) -> None:
    premise = Differential(0.3, 1e-6, relation)
    made = RULES["differential.group"].conclude(premise, people=1)
    assert (made.epsilon, made.relation, made.people) == (0.3, relation, 1)
    assert premise.delta <= made.delta <= math.nextafter(premise.delta, 1)


@pytest.mark.parametrize("form", ["plain", "sharp"])
def test_drawing_everybody_amplifies_nothing(form: str) -> None:
    made = RULES[f"sample-and-sanitize.{form}"].conclude(Differential(0.5, 1e-6, SWAP), samples=40, population=40)
    assert 0.5 <= made.epsilon <= math.nextafter(0.5, 1)
    assert made.delta == 1e-6


def test_drawing_nobody_reveals_nothing() -> None:
    for form in ("doubled", "linear", "sharp"):
        made = RULES[f"sample-and-sanitize.{form}"].conclude(Differential(0.5, 1e-6, SWAP), samples=0, population=40)
        assert (made.epsilon, made.delta) == (0.0, 0.0)


def test_a_sampler_that_always_fails_costs_the_whole_range() -> None:
    always_wrong = Sampler(AVERAGE, 0.1, 1.0, 6.0, RandomSamples(1, 9))
    made = RULES["laplace.sample-complexity"].conclude(always_wrong, sensitivity=0.0, scale=0.5)
    assert 12 <= made.epsilon <= math.nextafter(12, 13)


@for_each("delta", [0.4, 0.9, 1.0])
def test_no_delta_of_two_tables_close_to_one_simulator_is_above_one(delta: float) -> None:
    made = RULES["zero-knowledge.differential"].conclude(replace(PURE, epsilon=0.5, delta=delta))
    assert made == Differential(1.0, 1.0, SWAP, samplings=1)


def test_noise_that_may_reach_a_whole_number_counts_as_beyond_it() -> None:
    """P[|Y| ≥ t] = 2a^t/(1+a) is the failure itself at t = 5: no precision tells whether 5 may come."""
    t, epsilon = 5, 0.7
    a = (-arb(epsilon)).exp()
    failure = 2 * a**t / (1 + a)
    assert failure.rad() > 0
    assert noise_bound(1, 1, epsilon, failure) == t


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_certain_choice_is_the_chosen_delta(weight: float) -> None:
    first, second = DifferentialUnderSampling(0.5, 1.0, 1e-3), DifferentialUnderSampling(0.5, 1.0, 1e-6)
    made = RULES["dps.random-choice"].conclude(first, second, weight=weight)
    assert made.delta == (first if weight else second).delta


def test_nearly_equal_noise_in_every_bin_needs_no_delta() -> None:
    """t = K − 1 leaves one step between almost equal scales, whose excess no double can show."""
    made = RULES["outlier.histogram"].conclude(epsilon=0.5, transition=10**5 - 1, limit=10**5, factor=2.0)
    assert made.delta <= 5e-324


@for_each("rule_id", ["suppression.exact", "suppression.published", "blending.explicit", "blending.sharp"])
def test_no_delta_exceeds_the_rate_or_the_exact_one(rule_id: str) -> None:
    for k, rate, epsilon in [(3, 0.2, 0.3), (10, 0.4, 0.6), (30, 0.05, 0.2)]:
        made = RULES[rule_id].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
        exact = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
        assert exact.delta <= made.delta
        assert made.delta <= rate or rule_id == "suppression.published"
