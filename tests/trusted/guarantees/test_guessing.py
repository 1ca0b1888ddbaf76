"""The chance of a right guess: never below the truth, reached by a mechanism, and about δ too."""

from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from crowdblend.trusted.guarantees.aggregates import IidSampling
from crowdblend.trusted.guarantees.guessing import (
    guess_sentence,
    lead,
    percent,
    right_conclusion,
    right_guess,
    total_sentence,
)
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Relation, ZeroKnowledge
from tests.cases import for_each

EPSILONS = st.floats(min_value=0, max_value=1e4)
DELTAS = st.floats(min_value=0, max_value=1)


def differential(epsilon: float, delta: float, relation: Relation = Relation.ADD_REMOVE) -> Differential:
    return Differential(epsilon, delta, relation)


@given(EPSILONS, DELTAS)
def test_a_mechanism_reaches_it_and_it_is_rounded_up(epsilon: float, delta: float) -> None:
    """Say the truth with probability δ, and else answer with randomized response of loss ε."""
    with localcontext(prec=60):
        fall = (-Decimal(epsilon)).exp()
        leaked = Decimal(delta) + (1 - Decimal(delta)) / (1 + fall)
        stated = Decimal(right_guess(differential(epsilon, delta)))
    assert leaked <= stated <= min(leaked * Decimal(1 + 1e-15), 1) or stated == 1


@given(EPSILONS, DELTAS)
def test_a_conclusion_is_rounded_up(epsilon: float, delta: float) -> None:
    stated = right_conclusion(ZeroKnowledge(epsilon, delta, IidSampling(0.5), Relation.ADD_REMOVE))
    with localcontext(prec=60):
        true = min(1 - (Decimal("0.5") - Decimal(delta)) * (-Decimal(epsilon)).exp(), Decimal(1))
    assert true <= Decimal(stated) <= true * Decimal(1 + 1e-15)


@for_each(
    ("epsilon", "delta", "chance"),
    [(0, 0, "50 %"), (1, 0, "73.2 %"), (0, 0.0099, "50.5 %"), (1, 0.1, "75.8 %"), (0, 1, "100 %"), (1e6, 0, "100 %")],
)
def test_examples(epsilon: float, delta: float, chance: str) -> None:
    sentence = guess_sentence(differential(epsilon, delta))
    assert sentence is not None
    assert f"at most {chance} of the time" in sentence


def test_what_is_less_than_certain_is_not_said_to_be_certain() -> None:
    assert [percent(chance) for chance in (0.9988, 0.999988, 1 - 1e-9)] == ["99.9 %", "99.999 %", "100 %"]


def test_releases_lead_with_the_tighter_total_and_say_when_it_does_not_hold() -> None:
    added = differential(9.0, 9e-6)
    said = total_sentence(added, differential(1.79, 9e-6)) or ""
    assert "right at most 85.7 % of the time; a coin toss is right 50 %. Where a release was planned by looking" in said
    assert said.endswith("at most 99.99 % of the time.")
    replaced = Differential(1.79, 9e-6, Relation.REPLACE)
    for composed in (None, differential(9.5, 9e-6), replaced):  # no total, no tighter one, one of another question
        assert total_sentence(added, composed) == guess_sentence(added, releases=None)


@given(st.floats(min_value=0.001, max_value=1))
def test_percent_is_rounded_up(probability: float) -> None:
    assert Decimal(percent(probability).removesuffix(" %")) >= Decimal(probability) * 100


def test_other_guarantees_have_no_such_sentence() -> None:
    assert guess_sentence(CrowdBlending(20, 0.0)) is None
    assert guess_sentence(Differential(1.0, 0.0, Relation.ADD_REMOVE, people=2)) is None


def test_the_sentence_names_the_releases_that_it_is_about() -> None:
    for guarantee in (differential(1.0, 0.0), ZeroKnowledge(1.0, 0.0, IidSampling(0.5), Relation.ADD_REMOVE)):
        sentences = [guess_sentence(guarantee, releases) or "" for releases in (1, 10, None)]
        about = ("this release", "all 10 releases of the series", "everything published about you")
        for sentence, own in zip(sentences, about, strict=True):
            assert sentence.startswith(f"Someone who studies {own}")


def test_a_part_of_the_budget_is_not_said_to_be_that_of_a_series() -> None:
    """One of ten tables with a threshold has a tenth of epsilon: all of them lose more."""
    said = lead([differential(0.1, 1e-7)], 10) or ""
    assert said.startswith("Someone who studies this release can guess")
    assert said.endswith("This is one of 10 releases that were planned under one budget.")
    assert "at most 73.2 % of the time" in (lead([differential(0.1, 0.0)], 10) or "")


def test_every_relation_asks_a_question() -> None:
    sentences = {guess_sentence(differential(1.0, 0.0, relation)) for relation in Relation}
    assert len(sentences) == len(Relation)
    assert None not in sentences
