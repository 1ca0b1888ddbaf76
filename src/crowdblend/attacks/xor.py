"""Two halves of a secret: each release alone says nothing, both together say everything (LQS 2.2 and 2.6)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import laplace_reaches, published_law
from crowdblend.attacks.ours import Counts, our_table, repeated
from crowdblend.attacks.trial import Bound, Pair, Trial, in_runs
from crowdblend.randomness import SystemSource, discrete_laplace, thin

RATE = 0.5
OTHERS = 100
# LQS 2.6: as many men as women, and an answer to "how many more men than women?" with noise of loss ½.
HALF, NOISE = 5_000, 0.5
WORLDS = ("the person is in the data", "is not")


def launch(runs: int) -> Finding:
    """Both pairs of the paper, and two releases of ours, each from a sample of its own."""
    fair = Pair(computed(Fraction(1, 2)), computed(Fraction(1, 2)))
    nothing = Bound(0.0, 0.0, "telling nothing about this data")
    summed = Bound(NOISE, 0.0, "the sum of both, which is not true")
    ours = our_table(RATE)
    trials = (
        Trial("parity of the sample", False, nothing, fair),
        Trial("parity, flipped if the person is sampled", False, nothing, fair),
        Trial("both of these", False, nothing, *_parities(runs)),
        Trial("more men?, flipped if the person is sampled", False, nothing, majority_alone()),
        Trial("that, and men minus women with noise", False, summed, *_majorities(runs)),
        _ours(runs),
    )
    guarantee = ours.bound()
    chart = chances_chart(trials, guarantee, worlds=WORLDS, title="How often does the attacker's event happen?")
    remark = (
        "The second pair is one release that is private under sampling beside one that is differentially private by "
        "itself. Ours draws a fresh sample for every release, so that one says nothing of the randomness of another."
    )
    return Finding(trials, guarantee, chart, remark)


def _parities(runs: int) -> tuple[Pair, Pair | None]:
    """The two bits differ exactly when the person was sampled."""

    def differ(person: bool) -> int:
        drawn = thin(np.full(runs, OTHERS), RATE, SystemSource())
        sampled = _drawn(runs, person)
        parity = (drawn + sampled) % 2
        flipped = parity ^ sampled
        return int((parity != flipped).sum())

    return Pair(computed(Fraction(RATE)), computed(Fraction(0))), in_runs(runs, differ)


def _drawn(runs: int, person: bool) -> Counts:
    return thin(np.full(runs, int(person)), RATE, SystemSource())


def more_men() -> tuple[NDArray[np.float64], Counts]:
    """The law of men minus women in a sample of as many men as women: Bin(n, ½) − n/2, since n/2 − Bin is Bin again."""
    both = 2 * HALF
    logs = [math.lgamma(both + 1) - math.lgamma(j + 1) - math.lgamma(both - j + 1) for j in range(both + 1)]
    chances = np.exp(np.array(logs) - both * math.log(2))
    return chances / chances.sum(), np.arange(both + 1) - HALF


def majority_alone() -> Pair:
    """The flipped answer alone is "no" as often with the person as without.

    Without: when there are not more men. Sampled, the person is a man more and turns the answer over: "no" when the
    others have at least as many men as women, which is as likely as at most as many.
    """
    tie = Fraction(math.comb(2 * HALF, HALF), 4**HALF)
    no = computed((1 + tie) / 2)
    return Pair(no, no)


def _majorities(runs: int) -> tuple[Pair, Pair | None]:
    """The event: the flipped answer is no, and yet the noisy difference is positive."""
    chances, more = more_men()
    positive = np.array([laplace_reaches(1 - int(value), NOISE) for value in more])
    taller = np.array([laplace_reaches(-int(value), NOISE) for value in more])
    without = float((chances * positive)[more <= 0].sum())
    sampled = float((chances * taller)[more + 1 > 0].sum())
    exact = Pair(computed((1 - RATE) * without + RATE * sampled), computed(without))

    def happen(person: bool) -> int:
        drawn, sampled = thin(np.full(2 * runs, HALF), RATE, SystemSource()), _drawn(runs, person)
        difference = drawn[:runs] + sampled - drawn[runs:]
        answer = (difference > 0) ^ (sampled > 0)
        noisy = difference + discrete_laplace(runs, NOISE, SystemSource())
        return int((~answer & (noisy > 0)).sum())

    return exact, in_runs(runs, happen)


def _ours(runs: int) -> Trial:
    """The parities of two releases, each of a fresh sample, compared as before."""
    ours = our_table(RATE)
    once = ours.bound()
    twice = Bound(2 * once.epsilon, 2 * once.delta, "our certificates, added up")

    def differ(person: bool) -> int:
        first, second = (ours.publish(repeated(runs, OTHERS + person)) for _ in range(2))
        return int(((first - second) % 2).sum())

    exact = Pair(*(computed(_parities_differ(OTHERS + person)) for person in (1, 0)))
    return Trial(f"ours twice, k = {ours.k}, of fresh samples at {RATE:g}", True, twice, exact, in_runs(runs, differ))


def _parities_differ(people: int) -> Fraction:
    ours = our_table(RATE)
    odd = sum(
        (chance for count, chance in published_law(people, Fraction(RATE), ours.k).items() if count % 2), Fraction(0)
    )
    return 2 * odd * (1 - odd)


ATTACK = Attack(
    name="xor",
    title="Two halves of a secret",
    source="LQS 2.2 and 2.6",
    story="Sampling makes the size of the sample uncertain, so whether it is odd is a fair coin that nobody can "
    "predict. One release tells that coin. Another tells it too, but turned over if you were sampled. Each is a "
    "fair coin by itself, whether or not you are in the data, and perfectly private. Put side by side they differ "
    "exactly when you were sampled. The same happens with an answer that is differentially private by itself: it "
    "need not speak of you at all, it is enough that it takes away the uncertainty that protected the other.",
    event="the two answers differ (first pair); no to the flipped question, though more men were counted (second pair)",
    worlds=WORLDS,
    launch=launch,
)
