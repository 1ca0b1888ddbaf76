"""k copies of everybody: k-anonymity asks how a table looks, not where it comes from (LQS 3.1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from crowdblend.attacks.attack import Attack, Finding
from crowdblend.attacks.chances import computed
from crowdblend.attacks.figure import chances_chart
from crowdblend.attacks.laws import at_least
from crowdblend.attacks.ours import drawn, our_table, repeated
from crowdblend.attacks.targets import duplicated, is_k_anonymous
from crowdblend.attacks.trial import Pair, Trial, in_runs
from crowdblend.errors import InvalidInput

K = 20
OTHERS = 40
WORLDS = ("the person is in the data", "is not")
ROW = "the only judge in the village, 58"


def published(rows: list[str]) -> list[str]:
    """The target, which satisfies k-anonymity by the letter."""
    table = duplicated(rows, K)
    if not is_k_anonymous(table, K):
        raise InvalidInput("the target must be k-anonymous; this one is not, so the attack would show nothing.")
    return table


def launch(runs: int) -> Finding:
    """Everybody copied, a sample copied, and our table of the same people."""
    ours = our_table()
    trials = (_everybody(), _sampled(ours.rate, runs), _ours(runs))
    guarantee = ours.bound()
    chart = chances_chart(trials, guarantee, worlds=WORLDS, title="How often does the judge's row appear?")
    return Finding(trials, guarantee, chart, f"Every published row appears {K} times, as k-anonymity asks.")


def _rows(person: bool) -> list[str]:
    return [f"farmer {place}" for place in range(OTHERS)] + [ROW] * person


def _everybody() -> Trial:
    hit, miss = (computed(Fraction(ROW in published(_rows(person)))) for person in (True, False))
    return Trial(f"every row {K} times", False, None, Pair(hit, miss))


def _sampled(rate: float, runs: int) -> Trial:
    release = f"every row of a sample at {rate:g} {K} times"
    exact = Pair(computed(Fraction(rate)), computed(Fraction(0)))

    def appeared(person: bool) -> int:
        rows = _rows(person)
        samples = drawn(runs, len(rows), rate)
        return sum(ROW in published([rows[place] for place in np.flatnonzero(kept)]) for kept in samples)

    return Trial(release, False, None, exact, in_runs(runs, appeared))


def _ours(runs: int) -> Trial:
    """Two occupations as classes, farmer and judge; the judge is alone."""
    ours = our_table()
    exact = Pair(computed(at_least(1, Fraction(ours.rate), ours.k)), computed(Fraction(0)))
    runs_seen = in_runs(runs, lambda person: int((ours.publish(repeated(runs, OTHERS, person))[:, 1] > 0).sum()))
    return Trial(ours.name, True, ours.bound(), exact, runs_seen)


ATTACK = Attack(
    name="duplicate",
    title="Twenty copies of everybody",
    source="LQS 3.1",
    story="k-anonymity asks that every published row appear at least k times. So take the secret table, write every "
    "row down twenty times, and publish that: it is 20-anonymous, every checker says so, and nothing at all is "
    "hidden. The definition speaks of the published table and not of the people behind it. A crowd must be k people "
    "of the data.",
    event="the row of the only judge in the village appears",
    worlds=WORLDS,
    launch=launch,
)
