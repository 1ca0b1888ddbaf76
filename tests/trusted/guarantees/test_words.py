"""Aggregates and guarantees: what they refuse at their edges, and their words."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import (
    Exploration,
    IidSampling,
    Neighbourhood,
    RandomSamples,
    RobustSampling,
    Together,
)
from crowdblend.trusted.guarantees.privacy import (
    CrowdBlending,
    Differential,
    DifferentialUnderSampling,
    OutlierPrivate,
    Relation,
    ZeroKnowledge,
)
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Uses
from crowdblend.trusted.guarantees.programme import (
    PartInCrowds,
    PartOfPoints,
    PartWithNoise,
    PrivatePart,
    StratumOfSample,
)
from crowdblend.trusted.guarantees.utility import BoundedScore, Sampler
from tests.cases import for_each

ONE = RandomSamples(5, 9)
ADD_REMOVE = Relation.ADD_REMOVE


@for_each(
    ("aggregate", "words"),
    [
        (RandomSamples(5, 9), "the data of 5 random people out of 9, you concealed"),
        (IidSampling(0.5), "everybody else sampled once, each with probability 0.5"),
        (IidSampling(0.5, 1), "everybody else sampled once, each with probability 0.5"),
        (IidSampling(0.5, 2), "everybody else sampled 2 times, each with probability 0.5"),
        (
            RobustSampling(0.1, 0.2, 3),
            "everybody else sampled with a probability of 0 or between 0.1 and 0.2, 3 people excepted",
        ),
        (RobustSampling(0.8, 0.8, 0), "everybody else sampled with a probability of either 0 or 0.8"),
        (Exploration(4, 7), "4 random people and up to 7 people reached from each, you concealed"),
        (Neighbourhood(4, 0), "4 random people and everybody within 0 steps of each, you concealed"),
        (Neighbourhood(4, 1), "4 random people and everybody within 1 step of each, you concealed"),
        (Neighbourhood(4, 2), "4 random people and everybody within 2 steps of each, you concealed"),
    ],
)
def test_aggregates_in_words(aggregate: RandomSamples, words: str) -> None:
    assert aggregate.words() == words
    assert Together((ONE, aggregate)).words() == f"{ONE.words()}, and {words}"


def test_aggregates_at_their_edges() -> None:
    assert RandomSamples(9, 9).samples == 9
    assert RobustSampling(0.2, 0.2, 0).low == 0.2
    for refused in (lambda: RandomSamples(10, 9), lambda: RobustSampling(0.3, 0.2, 0)):
        with pytest.raises(InvalidInput):
            refused()


@for_each("parts", [(), (ONE,), (ONE, "two"), ("one", ONE), (ONE, ONE, None)])
def test_together_takes_two_aggregates_or_more(parts: tuple) -> None:
    assert len(Together((ONE, ONE)).aggregates) == 2
    with pytest.raises(InvalidInput, match="at least two"):
        Together(parts)


@for_each(
    "refused",
    [
        lambda: Differential(1.0, 0.0, "add-remove"),
        lambda: ZeroKnowledge(1.0, 0.0, "everybody", Relation.CONCEAL),
        lambda: ZeroKnowledge(1.0, 0.0, ONE, None),
        lambda: DifferentialUnderSampling(0.1, 1.0, 0.0, Relation.REPLACE),
        lambda: Sampler("median", 0.1, 0.1, 1.0, ONE),
    ],
)
def test_guarantees_refuse_what_is_of_another_kind(refused) -> None:
    with pytest.raises(InvalidInput):
        refused()


def test_guarantees_in_words() -> None:
    assert "any 3 people" in Differential(1.0, 0.0, ADD_REMOVE, people=3).words()
    assert "without the person, and vice versa" in Differential(1.0, 0.0, ADD_REMOVE).words()
    alone, together = (ZeroKnowledge(1.0, 0.0, ONE, Relation.CONCEAL, people=people).words() for people in (1, 2))
    assert "from the data of 5 random people out of 9, you concealed" in alone
    assert "about any 2 people together from the release" in together
    assert "from the data of 5 random people out of 9, all of them concealed" in together
    assert "hardly" not in ZeroKnowledge(50.0, 0.0, ONE, Relation.CONCEAL).words()
    outlier = [OutlierPrivate(0.5, 5, 15, 2.0, delta, ADD_REMOVE).words() for delta in (0.0, 1e-6)]
    assert "plus" not in outlier[0]
    assert ", plus 1e-06, and vice versa" in outlier[1]
    assert all("crowds of 10 and more" in words for words in outlier)
    strata = [StratumOfSample(0.1, high, 1.0, 0.0).words() for high in (0.1, 0.2)]
    assert ["of 0.1, whatever" in strata[0], "of 0.1 to 0.2, whatever" in strata[1]] == [True, True]
    scores = [BoundedScore(2.0, monotone).words() for monotone in (True, False)]
    assert ["never lowers" in words for words in scores] == [True, False]


def test_the_strongest_guarantee_comes_first() -> None:
    kinds = (ZeroKnowledge, Differential, DifferentialUnderSampling, OutlierPrivate, CrowdBlending, Sampler)
    assert [kind.strength for kind in kinds] == [4, 3, 2, 2, 1, 0]


def test_defaults_are_one_person_and_no_sampling() -> None:
    made = Differential(1.0, 0.0, ADD_REMOVE)
    assert (made.people, made.samplings) == (1, 0)
    assert ZeroKnowledge(1.0, 0.0, ONE, Relation.CONCEAL).people == 1


def test_a_part_of_a_sample_in_words() -> None:
    words = {
        PartInCrowds(0.25, 16, 0.0): "blends into a crowd of 16",
        PartInCrowds(0.25, 16, 0.5): "blends into a crowd of 16 up to a factor of e^0.5",
        PartWithNoise(0.25, 6, 1.5, False): "is in a count that is 6 or more, or hidden by noise of loss 1.5",
        PartOfPoints(
            0.25, 6, 1.5
        ): "is a point among 6 or more that noise moved, or not shown; the noise has a loss of 1.5",
        PrivatePart(0.25, (Uses(ClosenessCurve(1.0, 0.0), 1),)): "is hidden by a mechanism whose divergence is known "
        "for every ε",
    }
    for part, hidden in words.items():
        assert part.words() == f"each person of a random part of the sample, a share of 0.25, {hidden}"
        assert part.strength == 0
