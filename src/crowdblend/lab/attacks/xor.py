"""Two halves of a secret: each release alone says nothing, both together say everything (LQS 2.2 and 2.6)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from crowdblend.lab.attacks.ours import Counts, laplace_reaches, our_table, published_law, repeat_sizes
from crowdblend.lab.attacks.trial import Attack, Bound, Pair, Trial, exactly, in_runs, unsafe
from crowdblend.trusted.randomness import SystemSource, discrete_laplace, thin

RATE = 0.5
OTHERS = 100
# LQS 2.6: as many men as women, and an answer to "how many more men than women?" with noise of loss ½.
HALF, NOISE = 5_000, 0.5


def trials(runs: int) -> tuple[Trial, ...]:
    """Return both pairs of the paper, and two releases of ours, each from a sample of its own."""
    fair = exactly(Fraction(1, 2), Fraction(1, 2))
    nothing = Bound(0.0, 0.0, "telling nothing about this data")
    # The flipped answer alone is "no" as often with the person as without. Without: when there are not more men.
    # Sampled, the person is a man more and turns the answer over: "no" when the others have at least as many men as
    # women, which is as likely as at most as many.
    no = (1 + Fraction(math.comb(2 * HALF, HALF), 4**HALF)) / 2
    return (
        unsafe("parity of the sample", fair, bound=nothing),
        unsafe("parity, flipped if the person is sampled", fair, bound=nothing),
        unsafe("both of these", *_parities(runs), nothing),
        unsafe("more men?, flipped if the person is sampled", exactly(no, no), bound=nothing),
        unsafe(
            "that, and men minus women with noise",
            *_majorities(runs),
            Bound(NOISE, 0.0, "the sum of both, which is not true"),
        ),
        _ours(runs),
    )


def _parities(runs: int) -> tuple[Pair, Pair | None]:
    """Return the chance that the two bits differ: exactly when the person was sampled."""

    def differ(person: bool) -> int:
        sampled = _draw_counts(runs, person)
        parity = (thin(np.full(runs, OTHERS), RATE, SystemSource()) + sampled) % 2
        return int((parity != parity ^ sampled).sum())

    return exactly(Fraction(RATE), Fraction(0)), in_runs(runs, differ)


def _draw_counts(runs: int, person: bool) -> Counts:
    return thin(np.full(runs, int(person)), RATE, SystemSource())


def _majorities(runs: int) -> tuple[Pair, Pair | None]:
    """Return the chances of the event: the flipped answer is no, yet the noisy difference is positive."""
    # Men minus women in a sample of as many men as women have the law Bin(n, ½) − n/2, since n/2 − Bin is Bin again.
    both, more = 2 * HALF, np.arange(2 * HALF + 1) - HALF
    logs = [math.lgamma(both + 1) - math.lgamma(j + 1) - math.lgamma(both - j + 1) for j in range(both + 1)]
    chances = np.exp(np.array(logs) - both * math.log(2))
    chances /= chances.sum()
    positive = np.array([laplace_reaches(1 - int(value), NOISE) for value in more])
    taller = np.array([laplace_reaches(-int(value), NOISE) for value in more])
    without = float((chances * positive)[more <= 0].sum())
    sampled = float((chances * taller)[more + 1 > 0].sum())
    exact = exactly((1 - RATE) * without + RATE * sampled, without)

    def happen(person: bool) -> int:
        drawn, sampled = thin(np.full(2 * runs, HALF), RATE, SystemSource()), _draw_counts(runs, person)
        difference = drawn[:runs] + sampled - drawn[runs:]
        answer = (difference > 0) ^ (sampled > 0)
        noisy = difference + discrete_laplace(runs, NOISE, SystemSource())
        return int((~answer & (noisy > 0)).sum())

    return exact, in_runs(runs, happen)


def _ours(runs: int) -> Trial:
    """Return the parities of two releases, each of a fresh sample, compared as before."""
    ours = our_table(RATE)

    def differ(person: bool) -> int:
        first, second = (ours.publish(repeat_sizes(runs, OTHERS + person)) for _ in range(2))
        return int(((first - second) % 2).sum())

    laws = (published_law(OTHERS + person, Fraction(RATE), ours.k) for person in (1, 0))
    odd = (sum((chance for count, chance in law.items() if count % 2), Fraction(0)) for law in laws)
    exact = exactly(*(2 * share * (1 - share) for share in odd))
    release = f"ours twice, k = {ours.k}, of fresh samples at {RATE:g}"
    return Trial(release, True, ours.bound().twice("our certificates, added up"), exact, in_runs(runs, differ))


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
    question="How often does the attacker's event happen?",
    worlds=("the person is in the data", "is not"),
    trials=trials,
    guarantee=lambda: our_table(RATE).bound(),
    remark="The second pair is one release that is private under sampling beside one that is differentially private by "
    "itself. Ours draws a fresh sample for every release, so that one says nothing of the randomness of another.",
)
