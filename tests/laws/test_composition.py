"""What may be published together adds up exactly; what may not is refused with its theorem."""

import re
from fractions import Fraction
from functools import reduce
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.errors import DoesNotCompose, InvalidInput, NotApplicable
from crowdblend.trusted.calculus import RULES, Derivation
from crowdblend.trusted.calculus.rules.composition import REFUSALS, compose
from crowdblend.trusted.guarantees.aggregates import IidSampling, RandomSamples
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    Guarantee,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from tests.cases import for_each

ADD, SWAP, HIDE = Relation.ADD_REMOVE, Relation.REPLACE, Relation.CONCEAL
LISTS = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 0.01)), min_size=1, max_size=12)
QUIET = settings(deadline=None, derandomize=True, max_examples=60)


def _differential(epsilon: float, delta: float) -> Differential:
    return Differential(epsilon, delta, ADD)


def _drawn(epsilon: float, delta: float) -> ZeroKnowledge:
    return ZeroKnowledge(epsilon, delta, RandomSamples(3, 1000), HIDE)


def _iid(epsilon: float, delta: float) -> ZeroKnowledge:
    return ZeroKnowledge(epsilon, delta, IidSampling(0.1), ADD)


MAKERS = {
    "composition.differential": _differential,
    "composition.adaptive": _differential,
    "composition.random-samples": _drawn,
    "composition.iid-sampling": _iid,
}


@for_each("rule_id", MAKERS)
@QUIET
@given(losses=LISTS)
def test_sums_are_exact_but_for_one_rounding_outward(rule_id: str, losses: list[tuple[float, float]]) -> None:
    made = RULES[rule_id].conclude(*(MAKERS[rule_id](*loss) for loss in losses))
    for place, value in enumerate((made.epsilon, made.delta)):
        exact = sum(Fraction(loss[place]) for loss in losses)
        assert exact <= Fraction(value) <= exact * (1 + Fraction(1, 2**52)) + Fraction(5e-324)


@for_each("rule_id", MAKERS)
@QUIET
@given(losses=LISTS)
def test_a_list_is_never_worse_than_one_by_one(rule_id: str, losses: list[tuple[float, float]]) -> None:
    premises = [MAKERS[rule_id](*loss) for loss in losses]
    together, folded = RULES[rule_id].conclude(*premises), reduce(RULES[rule_id].conclude, premises)
    for value, step in ((together.epsilon, folded.epsilon), (together.delta, folded.delta)):
        assert value <= step <= value * (1 + 1e-14) + 1e-320
    assert getattr(together, "aggregate", None) == getattr(folded, "aggregate", None)


def test_delta_stops_at_one() -> None:
    assert RULES["composition.differential"].conclude(*[_differential(0.1, 0.4)] * 3).delta == 1.0


@for_each(
    ("rule_id", "first", "second"),
    [
        ("composition.differential", _differential(1, 0), Differential(1, 0, SWAP)),
        ("composition.differential", _differential(1, 0), Differential(1, 0, ADD, people=2)),
        ("composition.random-samples", _drawn(1, 0), _iid(1, 0)),
        ("composition.random-samples", _drawn(1, 0), ZeroKnowledge(1, 0, RandomSamples(3, 999), HIDE)),
        ("composition.random-samples", _drawn(1, 0), ZeroKnowledge(1, 0, RandomSamples(3, 1000), HIDE, people=2)),
        ("composition.iid-sampling", _iid(1, 0), ZeroKnowledge(1, 0, IidSampling(0.2), ADD)),
        ("composition.iid-sampling", _iid(1, 0), ZeroKnowledge(1, 0, IidSampling(0.1), HIDE)),
    ],
)
def test_unlike_promises_do_not_add_up(rule_id: str, first: Guarantee, second: Guarantee) -> None:
    with pytest.raises(NotApplicable, match=r"under one relation|of one population|at one rate"):
        RULES[rule_id].conclude(first, second)


def _crowds(k: int = 20) -> Derivation:
    return RULES["histogram.suppressed"](k=k)


def _under_sampling() -> Derivation:
    return RULES["suppression.exact"](_crowds(), rate=0.1, epsilon=0.5)


def _released() -> Derivation:
    return RULES["dps.differential"](_under_sampling())


def _zero_knowledge() -> Derivation:
    return RULES["dps.zero-knowledge"](_under_sampling())


