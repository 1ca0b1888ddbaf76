"""A survey of a fixed, public number of people: its size minus what is shown is what is hidden."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from crowdblend.lab.attacks.ours import Counts, OurTable, drawn, our_table
from crowdblend.lab.attacks.trial import Attack, Trial, exactly, in_runs, unsafe
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.machine.packages import special

# People asked, of this many people: a small example to check by hand, and the town's survey.
SMALL, TOWN = (4, 20), (10_000, 40_000)
SMALL_K = 3
THIN = 0.5


def trials(runs: int) -> tuple[Trial, ...]:
    """Return surveys of a fixed size, certified as if by coins, and one of them thinned first."""
    return (
        _by_coins(runs, *SMALL, our_table(SMALL[0] / SMALL[1], SMALL_K), "suppressed below"),
        _by_coins(runs, *TOWN, our_table(TOWN[0] / TOWN[1]), "ours with Coins,"),
        _thinned_survey(runs, *TOWN, our_table(THIN)),
    )


def _by_coins(runs: int, respondents: int, people: int, ours: OurTable, how: str) -> Trial:
    """Return the trial on a survey by coins: nobody is missing where all are shown.

    A person who is alone in a class is missing whenever drawn.
    """

    def incomplete(person: bool) -> int:
        return int((ours.sanitize(_surveys(runs, respondents, people, person)).sum(axis=1) < respondents).sum())

    claimed = replace(ours.bound(Relation.REPLACE), source="coins, if everybody had been asked by one")
    name = f"{respondents:,} of {people:,} asked, {how} k = {ours.k}"
    return unsafe(name, exactly(Fraction(respondents, people), Fraction(0)), in_runs(runs, incomplete), claimed)


def _thinned_survey(runs: int, respondents: int, people: int, ours: OurTable) -> Trial:
    """Return the trial on a thinned survey, where the number of people kept is secret.

    Fewer than expected are then shown as often with the person as without.
    """
    expected = respondents * ours.rate

    def fewer(person: bool) -> int:
        return int((ours.publish(_surveys(runs, respondents, people, person)).sum(axis=1) < expected).sum())

    # With this many people the other class is always shown.
    alone, full = (
        float(special.bdtr(np.ceil(expected) - 1, others, ours.rate)) for others in (respondents - 1, respondents)
    )
    chance = respondents / people
    name = f"{respondents:,} of {people:,} asked, ours thinned at {ours.rate:g}, k = {ours.k}"
    exact = exactly(chance * alone + (1 - chance) * full, full)
    return Trial(name, True, ours.bound(Relation.REPLACE), exact, in_runs(runs, fewer))


def _surveys(runs: int, respondents: int, people: int, person: bool) -> Counts:
    """Two classes in every survey: the others', and the one in which the person is alone, if asked."""
    alone = drawn(runs, 1, respondents / people)[:, 0] & person
    return np.column_stack([respondents - alone, alone]).astype(np.int64)


ATTACK = Attack(
    name="fixed-size",
    title="The survey that adds up",
    source="docs/proofs.md#surveys-of-a-fixed-size",
    story="A survey asks a fixed number of people, drawn at random, and says how many. Its table shows crowds of at "
    "least k, and nothing else. But the number of people asked is public: whoever adds up the crowds sees how many "
    "people are hidden. If the others are all alike, the one who is missing is the person who is not, and k does not "
    "matter. The theorems about crowds need a coin for every person, so that nobody knows how many were asked. A "
    "survey that is thinned first, each of its people kept by a secret coin, has such coins, however it was drawn.",
    event="the counts shown add up to fewer people than expected",
    question="How often do the counts add up to fewer?",
    worlds=("the person is alone in a class", "is like everybody else"),
    trials=trials,
    guarantee=lambda: our_table(THIN).bound(Relation.REPLACE),
    remark="One person's data are replaced, because the number of people is fixed. Expected are all who were asked, or "
    "the share of them that thinning keeps. The first two are broken at every k: the chance is that of being asked.",
)
