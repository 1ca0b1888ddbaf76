"""Plans are tight, safe, and refuse in one sentence."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend import plan, verify
from crowdblend.errors import Infeasible, InvalidInput, NotApplicable
from crowdblend.methods.planning.bounds import BOUNDS
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from tests.cases import for_each

CASES = [
    {"rate": 0.1, "epsilon": 1.0, "delta": 1e-6},
    {"rate": 0.5, "epsilon": 1.0, "delta": 1e-6},
    {"rate": 0.01, "epsilon": 0.1, "delta": 1e-9},
    {"rate": 0.9, "epsilon": 0.5, "delta": 1e-3},
    {"rate": 0.3, "epsilon": 0.05, "delta": 1e-4},
]
SHARP = [{**case, "blend_epsilon": 0.2} for case in CASES[:3]]
BIASED = [{"low": 0.08, "high": 0.12, "exceptions": 2, "max_rate": 0.12, "epsilon": 1.0, "delta": 1e-6}]


def reaches(given: dict, **change: float) -> bool:
    question = {**given, **change}
    target = question.pop("delta")
    return plan(**question).delta <= target


@for_each("case", CASES + SHARP + BIASED, daily=4)
def test_smallest_k(case: dict) -> None:
    k = plan(**case).k
    assert reaches(case, k=k)
    if case in BIASED and k == case["exceptions"] + 2:
        return
    assert not reaches(case, k=k - 1)


@for_each("case", CASES + SHARP, daily=3)
def test_largest_rate(case: dict) -> None:
    given = {**case, "k": 30}
    del given["rate"]
    rate = plan(**given).rate
    assert reaches(given, rate=rate)
    assert not reaches(given, rate=rate * 1.0001)


@for_each("case", CASES + SHARP + BIASED, daily=4)
def test_smallest_epsilon(case: dict) -> None:
    given = {**case, "k": 120}
    del given["epsilon"]
    epsilon = plan(**given).epsilon
    assert reaches(given, epsilon=epsilon)
    with pytest.raises(NotApplicable) if epsilon * 0.9999 < amplified(given) else no_error():
        assert not reaches(given, epsilon=epsilon * 0.9999)


def amplified(given: dict) -> float:
    """Below this ε the rule for noisy crowds does not apply at all."""
    rate = given.get("rate", given.get("max_rate"))
    return math.log1p(rate * math.expm1(given.get("blend_epsilon", 0.0)))


class no_error:  # noqa: N801  reads like pytest.raises
    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None: ...


def test_loose_enough_targets_need_nothing() -> None:
    assert plan(rate=0.1, k=20, delta=0.05).epsilon == 0.0
    assert plan(rate=0.1, epsilon=1.0, delta=0.1).k == 1


@settings(deadline=None, max_examples=60, derandomize=True)
@given(k=st.integers(2, 5000), rate=st.floats(1e-4, 0.99), epsilon=st.floats(1e-3, 10))
def test_bounds_are_ordered(k: int, rate: float, epsilon: float) -> None:
    bounds = plan(k=k, rate=rate, epsilon=epsilon).bounds
    assert bounds["exact"] <= min(bounds.values())
    assert bounds["exact"] >= rate**k * (1 - 1e-9)
    assert ("published" in bounds) == (epsilon >= -math.log1p(-rate)) or math.isclose(epsilon, -math.log1p(-rate))


BAD = [
    ({"rate": 0.0, "k": 5, "epsilon": 1.0}, "rate"),
    ({"rate": 1.0, "k": 5, "epsilon": 1.0}, "rate"),
    ({"rate": math.nan, "k": 5, "epsilon": 1.0}, "rate"),
    ({"rate": "0.1", "k": 5, "epsilon": 1.0}, "rate"),
    ({"rate": 0.1, "k": 0, "epsilon": 1.0}, "k"),
    ({"rate": 0.1, "k": 2.5, "epsilon": 1.0}, "k"),
    ({"rate": 0.1, "k": True, "epsilon": 1.0}, "k"),
    ({"rate": 0.1, "k": 5, "epsilon": -1.0}, "epsilon"),
    ({"rate": 0.1, "k": 5, "epsilon": math.inf}, "epsilon"),
    ({"rate": 0.1, "k": 5, "delta": 1.5}, "delta"),
    ({"rate": 0.1, "k": 5}, "Leave exactly one unset"),
    ({"rate": 0.1, "k": 5, "epsilon": 1.0, "delta": 0.1}, "Leave exactly one unset"),
    ({"rate": 0.1, "k": 5, "epsilon": 1.0, "low": 0.1}, "low and high"),
    ({"k": 5, "epsilon": 1.0, "low": 0.2, "high": 0.1}, "low"),
    ({"rate": 0.5, "k": 5, "epsilon": 1.0, "low": 0.1, "high": 0.2}, "rate"),
    ({"rate": 0.1, "k": 5, "epsilon": 1.0, "exceptions": 2}, "exceptions"),
    ({"k": 5, "epsilon": 1.0, "low": 0.1, "high": 0.2, "exceptions": 4}, "exceptions"),
    ({"k": 5, "epsilon": 1.0, "low": 0.1, "high": 0.2, "max_rate": 0.5}, "max_rate"),
    ({"k": 5, "epsilon": 1.0, "low": 0.1, "high": 0.2, "max_rate": 0.15, "exceptions": 1}, "max_rate"),
    ({"rate": 0.1, "k": 5, "epsilon": 0.1, "blend_epsilon": 3.0}, "epsilon"),
]


@for_each(("given", "named"), BAD)
def test_bad_input_is_one_sentence(given: dict, named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        plan(**given)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


@for_each(
    "given",
    [
        {"rate": 0.1, "k": 3, "delta": 1e-6},
        {"rate": 0.1, "epsilon": 1.0, "delta": 0.0},
        {"k": 1, "epsilon": 1.0, "delta": 1e-15},
        {"rate": 0.1, "epsilon": 0.0, "delta": 1e-9},
    ],
)
def test_infeasible_targets_say_what_to_do(given: dict) -> None:
    with pytest.raises(Infeasible, match=r"Raise|raise") as refused:
        plan(**given)
    assert refused.value.exit_code == 1


@for_each(
    ("more", "why"),
    [
        ({}, "a class of k = 3 people is published whole more often than that"),
        ({"blend_epsilon": 0.5}, "sampling leaves more than that to crowds of this size"),
    ],
)
def test_no_epsilon_is_enough_for_a_reason(more: dict, why: str) -> None:
    with pytest.raises(Infeasible, match=why):
        plan(rate=0.1, k=3, delta=1e-6, **more)


def test_a_biased_target_does_not_blame_a_class() -> None:
    with pytest.raises(Infeasible, match="exceptions") as refused:
        plan(low=0.08, high=0.12, exceptions=2, k=5, delta=1e-9)
    assert "class of k" not in str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        {"rate": 0.9, "epsilon": 0.01, "delta": 1e-9},
        pytest.param({"k": 10**7, "epsilon": 0.001, "delta": 1e-9}, marks=pytest.mark.slow),
        {"k": 10**9, "rate": 0.1, "delta": 1e-6},
    ],
    ids=str,
)
def test_huge_crowds_are_planned_without_comparison(given: dict) -> None:
    """In a second or two on an idle machine; before, each took minutes."""
    planned = plan(**given)
    assert set(planned.bounds) == {"exact"}
    assert verify(planned.certificate().to_json()).derivations[0].conclusion.delta <= planned.delta


def test_compared_answers_are_on_the_safe_side() -> None:
    for asked in ({"k": 30, "epsilon": 1.0, "delta": 1e-6}, {"k": 30, "rate": 0.3, "delta": 1e-6}):
        bounds = plan(**asked).bounds
        unknown = "rate" if "rate" not in asked else "epsilon"
        for name in ("published", "blending"):
            rule = next(bound.rule for bound in BOUNDS if bound.name == name)
            at = {**asked, unknown: bounds[name]}
            made = rule.conclude(CrowdBlending(30, 0.0), rate=at["rate"], epsilon=at["epsilon"])
            assert made.delta <= 1e-6
