"""What an audit says it can find, before it looks."""

import math
from collections import Counter
from dataclasses import replace
from random import SystemRandom
from typing import Any

import pytest
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.statistical.bounds import refutes
from crowdblend.lab.auditing.statistical.outlook import Outlook, audit_foreseen, foresee, least_excess, smallest_leak
from crowdblend.lab.auditing.statistical.run import rounds
from crowdblend.lab.auditing.statistical.subject import BlackBox, Neighbours, Observed
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.cases import for_each

RANDOM = SystemRandom()


def answer(truth: int) -> int:
    return truth if RANDOM.random() < 0.75 else 1 - truth


RESPONSE = BlackBox(
    "randomized response", Differential(math.log(3), 0.0, Relation.REPLACE), answer, (Neighbours("yes, and no", 1, 0),)
)


@for_each(("runs", "epsilon", "delta"), [(4_000, 1.0, 0.0), (20_000, 0.5, 0.01), (100_000, 0.0, 0.3)])
def test_the_smallest_leak_is_found_with_95_percent_and_none_of_fewer_hits(
    runs: int, epsilon: float, delta: float
) -> None:
    leak, last = smallest_leak(runs, 1e-3, epsilon, delta), rounds(runs, 1e-3)[-1]
    assert leak is not None
    trials = last.judging // 2
    needed = next(
        x for x in range(int(delta * trials), trials) if refutes((x, trials), (0, trials), delta, last.error, epsilon)
    )
    assert stats.binom.sf(needed - 1, trials, leak) == pytest.approx(0.95, abs=1e-9)
    assert leak > delta


def test_more_runs_see_rarer_leaks_and_where_delta_is_one_there_are_none() -> None:
    few, many = (smallest_leak(runs, 1e-3, 1.0, 0.0) for runs in (2_000, 200_000))
    assert few is not None
    assert many is not None
    assert many < few / 50
    assert smallest_leak(2_000, 1e-3, 1.0, 1.0) is None


def test_power_is_foreseen() -> None:
    """Of 80,000 runs 833 of each side measure the event, and half of ln 3 is exceeded by 9.5 standard deviations of
    them: to be said to be refuted with less than 95 % at least, it would have to come out below 3. What is true of
    every ε is exceeded by −5.4 standard deviations, and would have to come out above 0.3. Both are more than 5.6
    standard deviations away, which has a probability below 1e-7."""
    assert foresee(RESPONSE, runs=80_000).half_refuted > 0.95
    nothing = replace(RESPONSE, neighbours=(Neighbours("yes, and yes", 1, 1),))
    assert foresee(nothing, runs=80_000).half_refuted < 0.05


@for_each(("likely", "unlikely"), [((40, 60), (0, 60)), ((300, 500), (90, 500)), ((900, 1000), (300, 1000))])
def test_theleast_excess_is_the_largest_that_is_refuted(likely: tuple[int, int], unlikely: tuple[int, int]) -> None:
    """That the bound behind it errs with 5 % at most is tested where it is made."""
    epsilon, delta = math.log(2), 0.05
    least = least_excess(likely, unlikely, epsilon, delta)
    assert 0 < least < likely[0] / likely[1] - 2 * unlikely[0] / unlikely[1] - delta
    assert refutes(likely, unlikely, delta + least, 0.05, epsilon)
    assert not refutes(likely, unlikely, delta + least + 0.002, 0.05, epsilon)
    assert least_excess(unlikely, likely, epsilon, delta) == 0


def test_a_time_becomes_runs_and_one_line_says_what_they_find() -> None:
    seen: list[Any] = []
    verdict = audit_foreseen(RESPONSE, seconds=0.3, error=1e-7, announce=seen.append)
    (outlook,) = seen
    assert outlook.runs >= 1_000
    assert verdict.runs <= outlook.runs
    assert not verdict.finding, "a false alarm has probability 1e-7"
    line = outlook.describe()
    assert line.startswith("outlook      in about ")
    assert "factor 2" in line
    assert "cannot see what is rarer or needs other people" in line
    assert "\n" not in line
    assert outlook.to_dict()["runs"] == outlook.runs


class Timed:
    """Randomized response in batches of 50, on a clock of its own that only the batches move."""

    name, guarantee, pairs, together = RESPONSE.name, RESPONSE.guarantee, RESPONSE.pairs, 50

    def __init__(self, each: float) -> None:
        self.each, self.now = each, 0.0
        self._left: Counter[int] = Counter()

    def observe(self, population: int, runs: int) -> Observed:
        while self._left[population] < runs:
            self._left[population] += self.together
            self.now += self.together * self.each
        self._left[population] -= runs
        return RESPONSE.observe(population, runs)


@for_each("slower", [0.5, 1, 2, 4, 10], daily=3)
def test_the_time_is_kept_when_runs_take_longer_than_at_first(slower: float) -> None:
    """Every figure but the coins is fixed: no clock of the machine has a part in it."""
    subject, foreseen = Timed(each=0.01), []

    def announce(outlook: Outlook) -> None:
        foreseen.append(outlook)
        subject.each *= slower

    verdict = audit_foreseen(subject, seconds=60, error=1e-7, announce=announce, clock=lambda: subject.now)
    assert foreseen[0].seconds == pytest.approx(foreseen[0].runs * 0.01)
    assert subject.now < 60 * 1.05
    share = verdict.runs / foreseen[0].runs
    assert share > 0.99 if slower <= 1 else 0.3 / slower < share < 1.5 / slower
    assert not verdict.finding, "a false alarm has probability 1e-7"


def test_seconds_are_a_time() -> None:
    with pytest.raises(InvalidInput, match="seconds must be above 0"):
        foresee(RESPONSE, seconds=math.nan)
