"""Choosing the recoding on the sample that is published: LQS Theorem 6 counts the same randomness twice.

The world is that of docs/proofs.md#choosing-the-recoding: one person and many disjoint groups of k − 1. Recoding i
merges the person with group i, and is chosen with probability proportional to e^(members of group i that count).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from crowdblend.lab.attacks.ours import our_table
from crowdblend.lab.attacks.trial import Attack, Bound, Trial, exactly, in_runs
from crowdblend.methods.designs import Poisson
from crowdblend.methods.selection.exponential import choose
from crowdblend.reading.figures.charts import Axis, Line, LineChart
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending, Differential, Guarantee, Relation
from crowdblend.trusted.machine.packages import integrate
from crowdblend.trusted.randomness import SystemSource, thin

K, GROUPS, FEWER = 5, 100, 20
SIZE = K - 1
CHOICE = 1.0  # ε of the choice
PART = 1.0  # ε of the release
SHARE = 0.2  # of the sampled people who choose, in the sound form
PAPER_RATE, RATE = 0.1, 0.25
SWEEP = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200)

Scores = NDArray[np.int64]


def trials(runs: int) -> tuple[Trial, ...]:
    """Return Theorem 6 at two rates, and both forms of the choice that we certify."""
    return _same(PAPER_RATE, GROUPS, 0), _same(RATE, FEWER, runs), _population(runs), _split(runs)


def one_sample(groups: int, rate: float) -> float:
    """Return the chance that the person's class is shown, when the sample that is published also chooses."""
    return _publication_chance(groups, math.exp(CHOICE * SIZE), chooses=rate, publishes=rate)


def split(groups: int, rate: float) -> float:
    """The same, when everybody sampled either chooses or is published: who is published does not count as a score."""
    return _publication_chance(groups, 1.0, chooses=rate * SHARE, publishes=rate * (1 - SHARE))


def _publication_chance(groups: int, weight: float, *, chooses: float, publishes: float) -> float:
    """The class is shown when the person and all of the chosen group are published.

    By symmetry that has the chance groups · publishes^k · E[w/(w + S)], w the weight of a group that is published
    whole and S the sum of the others' weights; E[1/(w + S)] = ∫ e^{−tw}·E[e^{−tS}] dt, and E[e^{−tS}] is a power.
    """

    def integrand(t: float) -> float:
        # E[e^{−t·weight}] of a group of which everybody counts with probability `chooses`.
        one_group = sum(
            math.comb(SIZE, q) * chooses**q * (1 - chooses) ** (SIZE - q) * math.exp(-t * math.exp(CHOICE * q))
            for q in range(K)
        )
        return math.exp(-t * weight) * one_group ** (groups - 1)

    # Weights are at least 1, so beyond this point the integrand is below e^-45 times its start.
    chosen, _ = integrate.quad(integrand, 0, 45 / (weight + groups - 1), epsabs=0, epsrel=1e-10, limit=200)
    return groups * publishes**K * weight * float(chosen)


def theorem_6(rate: float) -> Bound:
    """Return what LQS Theorem 6 claims of the same-sample version."""
    released = _bound("", "suppression.published", CrowdBlending(K, 0.0), rate=rate, epsilon=PART)
    return Bound(CHOICE + PART, released.delta, "LQS Theorem 6, which is not true of one sample")


def by_population(rate: float) -> Bound:
    """Return what we certify when the whole population chooses."""
    planned = our_table(rate, K).plan
    released = Poisson(rate).under_sampling(planned.mechanism, planned.epsilon).conclusion
    return _bound("our certificate, recoding.population", "recoding.population", _CHOSEN, released)


def by_split(rate: float) -> Bound:
    """Return what we certify when a part of the sample chooses that is not published."""
    how = {"rate": rate, "share": SHARE, "epsilon": PART}
    return _bound("our certificate, recoding.split", "recoding.split", _CHOSEN, CrowdBlending(K, 0.0), **how)


_CHOSEN = Differential(CHOICE, 0.0, Relation.ADD_REMOVE)


def _bound(source: str, rule: str, *premises: Guarantee, **parameters: float) -> Bound:
    concluded = cast(Differential, RULES[rule].conclude(*premises, **parameters))
    return Bound(concluded.epsilon, concluded.delta, source)