def _pure() -> Derivation:
    return RULES["outlier.differential"](RULES["outlier.histogram"](epsilon=1.0, transition=3, limit=10, factor=2.0))


DERIVED = {
    CrowdBlending: _crowds,
    DifferentialUnderSampling: _under_sampling,
    Differential: _released,
    ZeroKnowledge: _zero_knowledge,
    OutlierPrivate: lambda: RULES["outlier.histogram"](epsilon=1.0, transition=3, limit=10, factor=2.0),
}
REFUSED = [pair for pair in product(DERIVED, repeat=2) if frozenset(pair) in REFUSALS]


def test_every_refusal_is_tried() -> None:
    assert {frozenset(pair) for pair in REFUSED} == set(REFUSALS)


@for_each(("first", "second"), REFUSED)
def test_promises_that_void_each_other_are_refused_with_the_theorem(
    first: type[Guarantee], second: type[Guarantee]
) -> None:
    refusal = REFUSALS[frozenset({first, second})]
    with pytest.raises(DoesNotCompose, match=re.escape(refusal.reason)) as caught:
        compose(DERIVED[first](), DERIVED[second]())
    message = str(caught.value)
    assert message.startswith(f"{refusal.source}: ")
    assert re.match(r"(CBP|ZKP|LQS|crowdblend)\b", refusal.source)
    assert refusal.remedy in message
    assert "\n" not in message


def test_crowds_do_not_compose_however_many_lie_between() -> None:
    with pytest.raises(DoesNotCompose, match="CBP Proposition 7"):
        compose(_crowds(5), _crowds(6), _crowds(7))
    with pytest.raises(DoesNotCompose, match=r"LQS 2\.6"):
        compose(_released(), _released(), _under_sampling())


@for_each(
    "pair",
    [
        (_zero_knowledge, _crowds),
        (_zero_knowledge, _under_sampling),
        (DERIVED[OutlierPrivate], DERIVED[OutlierPrivate]),
        (DERIVED[OutlierPrivate], _crowds),
    ],
)
def test_what_no_theorem_composes_is_refused(pair: tuple[object, object]) -> None:
    for first, second in (pair, pair[::-1]):
        with pytest.raises(DoesNotCompose, match="No theorem composes"):
            compose(first(), second())  # type: ignore[operator]


@for_each("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_differential_and_zero_knowledge_compose_by_what_both_imply(order: tuple[int, ...]) -> None:
    made = [_zero_knowledge(), _released(), _zero_knowledge()]
    together = compose(*(made[place] for place in order))
    implied = [RULES[name](one) for name, one in zip(
        ("zero-knowledge.differential", "differential.replace", "zero-knowledge.differential"), made, strict=True
    )]  # fmt: skip
    assert together.rule is RULES["composition.differential"]
    assert {step.rule.id for step in together.premises} == {"zero-knowledge.differential", "differential.replace"}
    assert together.conclusion.relation is Relation.REPLACE
    assert together.conclusion == RULES["composition.differential"].conclude(*(one.conclusion for one in implied))


def test_what_is_concealed_in_a_network_is_no_data_replaced() -> None:
    """Nothing converts a differential guarantee of concealed data, so nothing sound follows of the mixture."""
    hidden = Differential(0.5, 0.0, Relation.CONCEAL)
    replaced = Differential(1.0, 0.0, Relation.REPLACE)
    with pytest.raises(NotApplicable):
        RULES["composition.differential"].conclude(hidden, replaced)


def test_a_crowd_next_to_a_leaky_release_is_refused() -> None:
    for order in ((_crowds(), _pure()), (_pure(), _crowds())):
        with pytest.raises(DoesNotCompose, match=r"composition\.blending-differential needs"):
            compose(*order)


def test_compose_adds_like_promises_in_one_step() -> None:
    for make, rule_id in ((_released, "composition.differential"), (_zero_knowledge, "composition.iid-sampling")):
        three = compose(make(), make(), make())
        assert three.rule is RULES[rule_id]
        assert len(three.premises) == 3
        assert three.conclusion == RULES[rule_id].conclude(*[make().conclusion] * 3)


def test_one_release_is_itself_and_none_is_refused() -> None:
    alone = _released()
    assert compose(alone) is alone
    with pytest.raises(InvalidInput, match="at least one release"):
        compose()
