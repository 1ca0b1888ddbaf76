"""Is this person in the data? The best test there is, against the bound that ε and δ put on every test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from crowdblend.lab.attacks.ours import Law, our_table, published_law, repeat_sizes
from crowdblend.lab.attacks.trial import Attack, Trial, exactly, in_runs, unsafe
from crowdblend.reading.figures.charts import Axis, Line, LineChart

STEPS = 20


@dataclass(frozen=True)
class Test:
    """Published counts of a class of this many people that make the attacker say "in the data"."""

    people: int
    counts: frozenset[int]
    hit: Fraction
    miss: Fraction

    def excess(self, growth: float) -> Fraction:
        """Return by how much the event exceeds e^ε times its chance in the other world: at most δ."""
        return self.hit - Fraction(growth) * self.miss


# What tells with every count of a sample: someone is shown where nobody else is.
ALONE = Test(1, frozenset({1}), Fraction(0), Fraction(0))


def trials(runs: int) -> tuple[Trial, ...]:
    """Return a class of which the attacker knows everybody else, at the sizes that help the attacker most."""
    ours = our_table()
    rarest, widest = _best()
    return (
        unsafe("exact counts of everybody, k = 20", exactly(Fraction(1), Fraction(0))),
        unsafe(f"every count of a sample at {ours.rate:g}", exactly(Fraction(ours.rate), Fraction(0))),
        _ours("alone in a class", ALONE, runs),
        _ours("where δ is needed most", rarest, runs),
        _ours("at the largest advantage", widest, runs),
    )


def _best() -> tuple[Test, Test]:
    """Return the tests with the largest excess over e^ε, and with the largest advantage."""
    ours = our_table()
    rarest, widest = (best_test(ours.k, ours.rate, growth) for growth in (math.exp(ours.bound().epsilon), 1.0))
    return rarest, widest


def _ours(where: str, test: Test, runs: int) -> Trial:
    ours = our_table()

    def positives(person: bool) -> int:
        counts = ours.publish(repeat_sizes(runs, test.people - (not person)))
        return int(np.isin(counts, list(test.counts)).sum())

    exact = exactly(test.hit, test.miss)
    return Trial(f"ours, k = {ours.k}, {where}", True, ours.bound(), exact, in_runs(runs, positives))


def _remark() -> str:
    (rarest, widest), bound = _best(), our_table().bound()
    return (
        f"The largest advantage over all class sizes and all tests is {float(widest.hit - widest.miss):.4f}, in a "
        f"class of {widest.people}; the guarantee allows {bound.advantage:.4f}. The largest excess over e^ε is "
        f"{float(rarest.excess(math.exp(bound.epsilon))):.4g}, in a class of {rarest.people}; the certified δ is "
        f"{bound.delta:.4g}."
    )


@cache
def best_test(k: int, rate: float, growth: float) -> Test:
    """The class size and the counts with the largest P[with] − growth·P[without].

    Beyond four times k/rate people the count of a class spreads so far that one person hardly moves it.
    """
    sizes = range(1, math.ceil(4 * k / rate))
    # Rounded, so that of several sizes that are as good the smallest is taken everywhere.
    worst = max(sizes, key=lambda people: float(f"{_about(k, rate, people, growth):.8e}"))
    law, other = _laws(k, rate, worst)
    counts = frozenset(count for count, chance in law.items() if chance > Fraction(growth) * other.get(count, 0))
    hit, miss = (sum((chances.get(count, Fraction(0)) for count in counts), Fraction(0)) for chances in (law, other))
    return Test(worst, counts, hit, miss)


def _about(k: int, rate: float, people: int, growth: float) -> float:
    """Return the excess of the best test in doubles, to find the class size."""
    law, other = (
        [math.comb(size, j) * rate**j * (1 - rate) ** (size - j) if j <= size else 0.0 for j in range(people + 1)]
        for size in (people, people - 1)
    )
    crowds = (law[j] - growth * other[j] for j in range(k, people + 1))
    return sum(max(value, 0.0) for value in crowds) + max(sum(law[:k]) - growth * sum(other[:k]), 0.0)


def _laws(k: int, rate: float, people: int) -> tuple[Law, Law]:
    return published_law(people, Fraction(rate), k), published_law(people - 1, Fraction(rate), k)


def _chart() -> LineChart:
    """Return the trade-off between right and false alarms, for all tests at once."""
    ours, (_, widest) = our_table(), _best()
    bound, rate = ours.bound(), ours.rate
    corner = (1 - bound.delta) / (1 + math.exp(bound.epsilon))
    grid = sorted([corner, *(step / STEPS for step in range(STEPS + 1))])
    return LineChart(
        [
            Line("allowed by ε and δ", [(false, bound.allows(false)) for false in grid]),
            Line("every count of a sample", [(false, rate + (1 - rate) * false) for false in grid]),
            Line("ours", _curve(*_laws(ours.k, rate, widest.people))),
            Line("a coin", [(0.0, 0.0), (1.0, 1.0)]),
        ],
        x=Axis("says “in the data” of people who are not"),
        y=Axis("says “in the data” of people who are"),
        title="How well can anybody tell who is in the data?",
        subtitle=f"k = {ours.k}, rate {rate:g}, ε = {bound.epsilon:g}; a class of {widest.people}, the others known.",
    )


def _curve(law: Law, other: Law) -> list[tuple[float, float]]:
    """Return all best tests: counts join the test in the order in which they speak for the person."""
    order = sorted(law, key=lambda count: law[count] / (law[count] + other.get(count, Fraction(0))), reverse=True)
    false = right = Fraction(0)
    points = [(0.0, 0.0)]
    for count in order:
        false, right = false + other.get(count, Fraction(0)), right + law[count]
        points.append((float(false), float(right)))
    return points


ATTACK = Attack(
    name="membership",
    title="Is this person in the data?",
    source="LQS Definitions 2 and 3, Proposition 4",
    story="You know everybody in a class but are not sure of one person, and you look at the published count. With "
    "exact counts of everybody there is nothing to guess. With every count of a sample, a person alone in a class "
    "is seen whenever drawn. With a sample of which only crowds are shown, the count moves by chance more than by "
    "one person. Any guarantee (ε, δ) limits every test that anybody could think of: it says yes of people who are in "
    "the data at most e^ε times as often as of people who are not, plus δ. Guessing between two equally likely "
    "answers, one is then right at most (e^ε + δ)/(e^ε + 1) of the time.",
    event="the published count is one that speaks for the person",
    question="How often does the count speak for the person?",
    worlds=("the person is in the data", "is not"),
    trials=trials,
    guarantee=lambda: our_table().bound(),
    remark=_remark,
    chart=_chart,
)
