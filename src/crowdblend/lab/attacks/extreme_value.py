"""The richest person in town: a range that reaches as far as one value gives that value away (LQS 3.1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.lab.attacks.ours import at_least, drawn, our_table
from crowdblend.lab.attacks.targets import Groups, mondrian
from crowdblend.lab.attacks.trial import Attack, Trial, certain, exactly, in_runs, unsafe

K = 20
OTHERS = 199
# In thousands. Everybody else owns between 20,000 and 812,000, and everybody in town knows that.
WORTHS = tuple(20 + 4 * place for place in range(OTHERS))
RICHEST, RICH = 35_000, 10_000


def reaches_far(groups: Groups) -> bool:
    """Return whether some range ends above ten million."""
    return any(high > RICH for ranges, _ in groups for _, high in ranges)


def trials(runs: int) -> tuple[Trial, ...]:
    """Return local recoding of everybody and of a sample, and our table with fixed classes of wealth.

    Sampling does not help: the range gives the person away whenever the person is drawn.
    """
    ours = our_table()
    rate = Fraction(ours.rate)
    whenever_drawn = exactly(rate * at_least(OTHERS, rate, K - 1), Fraction(0))

    def count_reached(rich: bool) -> int:
        table = _table(rich)
        return sum(reaches_far(mondrian(table[kept], K)) for kept in drawn(runs, len(table), ours.rate))

    everybody = certain("Mondrian, k = 20", lambda rich: reaches_far(mondrian(_table(rich), K)))
    release = f"Mondrian, k = 20, of a sample at {ours.rate:g}"
    sampled = unsafe(release, whenever_drawn, in_runs(runs, count_reached))
    return (everybody, sampled, ours.shows(runs, 1, (OTHERS, 1), (OTHERS, 0)))


def _table(rich: bool) -> NDArray[np.int64]:
    return np.array([*WORTHS, *([RICHEST] if rich else [])], dtype=np.int64).reshape(-1, 1)


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
    question="How often does a published range reach above 10 million?",
    worlds=("the richest person is in the data", "is not"),
    trials=trials,
    guarantee=lambda: our_table().bound(),
    remark=f"Where it does, the range ends at {RICHEST / 1000:g} million: the value itself is published.",
)
