"""The richest person in town: a range that reaches as far as one value gives that value away (LQS 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import at_least
from crowdblend.attacks.ours import drawn, our_table, repeated
from crowdblend.attacks.targets import Groups, clustered, mondrian
from crowdblend.attacks.trial import Pair, Trial, in_runs

K = 20
OTHERS = 199
# In thousands. Everybody else owns between 20,000 and 812,000, and everybody in town knows that.
WORTHS = tuple(20 + 4 * place for place in range(OTHERS))
RICHEST, RICH = 35_000, 10_000

Recoding = Callable[[NDArray[np.int64], int], Groups]
WORLDS = ("the richest person is in the data", "is not")


def reaches_far(published: Groups) -> bool:
    """The attacker's event: some range ends above ten million."""
    return any(high > RICH for ranges, _ in published for _, high in ranges)


def launch(runs: int) -> Finding:
    """Local recoding of everybody and of a sample, and our table with fixed classes of wealth."""
    ours = our_table()
    trials = (
        _everybody("Mondrian, k = 20", mondrian),
        _everybody("clustering, k = 20", clustered),
        _sampled(f"Mondrian, k = 20, of a sample at {ours.rate:g}", mondrian, ours.rate, runs),
        _sampled(f"clustering, k = 20, of a sample at {ours.rate:g}", clustered, ours.rate, runs),
        _ours(runs),
    )
    guarantee = ours.bound()
    chart = chances_chart(
        trials, guarantee, worlds=WORLDS, title="How often does a published range reach above 10 million?"
    )
    remark = f"Where it does, the range ends at {RICHEST / 1000:g} million: the value itself is published."
    return Finding(trials, guarantee, chart, remark)


def _everybody(release: str, recoding: Recoding) -> Trial:
    """Nothing is random here: the target runs once in each world."""
    with_it, without = (Fraction(reaches_far(recoding(_table(rich), K))) for rich in (True, False))
    return Trial(release, False, None, Pair(computed(with_it), computed(without)))


def _sampled(release: str, recoding: Recoding, rate: float, runs: int) -> Trial:
    """Sampling does not help: the range gives the person away whenever the person is drawn."""
    chance = Fraction(rate) * at_least(OTHERS, Fraction(rate), K - 1)
    exact = Pair(computed(chance), computed(Fraction(0)))

    def reached(rich: bool) -> int:
        table = _table(rich)
        return sum(reaches_far(recoding(table[kept], K)) for kept in drawn(runs, len(table), rate))

    return Trial(release, False, None, exact, in_runs(runs, reached))


def _table(rich: bool) -> NDArray[np.int64]:
    return np.array([*WORTHS, *([RICHEST] if rich else [])], dtype=np.int64).reshape(-1, 1)


def _ours(runs: int) -> Trial:
    """Two classes, below and above ten million, fixed before the data; a class of one is never shown."""
    ours = our_table()
    exact = Pair(computed(at_least(1, Fraction(ours.rate), ours.k)), computed(Fraction(0)))
    runs_seen = in_runs(runs, lambda rich: int((ours.publish(repeated(runs, OTHERS, rich))[:, 1] > 0).sum()))
    return Trial(ours.name, True, ours.bound(), exact, runs_seen)


ATTACK = Attack(
    name="extreme-value",
    title="The richest person in town",
    source="LQS 3.1",
    story="A town publishes net worths, k-anonymously: rows are put into groups of at least 20, and every row shows "
    "the range of its group. Everybody knows that only one person in town owns more than ten million. A group whose "
    "range reaches to 35 million then says three things: that person is in the data, in that group, and owns 35 "
    "million. The nineteen others who show the same range hide nothing. Sampling first does not repair it: the "
    "range still tells whenever the person is drawn.",
    event="some published range reaches above 10 million",
    worlds=WORLDS,
    launch=launch,
)