def _same(rate: float, groups: int, runs: int) -> Trial:
    def hits(person: bool) -> int:
        sampled = thin(np.full(runs * groups, SIZE), rate, SystemSource()).reshape(runs, groups)
        return _published_runs(person, sampled, sampled, rate)

    exact = exactly(one_sample(groups, rate), 0.0)
    release = f"one of {groups} chosen and published by one sample at {rate:g}"
    return Trial(release, False, theorem_6(rate), exact, in_runs(runs, hits))


def _population(runs: int) -> Trial:
    """All groups are equally large, so every recoding is as likely as any other."""

    def hits(person: bool) -> int:
        everybody = np.full((runs, FEWER), SIZE)
        sampled = thin(everybody.ravel(), RATE, SystemSource()).reshape(runs, FEWER)
        return _published_runs(person, everybody, sampled, RATE)

    exact = exactly(Fraction(RATE) ** K, Fraction(0))
    release = f"ours, chosen by everybody, sample at {RATE:g}"
    return Trial(release, True, by_population(RATE), exact, in_runs(runs, hits))


def _split(runs: int) -> Trial:
    """Return the trial where every sampled person either chooses or is published."""
    publishes = RATE * (1 - SHARE)

    def hits(person: bool) -> int:
        sampled = thin(np.full(runs * FEWER, SIZE), RATE, SystemSource())
        choosing = thin(sampled, SHARE, SystemSource())
        shape = (runs, FEWER)
        return _published_runs(person, choosing.reshape(shape), (sampled - choosing).reshape(shape), publishes)

    exact = exactly(split(FEWER, RATE), 0.0)
    release = f"ours, {SHARE:.0%} of the sample choose, sample at {RATE:g}"
    return Trial(release, True, by_split(RATE), exact, in_runs(runs, hits))


def _published_runs(person: bool, scores: Scores, members: Scores, rate: float) -> int:
    """Return the number of runs in which the class of the chosen group and the person is shown."""
    rows = np.arange(len(scores))
    chosen = [
        choose(row.tolist(), epsilon=CHOICE, sensitivity=1, monotone=True, source=SystemSource()) for row in scores
    ]
    people = members[rows, chosen] + thin(np.full(len(rows), int(person)), rate, SystemSource())
    # The rate plays no part once the sample is drawn.
    return int((our_table(RATE, K).sanitize(people.reshape(-1, 1)) > 0).sum())


def _chart() -> LineChart:
    certified = max(by_population(RATE).delta, by_split(RATE).delta)
    return LineChart(
        [
            Line("one sample", [(groups, one_sample(groups, RATE)) for groups in SWEEP]),
            Line("Theorem 6's δ", [(groups, theorem_6(RATE).delta) for groups in SWEEP]),
            Line("ours, chosen by everybody", [(groups, RATE**K) for groups in SWEEP]),
            Line("ours, split", [(groups, split(groups, RATE)) for groups in SWEEP]),
            Line("certified δ of both, at most", [(groups, certified) for groups in SWEEP]),
        ],
        x=Axis("recodings to choose from", log=True),
        y=Axis("chance that the person's class is shown", log=True),
        title="A choice that sees the sample finds the full crowd",
        subtitle=f"k = {K}, rate {RATE:g}, ε = {CHOICE + PART:g}. Without the person the chance is 0.",
    )


ATTACK = Attack(
    name="same-sample",
    title="The recoding that went looking for you",
    source="LQS Definition 6 and Theorem 6",
    story="A steward lets the data choose among a hundred recodings, with differential privacy, and then publishes "
    "the crowds of at least five. Each recoding would put you together with another group of four. Only if you and "
    "all four are in the sample is your class shown, which is rare for any one recoding. But the choice looks at "
    "the same sample and prefers the groups that are complete. It finds the one recoding that makes your crowd "
    "full, if there is one. The theorem that adds up both guarantees treats the choice as if it had not seen the "
    "sample.",
    event="the person's class is published",
    question="How often is the person's class published?",
    worlds=("the person is in the data", "is not"),
    trials=trials,
    guarantee=lambda: by_population(RATE),
    remark="Without the person the class has at most k − 1 people and is never shown, so no ε excuses the event and δ "
    "must be at least its chance.",
    chart=_chart,
)
