"""k copies of everybody: k-anonymity asks how a table looks, not where it comes from (LQS 3.1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.lab.attacks.ours import drawn, our_table
from crowdblend.lab.attacks.targets import duplicate, is_k_anonymous
from crowdblend.lab.attacks.trial import Attack, Trial, certain, exactly, in_runs, unsafe

K = 20
OTHERS = 40
ROW = "the only judge in the village, 58"


def publish_target(rows: list[str]) -> list[str]:
    """Return the target, which satisfies k-anonymity by the letter."""
    table = duplicate(rows, K)
    if not is_k_anonymous(table, K):
        raise InvalidInput("The target must be k-anonymous; this one is not, so the attack would show nothing.")
    return table


def trials(runs: int) -> tuple[Trial, ...]:
    """Return everybody copied, a sample copied, and our table by occupation, farmer or judge; the judge is alone."""
    ours = our_table()

    def count_appearances(person: bool) -> int:
        rows = _rows(person)
        samples = drawn(runs, len(rows), ours.rate)
        return sum(ROW in publish_target([rows[place] for place in np.flatnonzero(kept)]) for kept in samples)

    return (
        certain(f"every row {K} times", lambda person: ROW in publish_target(_rows(person))),
        unsafe(
            f"every row of a sample at {ours.rate:g} {K} times",
            exactly(Fraction(ours.rate), Fraction(0)),
            in_runs(runs, count_appearances),
        ),
        ours.shows(runs, 1, (OTHERS, 1), (OTHERS, 0)),
    )


def _rows(person: bool) -> list[str]:
    return [f"farmer {place}" for place in range(OTHERS)] + [ROW] * person


ATTACK = Attack(
    name="duplicate",
    title="Twenty copies of everybody",
    source="LQS 3.1",
    story="k-anonymity asks that every published row appear at least k times. So take the secret table, write every "
    "row down twenty times, and publish that: it is 20-anonymous, every checker says so, and nothing at all is "
    "hidden. The definition speaks of the published table and not of the people behind it. A crowd must be k people "
    "of the data.",
    event="the row of the only judge in the village appears",
    question="How often does the judge's row appear?",
    worlds=("the person is in the data", "is not"),
    trials=trials,
    guarantee=lambda: our_table().bound(),
    remark=f"Every published row appears {K} times, as k-anonymity asks.",
)
