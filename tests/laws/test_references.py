"""No number is below a 60-digit reference, and none is needlessly above it."""

import pytest
from mpmath import mpf

from crowdblend.trusted.calculus import RULES
from tests.cases import for_each

from .examples import CASES, EXAMPLES
from .references import REFERENCES

# Bounds rather than formulas: they lie between the truth and a weaker bound (tests/truth/test_points.py and
# test_profiles.py).
BOUNDS = {"blending.sharp", "points.sampled", "profile.zero-knowledge", "profile.replace"}
SCANNED = {
    "suppression.published",
    "suppression.exact",
    "blending.explicit",
    "blending.closed-form",
    "robust.differential",
    "robust.zero-knowledge",
    "histogram.noisy-sampled",
    "outlier.histogram",
    "recoding.split",
    "programme.parts",
    "strata.between-rates",
    # Convolved, with ends that are cut off.
    "profile.delta",
    "profile.epsilon",
    "profile.group",
}


def test_every_rule_has_a_reference() -> None:
    assert set(REFERENCES) | BOUNDS == set(RULES)


def is_the_reference_rounded_outward(rule_id: str, number: int) -> None:
    example = EXAMPLES[rule_id][number]
    concluded = vars(RULES[rule_id].conclude(*example.premises, **example.parameters))
    expected = REFERENCES[rule_id](*example.premises, **example.parameters)
    assert concluded.keys() == expected.keys()
    slack = mpf("1e-6") if rule_id in SCANNED else mpf("1e-9")
    for name, reference in expected.items():
        if isinstance(reference, mpf):
            # The smallest positive double stands for whatever no double is small enough for.
            assert reference <= mpf(concluded[name]) <= reference * (1 + slack) + mpf("5e-324"), name
        elif name == "uses":  # a profile has its curves in an order of its own
            assert len(concluded[name]) == len(reference)
            assert set(concluded[name]) == set(reference)
        else:
            assert concluded[name] == reference, name


@for_each("rule_id", REFERENCES)
def test_the_first_conclusion_of_every_rule_is_the_reference_rounded_outward(rule_id: str) -> None:
    is_the_reference_rounded_outward(rule_id, 0)


@for_each(("rule_id", "number"), [case for case in CASES if case[0] not in BOUNDS and case[1] > 0], daily=40)
def test_other_conclusions_are_the_reference_rounded_outward(rule_id: str, number: int) -> None:
    is_the_reference_rounded_outward(rule_id, number)


@for_each("number", range(len(EXAMPLES["blending.sharp"])))
def test_the_sharp_bound_lies_between_suppression_and_the_paper(number: int) -> None:
    example = EXAMPLES["blending.sharp"][number]
    sharp = RULES["blending.sharp"].conclude(*example.premises, **example.parameters)
    paper = REFERENCES["blending.explicit"](*example.premises, **example.parameters)
    suppressed = REFERENCES["suppression.exact"](*example.premises, **example.parameters)
    assert suppressed["delta"] <= mpf(sharp.delta) <= paper["delta"]
    assert sharp.epsilon == example.parameters["epsilon"]


@pytest.mark.parametrize("number", range(len(EXAMPLES["profile.zero-knowledge"])))
def test_a_profile_bounds_what_a_simulator_misses_as_it_bounds_a_neighbour(number: int) -> None:
    example = EXAMPLES["profile.zero-knowledge"][number]
    relative = RULES["profile.zero-knowledge"].conclude(*example.premises, **example.parameters)
    plain = RULES["profile.delta"].conclude(*example.premises, **example.parameters)
    assert (relative.epsilon, relative.delta) == (plain.epsilon, plain.delta)


def test_replacing_costs_no_more_than_twice_the_loss_and_no_less_than_one_person() -> None:
    example = EXAMPLES["profile.replace"][0]
    epsilon = example.parameters["epsilon"]
    half = RULES["profile.delta"].conclude(*example.premises, epsilon=epsilon / 2)
    made = RULES["profile.replace"].conclude(*example.premises, **example.parameters)
    assert RULES["profile.delta"].conclude(*example.premises, epsilon=epsilon).delta < made.delta
    assert made.delta <= RULES["differential.replace"].conclude(half).delta
