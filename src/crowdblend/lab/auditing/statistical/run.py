"""The audit and its verdict: look for an event on some runs, judge it on others, and say what that proves.

There are three rounds, so that a badly broken guarantee is found early.
Every round first looks for an event and then judges it on fresh runs. Looking may use whatever was seen before; judging
never uses a run that took part in choosing. The rounds share the probability of error, so all their bounds hold
together except with that probability.

How many runs judge an event is settled before the first of them is made, by the clock and by runs before: what they
will show has no part in it, so that what is said about their number as a fixed one holds.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.statistical.bounds import epsilon_lower, refutes
from crowdblend.lab.auditing.statistical.events import Event, Fold, candidates, ranked_pairs
from crowdblend.lab.auditing.statistical.subject import Observed, Pair, Subject
from crowdblend.lab.auditing.statistical.workers import Workforce, workforce
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.wording import at_least, at_most, exactly
from crowdblend.trusted.machine.html_summary import html_summary

_MOST_OUTCOMES = 6
BATCH = 500
FOLDS = 2
# Seconds since some moment.
Clock = Callable[[], float]
# What one run was expected to take counts as much as this many that were timed.
_EXPECTED = 100


@dataclass(frozen=True)
class Round:
    """A part of the runs, and of the error."""

    number: int
    looking: int
    judging: int
    error: float


@dataclass(frozen=True)
class Task:
    """A batch of runs on one side of one pair.

    While looking, runs go into two folds, so that what one of them suggests can be tried on the other.
    """

    pair: int
    side: int
    fold: int
    runs: int


def rounds(runs: int, error: float) -> list[Round]:
    """One, three and twelve sixteenths of the runs, with one, one and two quarters of the error."""
    parts = []
    for number, (share, risk) in enumerate([(1, 1), (3, 1), (12, 2)]):
        part = runs * share // 16
        parts.append(Round(number, part // 2, part - part // 2, error * risk / 4))
    return parts


def batches(pairs: list[int], runs: int, folds: int) -> Iterator[Task]:
    """Yield the runs spread evenly over both sides of some pairs."""
    each = max(1, runs // (2 * len(pairs) * folds))
    for pair, side, fold in product(pairs, (0, 1), range(folds)):
        for start in range(0, each, BATCH):
            yield Task(pair, side, fold, min(BATCH, each - start))


class Pace:
    """Seconds that are left, and seconds for a run: at first as expected, then as measured; without limit unless given.

    The first runs are not measured, because processes start and people are made up in them.
    """

    def __init__(self, seconds: float | None = None, each: float = 0.0, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._deadline = None if seconds is None else clock() + seconds
        self._runs, self._spent, self._first = _EXPECTED, _EXPECTED * each, True

    def fitting(self, runs: int, runs_left: int) -> int:
        """Return the number of these runs that leaves time for the `runs_left` runs planned after them."""
        if self._deadline is None:
            return runs
        fits = max(0.0, self._deadline - self._clock()) * self._runs / max(self._spent, 1e-9)
        return min(runs, int(runs * fits / runs_left))

    @contextmanager
    def measure(self, runs: int) -> Iterator[None]:
        """Take the time of this many runs."""
        started = self._clock()
        yield
        if not self._first:
            self._runs, self._spent = self._runs + runs, self._spent + self._clock() - started
        self._first = False


@dataclass(frozen=True)
class Verdict:
    """The largest ε that the runs prove, except with probability `error`; a finding when it exceeds the guarantee."""

    subject: str
    guarantee: Differential
    epsilon_lower: float
    error: float
    runs: int
    pair: str
    view: str
    likelier: str
    outcomes: tuple[str, ...]
    likely: tuple[int, int]
    unlikely: tuple[int, int]

    @property
    def finding(self) -> bool:
        """True if the guarantee is broken."""
        return self.epsilon_lower > self.guarantee.epsilon

    def describe(self) -> str:
        """Return the verdict as text."""
        return "\n".join(f"{what:<12} {how}" for what, how in self._lines())

    def _repr_html_(self) -> str:
        """Return the verdict as a table; every text is escaped."""
        return html_summary(None, self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        guarantee = f"epsilon {exactly(self.guarantee.epsilon)}, delta {at_most(self.guarantee.delta)}"
        wrong = exactly(self.error)
        conclusion = (
            f"FINDING: epsilon is at least {at_least(self.epsilon_lower)} (wrong with probability at most {wrong})"
            if self.finding
            else f"no finding; epsilon is at least {at_least(self.epsilon_lower)}, and a broken guarantee may go unseen"
        )
        outcomes = ", ".join(self.outcomes[:_MOST_OUTCOMES]) + (", …" if len(self.outcomes) > _MOST_OUTCOMES else "")
        return [
            ("audited", f"{self.subject}, {self.runs:,} runs"),
            ("guarantee", f"{guarantee}, {self.guarantee.relation.words}"),
            ("verdict", conclusion),
            ("populations", self.pair),
            ("event", f"{self.view}: {outcomes or 'nothing stood out'}"),
            ("seen", f"{_rate(self.likely)} {self.likelier}, {_rate(self.unlikely)} otherwise"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data."""
        return {
            "subject": self.subject,
            "finding": self.finding,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "relation": self.guarantee.relation.value,
            "epsilon_lower": self.epsilon_lower,
            "error": self.error,
            "runs": self.runs,
            "pair": self.pair,
            "view": self.view,
            "likelier": self.likelier,
            "event": list(self.outcomes),
            "likely": list(self.likely),
            "unlikely": list(self.unlikely),
        }


