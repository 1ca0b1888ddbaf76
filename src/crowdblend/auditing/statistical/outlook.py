"""What an audit can find with so many runs, said before it starts.

Two figures. The *smallest leak* follows from the runs alone: something that happens with one population and never with
the other is judged on N runs of each side, x of them refute the guarantee (by the very bound that judges), and a
probability p with P(Bin(N, p) ≥ x) = 95 % is seen that often. The *power* is about the subject: a few runs, which are
not used afterwards, look for the event that would refute half of ε, and as many others measure it. Its excess over that
claim, in standard deviations and less 1.645 of them for chance, grows with the root of the runs, and the normal law
says how likely the audit is to see it: at least so likely, with a confidence of 95 %.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crowdblend.auditing.statistical.bounds import refutes
from crowdblend.auditing.statistical.events import Fold, Side, best_event, candidates, excess
from crowdblend.auditing.statistical.run import LEAST_RUNS, RUNS_OF_A_PAIR, Progress, audit
from crowdblend.auditing.statistical.schedule import rounds
from crowdblend.auditing.statistical.subject import Observed, Pair, Subject
from crowdblend.auditing.statistical.verdict import Verdict
from crowdblend.errors import InvalidInput

SECONDS = 60.0
# How often a leak of the smallest size is found, at least.
FOUND = 0.95
# The part of the time, or of the runs, that goes into the outlook.
_SHARE = 1 / 16
# More runs than that take no part in an audit of one policy.
_MOST_RUNS = 10_000_000
# What is lost to starting processes and to waiting for the last of them.
_USEFUL = 0.8


@dataclass(frozen=True)
class Outlook:
    """How many runs there will be, how long they take, and what they can find.

    `smallest_leak` is how often something that never happens otherwise must happen to be found with 95 %; None when
    nothing can be found. `half_refuted` is how likely the audit is at least to refute a claim of half this ε.
    """

    runs: int
    seconds: float
    smallest_leak: float | None
    half_refuted: float

    def describe(self) -> str:
        """One line for people to read."""
        leak = (
            "cannot find any leak: delta allows all of them"
            if self.smallest_leak is None
            else f"finds what shows in at least {_one_in(self.smallest_leak)} releases of these made-up people and "
            f"never otherwise (with {100 * FOUND:.0f} %), and cannot see what is rarer or needs other people"
        )
        return (
            f"outlook      in about {_duration(self.seconds)} and {self.runs:,} releases this audit refutes an epsilon "
            f"understated by a factor 2 with probability {_at_least(self.half_refuted)}; it {leak}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return asdict(self)


def foresee(
    subject: Subject, *, runs: int | None = None, seconds: float | None = None, error: float = 1e-3, workers: int = 1
) -> Outlook:
    """What an audit of so many runs, or of so many seconds, can find; it runs the subject a little for that."""
    pairs = list(subject.pairs())
    least = max(LEAST_RUNS, RUNS_OF_A_PAIR * len(pairs))
    if runs is None:
        limit = SECONDS if seconds is None else seconds
        if not 0 < limit < math.inf:
            raise InvalidInput(f"seconds must be above 0, got {limit:g}. Pass for example 60.")
        tried = _Trial(subject, pairs).for_seconds(limit * _SHARE, least)
        runs = min(max(least, int((1 - _SHARE) * limit * workers * _USEFUL / tried.each)), _MOST_RUNS)
    else:
        tried = _Trial(subject, pairs).for_runs(max(least // 2, int(runs * _SHARE)))
    return Outlook(
        runs,
        tried.each * runs / (workers * (_USEFUL if workers > 1 else 1.0)),
        smallest_leak(runs, error, subject.guarantee.epsilon, subject.guarantee.delta),
        tried.half_refuted(runs, error),
    )


def audit_foreseen(
    subject: Subject,
    *,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    workers: int = 1,
    state: Path | None = None,
    progress: Progress | None = None,
    announce: Callable[[Outlook], None],
) -> Verdict:
    """Say what can be found, then look for it."""
    if state is not None and runs is None:
        raise InvalidInput(
            "An audit that may be interrupted needs a number of runs: how many fit into a time differs each time.",
            remedy="Pass --runs with --state.",
            where="--state",
            code="command.usage",
        )
    if not 0 < error < 0.5:
        raise InvalidInput(f"error must be between 0 and 0.5 (exclusive), got {error:g}. Pass for example 0.001.")
    outlook = foresee(subject, runs=runs, seconds=seconds, error=error, workers=workers)
    announce(outlook)
    return audit(subject, runs=outlook.runs, error=error, workers=workers, state=state, progress=progress)


def smallest_leak(runs: int, error: float, epsilon: float, delta: float) -> float | None:
    """How often something that never happens otherwise must happen to be found by the last round; None if never."""
    from scipy.special import betaincinv  # noqa: PLC0415  loaded only to test

    last = rounds(runs, error)[-1]
    trials = max(1, last.judging // 2)

    def refuted(hits: int) -> bool:
        return refutes((hits, trials), (0, trials), delta, last.error, epsilon)

    low, high = 0, trials
    if not refuted(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return float(betaincinv(high, trials - high + 1, FOUND))


class _Trial:
    """A few runs on every pair, in two folds, and how long they took."""

    def __init__(self, subject: Subject, pairs: list[Pair]) -> None:
        self._guarantee, self._subject, self._pairs = subject.guarantee, subject, pairs
        self._seen: dict[int, tuple[Side, Side]] = {}
        self._runs, self._spent, self._tried = 0, 0.0, 0

    def for_seconds(self, seconds: float, least: int) -> _Trial:
        """Runs for about that long; twice as many each time, since how long they take is not known."""
        each, started = max(1, least // (8 * len(self._pairs))), time.perf_counter()
        while True:
            self._add(each)
            if 6 * (time.perf_counter() - started) > seconds:
                return self
            each *= 2

    def for_runs(self, runs: int) -> _Trial:
        """So many runs."""
        self._add(max(1, runs // (8 * len(self._pairs))))
        return self

    @property
    def each(self) -> float:
        """Seconds for one run, without what is done once."""
        return max(self._spent / self._runs, 1e-7)

    def half_refuted(self, runs: int, error: float) -> float:
        """How likely so many runs are to refute half of ε."""
        last, epsilon, delta = rounds(runs, error)[-1], self._guarantee.epsilon / 2, self._guarantee.delta
        event = best_event(list(candidates(self._seen, epsilon, delta)))
        if not event.outcomes:
            return 0.0
        # As many runs as suggested the event measure it, all of them on its pair.
        each, pair = max(1, self._tried // 2), self._pairs[event.pair]
        here, there = (Fold(each, _counted(self._subject.observe(side, each))) for side in (pair.more, pair.fewer))
        seen = excess(event, (here, there), epsilon, delta) - _quantile(1 - FOUND)
        return _normal(seen * math.sqrt(last.judging / 2 / each) - _quantile(last.error))

    def _add(self, each: int) -> None:
        together = getattr(self._subject, "together", 1)
        self._tried += 4 * each * len(self._pairs)
        for number, pair in enumerate(self._pairs):
            found = []
            for population in (pair.more, pair.fewer):
                started = time.perf_counter()
                self._subject.observe(population, 1)
                made = time.perf_counter()
                found.append(tuple(Fold(each, _counted(self._subject.observe(population, each))) for _ in (0, 1)))
                # Where runs are made together, the first one pays for all; else the first one makes up the people.
                if together == 1:
                    self._spent, self._runs = self._spent + time.perf_counter() - made, self._runs + 2 * each
                elif number not in self._seen:
                    self._spent, self._runs = self._spent + made - started, self._runs + together
            sides = (found[0], found[1])
            if number in self._seen:
                sides = tuple(  # type: ignore[assignment]
                    (known[0] + new[0], known[1] + new[1]) for known, new in zip(self._seen[number], sides, strict=True)
                )
            self._seen[number] = sides  # type: ignore[assignment]


def _counted(observed: Observed) -> dict[str, Counter[str]]:
    return {view: Counter(outcomes) for view, outcomes in observed.items()}


def _normal(deviations: float) -> float:
    return 0.5 * math.erfc(-deviations / math.sqrt(2))


def _quantile(error: float) -> float:
    """How many standard deviations are exceeded with this probability."""
    from scipy.special import ndtri  # noqa: PLC0415  loaded only to test

    return float(-ndtri(error))


def _at_least(power: float) -> str:
    return f"of at least {5 * math.floor(20 * power)} %" if power >= 0.05 else "that may be under 5 %"


def _one_in(share: float) -> str:
    return f"{100 * share:.0f} % of" if share > 0.1 else f"1 of {math.floor(1 / share):,}"


def _duration(seconds: float) -> str:
    return f"{math.ceil(seconds)} s" if seconds < 120 else f"{math.ceil(seconds / 60):,} min"
