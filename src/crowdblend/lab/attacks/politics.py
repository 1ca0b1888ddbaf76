"""Your friends give you away: a differentially private release that tells how you vote (ZKP 1.1 and Appendix A)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from crowdblend.lab.attacks.ours import at_least, laplace_reaches, our_table, published_law
from crowdblend.lab.attacks.trial import Attack, Bound, Pair, Trial, exactly, in_runs, unsafe
from crowdblend.lab.papers.zkp import CLIQUE, DISSENT, clique_guess
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation
from crowdblend.trusted.randomness import SystemSource, discrete_laplace, rational, successes, uniform

LOSS = 0.1
PEOPLE, RATE = 10_000_000, 1e-4
# A sample this large differs from its mean by less than a tenth of the circle, but for chances below 1e-100.
CIRCLE = 8_192
MOST = 12
CHUNK = 1_000

Law = NDArray[np.float64]


def trials(runs: int) -> tuple[Trial, ...]:
    """Return the proportions of cliques with noise, our table by clique, and our noisy total over a sample."""
    return _cliques(runs), _our_table(), _our_total(runs)


@cache
def leaning() -> Law:
    """P[j Democrats in a clique]: every person votes so with probability p, p uniform in [0, α] ∪ [1 − α, 1].

    ∫ C(c, j)·p^j·(1−p)^(c−j) dp from 0 to x is P[Bin(c + 1, x) > j]/(c + 1).
    """
    alpha = Fraction(DISSENT).limit_denominator(1000)
    width = 2 * alpha * (CLIQUE + 1)
    low = [at_least(CLIQUE + 1, alpha, j + 1) for j in range(CLIQUE + 1)]
    return np.array([float((low[j] + low[CLIQUE - j]) / width) for j in range(CLIQUE + 1)])


def _law_given(vote: bool) -> Law:
    """The same for the clique of a person who votes so: members are alike, so the person is one of j in c."""
    share = np.arange(CLIQUE + 1) / CLIQUE
    weighted = leaning() * (share if vote else 1 - share)
    law: Law = weighted / weighted.sum()
    return law


def _guesses(answers: Law) -> Pair:
    """Return the chances of "Democrat", when `answers` is its chance for every number of Democrats in the clique."""
    return exactly(*(float((_law_given(vote) * answers).sum()) for vote in (True, False)))


def _cliques(runs: int) -> Trial:
    """The count of a clique with discrete Laplace noise of loss ε: at least half means "Democrat"."""
    answers = np.array([laplace_reaches(CLIQUE // 2 - j, LOSS) for j in range(CLIQUE + 1)])

    def democrat(vote: bool) -> int:
        leans = _leans(runs)
        # Everything is symmetric: a clique in which the person votes otherwise is the mirror image of one that fits.
        leans = np.where((_unit(runs) < leans) == vote, leans, 1 - leans)
        others = (_unit(runs * (CLIQUE - 1)).reshape(runs, -1) < leans[:, None]).sum(axis=1)
        noisy = others + vote + discrete_laplace(runs, LOSS, SystemSource())
        return int((noisy >= CLIQUE // 2).sum())

    hoped = Bound(LOSS, 0.0, "differential privacy, if people were independent")
    release = f"every clique's votes with noise, ε = {LOSS:g}"
    return unsafe(release, _guesses(answers), in_runs(runs, democrat), hoped)


def _leans(n: int) -> Law:
    low = DISSENT * _unit(n)
    leans: Law = np.where(_unit(n) < 0.5, low, 1 - low)
    return leans


def _unit(n: int) -> Law:
    unit: Law = uniform(n, 1 << 53, SystemSource()) / float(1 << 53)
    return unit


def _our_table() -> Trial:
    """Our table by clique and vote: whichever vote is shown with more people."""
    ours = our_table()
    rate = Fraction(ours.rate)
    laws = [np.zeros(CLIQUE + 1) for _ in range(CLIQUE + 1)]
    for people, law in enumerate(laws):
        for count, chance in published_law(people, rate, ours.k).items():
            law[count] = float(chance)
    # P[X > Y], and half of P[X = Y].
    answers = np.array([law @ (np.cumsum(other) - other / 2) for law, other in zip(laws, reversed(laws), strict=True)])
    bound = ours.bound()
    together = _to_a_clique(Differential(bound.epsilon, bound.delta, Relation.ADD_REMOVE, samplings=1))
    return Trial(f"our table by clique, k = {ours.k}", True, together, _guesses(answers))


def total_bound() -> Bound:
    """Return the guarantee of the noisy total over a sample for a whole clique."""
    sampled = RULES["sampling.amplification"].conclude(Differential(LOSS, 0.0, Relation.ADD_REMOVE), rate=RATE)
    return _to_a_clique(RULES["dps.differential"].conclude(sampled))


def _to_a_clique(guarantee: Guarantee) -> Bound:
    """Other votes in one clique are as many people removed and as many added."""
    together = cast(Differential, RULES["differential.group"].conclude(guarantee, people=2 * CLIQUE))
    return Bound(together.epsilon, together.delta, f"our certificate, for {CLIQUE} people together")


def _our_total(runs: int) -> Trial:
    """Democrats minus Republicans in a sample of everybody, with noise: positive or a tie means "Democrat"."""
    release = f"our noisy total of a sample at {RATE:g}, ε = {LOSS:g}"
    exact = exactly(*(_chance_from_total(vote) for vote in (True, False)))

    def democrat(vote: bool) -> int:
        leads = np.concatenate([_leads(min(CHUNK, runs - start), vote) for start in range(0, runs, CHUNK)])
        return int((leads + discrete_laplace(runs, LOSS, SystemSource()) >= 0).sum())

    return Trial(release, True, total_bound(), exact, in_runs(runs, democrat))


def _leads(runs: int, vote: bool) -> NDArray[np.int64]:
    """Democrats minus Republicans in the sample of every run; the person is the first of the first clique of each."""
    sampled = successes(runs * PEOPLE, rational(RATE), SystemSource())
    cliques, clique = np.unique(sampled // CLIQUE, return_inverse=True)
    leans = _leans(len(cliques))
    fits = (_unit(len(cliques)) < leans) == vote
    leans = np.where((cliques % (PEOPLE // CLIQUE) > 0) | fits, leans, 1 - leans)
    votes = _unit(len(sampled)) < leans[clique]
    votes[sampled % PEOPLE == 0] = vote
    return np.bincount(sampled // PEOPLE, weights=2 * votes - 1, minlength=runs).astype(np.int64)


def _chance_from_total(vote: bool) -> float:
    """The chance of a noisy lead of at least 0; independent cliques add up, on a circle, by Fourier transforms."""
    others = np.fft.fft(_lead_of_clique(leaning())) ** (PEOPLE // CLIQUE - 1)
    law = np.fft.ifft(others * np.fft.fft(_lead_of_clique(_law_given(vote)))).real
    leads = (np.arange(CIRCLE) + CIRCLE // 2) % CIRCLE - CIRCLE // 2
    answers = np.array([laplace_reaches(-int(lead), LOSS) for lead in leads])
    return float((law * answers).sum())


def _lead_of_clique(democrats: Law) -> Law:
    """Return the law of Democrats minus Republicans among the sampled of one clique, on the circle."""
    law = np.zeros(CIRCLE)
    # By the number of people, the chances of 0, 1, …, MOST sampled; more have a chance below 1e-30.
    drawn = np.array(
        [
            [math.comb(people, j) * RATE**j * (1 - RATE) ** (people - j) for j in range(MOST + 1)]
            for people in range(CLIQUE + 1)
        ]
    )
    # For each number of Democrats and of Republicans in the sample, whatever the clique.
    both = np.einsum("j,ja,jb->ab", democrats, drawn, drawn[::-1])
    for (ours, theirs), chance in np.ndenumerate(both):
        law[(ours - theirs) % CIRCLE] += chance
    return law


ATTACK = Attack(
    name="politics",
    title="Your friends give you away",
    source="ZKP 1.1, 2.3 and Appendix A",
    story="In a network of cliques of 200 people, members of a clique vote alike with a chance of at least four "
    "fifths. Somebody publishes the proportion of Democrats in every clique with noise, so that one vote more or "
    "less hardly matters: ε-differentially private with ε = 0.1. Whoever knows your clique reads off how it leans, "
    "and guesses that you lean alike. That is right nine times in ten. Strictly, no guarantee was broken: it says "
    "that your row hardly matters, and your friends gave you away without it.",
    event="the published figures speak for “Democrat”",
    question="How often does a neighbour say “Democrat”?",
    worlds=("the person is a Democrat", "is a Republican"),
    trials=trials,
    guarantee=total_bound,
    remark=f"ZKP Appendix A proves that the guess from noisy proportions is right at least {clique_guess(LOSS):.3f} of "
    f"the time at ε = {LOSS:g}, and one might have hoped for ½e^ε. No guarantee about single people hides what a "
    "clique has in common: our own table by clique tells it too, and its guarantee to 200 people at once is "
    "empty. What helps is to publish nothing about cliques: the total over a sample of everybody says next to "
    "nothing about yours.",
)