def _rate(counts: tuple[int, int]) -> str:
    return f"{counts[0]:,} of {counts[1]:,}"


# Called with the phase, the runs so far and the runs in all.
Progress = Callable[[str, int, int], None]

LEAST_RUNS = 1_000
# So that in the first two rounds every pair has a run in every fold of both its sides.
RUNS_OF_A_PAIR = 64
# In the last round only the most promising pairs are looked at; before, too little is known to drop any.
KEPT_PAIRS = 4
_SIDES = {
    Relation.ADD_REMOVE: ("with the person", "without the person"),
    Relation.REPLACE: ("with the person", "with other data for the person"),
    Relation.CONCEAL: ("with the person", "with the person concealed"),
}


def audit(
    subject: Subject,
    *,
    runs: int = 100_000,
    error: float = 1e-3,
    workers: int = 1,
    progress: Progress | None = None,
    bound: bool = True,
    pace: Pace | None = None,
) -> Verdict:
    """Run the subject this many times, and return a lower bound of its ε at the δ it guarantees.

    A verdict is a finding with probability at most `error` when the guarantee holds. It stops early once it has one.
    Without `bound` it is only decided whether there is a finding: ε is then said to be at least 0, or just beyond what
    was guaranteed. `pace` limits the time: there are fewer runs where these would take longer.
    """
    check_runs(runs)
    check_error(error)
    pairs = list(subject.pairs())
    if not pairs or runs < RUNS_OF_A_PAIR * len(pairs):
        raise InvalidInput(
            f"A subject needs at least one pair of populations, and at least {RUNS_OF_A_PAIR} runs for each pair, "
            f"got {len(pairs):,} for {runs:,} runs. Pass other pairs, or more runs."
        )
    with workforce((subject, pairs), workers) as force:
        return _Audit(subject, pairs, force, progress, runs, pace or Pace(), bound).verdict(rounds(runs, error))


def check_runs(runs: int) -> None:
    """Refuse a number of runs from which nothing could be concluded."""
    if runs < LEAST_RUNS:
        raise InvalidInput(f"runs must be at least {LEAST_RUNS:,}, got {runs}. Pass for example 100000.")


def check_error(error: float) -> None:
    """Refuse a probability of error that is not between 0 and 0.5."""
    if not 0 < error < 0.5:
        raise InvalidInput(f"error must be between 0 and 0.5 (exclusive), got {error:g}. Pass for example 0.001.")


