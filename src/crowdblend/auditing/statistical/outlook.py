"""What an audit can find with so many runs, said before it starts.

Two figures. The *smallest leak* follows from the runs alone: something that happens with one population and never with
the other is judged on N runs of each side, x of them refute the guarantee (by the very bound that judges), and a
probability p with P(Bin(N, p) ≥ x) = 95 % is seen that often. The *power* is about the subject: a few runs, which are
not used afterwards, look for the event that would refute half of ε, and others measure it. The largest excess over
that claim that their counts prove, by the bound that judges and with a confidence of 95 %, grows with the root of the
runs when it is counted in standard deviations, and the normal law says how likely the audit is at least to see it. An
estimate instead of a bound would be worth little: these runs are few.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.auditing.statistical.bounds import refutes
from crowdblend.auditing.statistical.events import Fold, Sides, added, best_event, candidates, ranked_pairs, spread
from crowdblend.auditing.statistical.run import KEPT_PAIRS, LEAST_RUNS, RUNS_OF_A_PAIR, Progress, audit, check_error
from crowdblend.auditing.statistical.schedule import Clock, Pace, rounds
from crowdblend.auditing.statistical.subject import Pair, Subject
from crowdblend.auditing.statistical.verdict import Verdict
from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    from scipy import special
else:
    special = lazy("scipy.special")

SECONDS = 60.0
# How often a leak of the smallest size is found, at least.
FOUND = 0.95
# The part of the time, or of the runs, that goes into the outlook.
_SHARE = 1 / 16
# More runs than that take no part in an audit of one policy.
_MOST_RUNS = 10_000_000
# So many runs at least tell how long one takes.
_TIMED = 4
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
    subject: Subject,
    *,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    workers: int = 1,
    clock: Clock = time.perf_counter,
) -> Outlook:
    """What an audit of so many runs, or of so many seconds, can find; it runs the subject a little for that."""
    pairs = list(subject.pairs())
    least = max(LEAST_RUNS, RUNS_OF_A_PAIR * len(pairs))
    if runs is None:
        limit = SECONDS if seconds is None else seconds
        if not 0 < limit < math.inf:
            raise InvalidInput(f"seconds must be above 0, got {limit:g}. Pass for example 60.")
        started = clock()
        tried = _Trial(subject, pairs, clock).for_seconds(limit * _SHARE, least)
        left = max(0.0, limit - (clock() - started) - tried.made_up(workers))
        runs = min(max(least, int(left * workers * _USEFUL / tried.each)), _MOST_RUNS)
    else:
        tried = _Trial(subject, pairs, clock).for_runs(max(least // 2, int(runs * _SHARE)))
    return Outlook(
        runs,
        tried.made_up(workers) + tried.each * runs / (workers * (_USEFUL if workers > 1 else 1.0)),
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
    clock: Clock = time.perf_counter,
) -> Verdict:
    """Say what can be found, then look for it."""
    if state is not None and runs is None:
        raise InvalidInput(
            "An audit that may be interrupted needs a number of runs: how many fit into a time differs each time.",
            remedy="Pass --runs with --state.",
            where="--state",
            code="command.usage",
        )
    check_error(error)
    started = clock()
    outlook = foresee(subject, runs=runs, seconds=seconds, error=error, workers=workers, clock=clock)
    announce(outlook)
    left = None if runs is not None else (seconds or SECONDS) - (clock() - started)
    pace = Pace(left, outlook.seconds / outlook.runs, clock)
    return audit(subject, runs=outlook.runs, error=error, workers=workers, state=state, progress=progress, pace=pace)


def smallest_leak(runs: int, error: float, epsilon: float, delta: float) -> float | None:
    """How often something that never happens otherwise must happen to be found by the last round; None if never."""
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
    return float(special.betaincinv(high, trials - high + 1, FOUND))


class _Trial:
    """A few runs on every pair, in two folds, and how long they took."""

    def __init__(self, subject: Subject, pairs: list[Pair], clock: Clock) -> None:
        self._guarantee, self._subject, self._pairs, self._clock = subject.guarantee, subject, pairs, clock
        self._seen: dict[int, Sides] = {}
        self._tried = 0
        # By how much an event exceeds half of ε at least, and the standard deviation of that in one run of each side.
        self._excess, self._spread = 0.0, 1.0
        self._first = {number: self._made_up(pair) for number, pair in enumerate(pairs)}
        self._large, self.each = 0.0, math.nan

    def for_seconds(self, seconds: float, least: int) -> _Trial:
        """Runs for about that long; twice as many each time, since how long they take is not known."""
        self._time_batches(seconds / 4)
        each, started = max(1, least // (8 * len(self._pairs))), self._clock()
        while True:
            self._add(each)
            if 9 * (self._clock() - started) > seconds:
                return self._judged()
            each *= 2

    def for_runs(self, runs: int) -> _Trial:
        """So many runs."""
        self._time_batches(0.0)
        self._add(max(1, runs // (12 * len(self._pairs))))
        return self._judged()

    def made_up(self, workers: int) -> float:
        """Seconds until the populations of an audit are made up: each process makes its own, and one has them."""
        return 0.0 if workers == 1 else sum(self._first.values()) + self._large * min(2 * KEPT_PAIRS, len(self._pairs))

    def _made_up(self, pair: Pair) -> float:
        """Seconds for the first run of both sides."""
        started = self._clock()
        for population in (pair.more, pair.fewer):
            self._subject.observe(population, 1)
        return self._clock() - started

    def _time_batches(self, seconds: float) -> None:
        """Seconds for the first large batch of a pair, where runs are made together, and for one run after it."""
        runs, done = max(_TIMED, getattr(self._subject, "together", 1)), 0
        started = self._clock()
        self._subject.observe(self._pairs[0].more, runs)
        made = self._clock()
        while not done or self._clock() - made < seconds:
            self._subject.observe(self._pairs[0].more, runs)
            done += runs
        self.each = max((self._clock() - made) / done, 1e-7)
        self._large = max(0.0, 2 * (made - started - runs * self.each))

    def half_refuted(self, runs: int, error: float) -> float:
        """How likely so many runs are at least to refute half of ε."""
        last = rounds(runs, error)[-1]
        deviations = self._excess / self._spread * math.sqrt(last.judging / 2)
        return float(special.ndtr(deviations + special.ndtri(last.error)))

    def _judged(self) -> _Trial:
        """As many runs again on the most promising pairs suggest an event against half of ε, as many measure it."""
        epsilon, delta = self._guarantee.epsilon / 2, self._guarantee.delta
        tried, best = self._tried, ranked_pairs(list(candidates(self._seen, epsilon, delta)))[:KEPT_PAIRS]
        self._add(max(1, tried // (4 * len(best))), best)
        event = best_event(list(candidates(self._seen, epsilon, delta)))
        if event.outcomes:
            runs, pair = max(1, tried // 2), self._pairs[event.pair]
            hits = [event.hits(self._subject.observe(side, runs)) for side in (pair.more, pair.fewer)]
            likely, unlikely = (hits[event.likelier], runs), (hits[1 - event.likelier], runs)
            self._excess = least_excess(likely, unlikely, epsilon, delta)
            self._spread = spread(likely, unlikely, epsilon)
        return self

    def _add(self, each: int, some: Sequence[int] | None = None) -> None:
        chosen = range(len(self._pairs)) if some is None else some
        self._tried += 4 * each * len(chosen)
        for number in chosen:
            pair = self._pairs[number]
            one, two, three, four = (
                Fold(each, self._subject.observe(population, each))
                for population in (pair.more, pair.more, pair.fewer, pair.fewer)
            )
            self._seen[number] = added(self._seen.get(number), ((one, two), (three, four)))


def least_excess(likely: tuple[int, int], unlikely: tuple[int, int], epsilon: float, delta: float) -> float:
    """The largest excess, if any above 0, that these counts prove except with 5 %."""
    low, high = 0.0, 1 - delta
    if not refutes(likely, unlikely, delta, 1 - FOUND, epsilon):
        return 0.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if refutes(likely, unlikely, delta + middle, 1 - FOUND, epsilon) else (low, middle)
    return low


def _at_least(power: float) -> str:
    return f"of at least {min(99, 5 * math.floor(20 * power))} %" if power >= 0.05 else "that may be under 5 %"


def _one_in(share: float) -> str:
    return f"{100 * share:.0f} % of" if share > 0.1 else f"1 of {math.floor(1 / share):,}"


def _duration(seconds: float) -> str:
    return f"{math.ceil(seconds)} s" if seconds < 120 else f"{math.ceil(seconds / 60):,} min"
