"""Which of the three propositions speaks for a group."""

import math
from contextlib import suppress
from fractions import Fraction

from crowdblend.errors import NotApplicable
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.groups import best_for_group
from crowdblend.trusted.guarantees.aggregates import IidSampling, RandomSamples
from crowdblend.trusted.guarantees.guessing import right_conclusion
from crowdblend.trusted.guarantees.privacy import Relation, ZeroKnowledge
from tests.cases import for_each
from tests.truth.distributions import growth_below

FEW = RandomSamples(10, 1_000_000)
HALF = RandomSamples(500, 1000)


def one(epsilon: float, delta: float = 0.0, drawn: RandomSamples | IidSampling = FEW) -> ZeroKnowledge:
    relation = Relation.CONCEAL if isinstance(drawn, RandomSamples) else Relation.ADD_REMOVE
    return ZeroKnowledge(epsilon, delta, drawn, relation)


@for_each(
    ("promise", "people", "rule"),
    [
        (one(0.5), 50, "zero-knowledge.group-samples"),
        (one(0.01, drawn=HALF), 3, "zero-knowledge.group"),
        (one(1e-6, 1e-7, HALF), 3, "zero-knowledge.group-distance"),
        (one(1.0, drawn=HALF), 5, "zero-knowledge.group"),
    ],
)
def test_each_proposition_has_its_place(promise: ZeroKnowledge, people: int, rule: str) -> None:
    assert best_for_group(promise, people).id == rule
    for name in ("", "-distance", "-samples"):
        with suppress(NotApplicable):
            other = RULES[f"zero-knowledge.group{name}"].conclude(promise, people=people)
            assert right_conclusion(other) >= right_conclusion(RULES[rule].conclude(promise, people=people))


def test_only_what_applies_is_compared() -> None:
    assert best_for_group(one(0.01, 1e-9, HALF), 3).id != "zero-knowledge.group"
    assert best_for_group(one(0.5, drawn=IidSampling(0.1)), 50).id != "zero-knowledge.group-samples"


def test_a_group_promise_is_derived_from_the_one_to_one_person() -> None:
    person = RULES["laplace.everybody"](sensitivity=0.1, scale=1.0, population=50)
    made = best_for_group(person.conclusion, 4)(person, people=4)
    assert made.conclusion.people == 4
    assert made.premises == (person,)


def test_an_even_chance_moves_as_closeness_allows() -> None:
    assert math.isclose(right_conclusion(one(0.1)), 1 - math.exp(-0.1) / 2)
    assert right_conclusion(one(0.0)) == 0.5
    assert right_conclusion(one(0.0, 0.25)) == 0.75
    assert right_conclusion(one(0.0, 1.0)) == right_conclusion(one(1e5)) == 1.0
    for epsilon in (0.01, 0.5, 3.0):
        for delta in (0.0, 1e-3, 0.4):
            promise = one(epsilon, delta)
            p = Fraction(right_conclusion(promise))
            # The pair (p, 1 − p) against even chances is allowed, up to the rounding of p, and hardly more is.
            assert p <= growth_below(epsilon) / 2 + Fraction(delta)
            assert abs(growth_below(epsilon) * (1 - p) + Fraction(delta) - Fraction(1, 2)) < Fraction(1, 10**12)