def _observe(subject_and_pairs: tuple[Subject, list[Pair]], task: Task) -> tuple[Task, Observed]:
    subject, pairs = subject_and_pairs
    pair = pairs[task.pair]
    return task, subject.observe(pair.fewer if task.side else pair.more, task.runs)


@dataclass
class _Audit:
    """State of a running audit."""

    subject: Subject
    pairs: list[Pair]
    force: Workforce[tuple[Task, Observed]]
    progress: Progress | None
    runs: int
    pace: Pace
    bound: bool
    spent: int = 0
    folds: dict[tuple[int, int, int], Fold] = field(default_factory=lambda: defaultdict(Fold))

    def verdict(self, schedule: list[Round]) -> Verdict:
        """Return the strongest of the rounds' bounds, which hold together."""
        offered: list[Event] = []
        best: Verdict | None = None
        left = sum(one.looking + one.judging for one in schedule)
        judged = 0
        for planned in schedule:
            if self.pace.fitting(planned.judging, left) < judged:
                # A round with fewer runs than the one before has nothing to add.
                break
            current = replace(planned, looking=self.pace.fitting(planned.looking, left))
            left -= planned.looking
            last = planned is schedule[-1]
            offered = self._look(current, ranked_pairs(offered)[:KEPT_PAIRS] if last else list(range(len(self.pairs))))
            judged = self.pace.fitting(planned.judging, left)
            current, left = replace(current, judging=judged), left - planned.judging
            event = max(offered, key=lambda one: one.promising)
            verdict = self._judge(current, event, sum(one.error for one in schedule))
            if best is None or verdict.epsilon_lower >= best.epsilon_lower:
                best = verdict
            if best.finding:
                break
        assert best is not None, "a schedule has rounds"
        return replace(best, runs=self.spent)

    def _look(self, current: Round, pairs: list[int]) -> list[Event]:
        """Run the pairs, and return the events that all that was seen suggests."""
        for task, seen in self._spend("looking", batches(pairs, current.looking, FOLDS)):
            self.folds[task.pair, task.side, task.fold] += Fold(task.runs, seen)
        known = {
            pair: ((self.folds[pair, 0, 0], self.folds[pair, 0, 1]), (self.folds[pair, 1, 0], self.folds[pair, 1, 1]))
            for pair in range(len(self.pairs))
        }
        return list(candidates(known, self.subject.guarantee.epsilon, self.subject.guarantee.delta))

    def _judge(self, current: Round, event: Event, error: float) -> Verdict:
        """Return the bound that fresh runs of the chosen pair alone give."""
        hits, runs = [0, 0], [0, 0]
        for task, seen in self._spend("judging", batches([event.pair], current.judging, 1)):
            hits[task.side] += event.hits(seen)
            runs[task.side] += task.runs
        counted = list(zip(hits, runs, strict=True))
        likely, unlikely = counted[event.likelier], counted[1 - event.likelier]
        guarantee = self.subject.guarantee
        counts = (likely, unlikely, guarantee.delta, current.error, guarantee.epsilon)
        beyond = 0.0 if self.bound or not refutes(*counts) else math.nextafter(guarantee.epsilon, math.inf)
        return Verdict(
            subject=self.subject.name,
            guarantee=guarantee,
            epsilon_lower=epsilon_lower(*counts) if self.bound else beyond,
            error=error,
            runs=self.spent,
            pair=self.pairs[event.pair].name,
            view=event.view,
            likelier=_SIDES[guarantee.relation][event.likelier],
            outcomes=tuple(sorted(event.outcomes)),
            likely=likely,
            unlikely=unlikely,
        )

    def _spend(self, phase: str, tasks: Iterable[Task]) -> Iterator[tuple[Task, Observed]]:
        """Yield what each of the tasks sees."""
        pending = list(tasks)
        with self.pace.measure(sum(task.runs for task in pending)):
            for task, observed in self.force(_observe, [(task,) for task in pending]):
                yield task, observed
                self.spent += task.runs
                if self.progress:
                    self.progress(phase, self.spent, self.runs)
