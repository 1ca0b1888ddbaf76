"""The power of an audit with a given number of runs, stated before it starts.

Two figures. The *smallest leak* follows from the runs alone: something that happens with one population and never with
the other is judged on N runs of each side, x of them refute the guarantee (by the bound that judges), and a
probability p with P(Bin(N, p) ≥ x) = 95 % is seen that often. The *power* is about the subject: a short audit of half
of ε, whose runs are not used afterwards, looks for an event and measures it. The largest excess over that claim that
its counts prove, by the bound that judges and with a confidence of 95 %, grows with the root of the runs when it is
counted in standard deviations, and the normal law says how likely the audit is at least to see it. An estimate instead
of a bound would be worth little: these runs are few.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.lab.auditing.statistical.bounds import refutes
from crowdblend.lab.auditing.statistical.events import spread
from crowdblend.lab.auditing.statistical.run import (
    KEPT_PAIRS,
    LEAST_RUNS,
    RUNS_OF_A_PAIR,
    Clock,
    Pace,
    Progress,
    Round,
    Verdict,
    audit,
    check_error,
    check_runs,
    rounds,
)
from crowdblend.lab.auditing.statistical.subject import Subject
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from scipy import special

SECONDS = 60.0
# How often a leak of the smallest size is found, at least.
FOUND = 0.95
# The part of the time, or of the runs, that goes into the outlook.
_SHARE = 1 / 16
# More runs than that take no part in an audit of one policy.
_MOST_RUNS = 10_000_000
# This many runs at least tell how long one takes.
_TIMED = 4
# The pilot is to measure an event, and not to stop at a finding.
_NEVER = 1e-12
# What is lost to starting processes and to waiting for the last of them.
_USEFUL = 0.8


@dataclass(frozen=True)
class Outlook:
    """The number of runs, the time they take, and the leaks they can find.

    `smallest_leak` is how often something that never happens otherwise must happen to be found with 95 %; None when
    nothing can be found. `half_refuted` is how likely the audit is at least to refute a claim of half this ε.
    """

    runs: int
    seconds: float
    smallest_leak: float | None
    half_refuted: float

    def describe(self) -> str:
        """One line for people to read."""
        leak, power = "cannot find any leak: delta allows all of them", "that may be under 5 %"
        if (share := self.smallest_leak) is not None:
            often = f"{100 * share:.0f} % of" if share > 0.1 else f"1 of {math.floor(1 / share):,}"
            leak = (
                f"finds what shows in at least {often} releases of these made-up people and never otherwise (with "
                f"{100 * FOUND:.0f} %), and cannot see what is rarer or needs other people"
            )
        if self.half_refuted >= 0.05:
            power = f"of at least {min(99, 5 * math.floor(20 * self.half_refuted))} %"
        minutes = self.seconds >= 120
        time = f"{math.ceil(self.seconds / 60):,} min" if minutes else f"{math.ceil(self.seconds)} s"
        return (
            f"outlook      in about {time} and {self.runs:,} releases this audit refutes an epsilon understated by a "
            f"factor 2 with probability {power}; it {leak}"
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
    """Return what an audit of this many runs or seconds can find, after a few trial runs."""
    limit = SECONDS if seconds is None else seconds
    if not 0 < limit < math.inf:
        raise InvalidInput(f"seconds must be above 0, got {limit:g}. Pass for example 60.")
    if runs is not None:
        check_runs(runs)
    started, pairs = clock(), list(subject.pairs())
    least = max(LEAST_RUNS, RUNS_OF_A_PAIR * len(pairs))
    sides = [side for pair in pairs for side in (pair.more, pair.fewer)]
    made_up = _seconds(clock, lambda: [subject.observe(side, 1) for side in sides])
    # The first batch is made up, where runs are made together; those after it say how long one run takes.
    together = max(_TIMED, getattr(subject, "together", 1))
    first, again = (_seconds(clock, lambda: subject.observe(pairs[0].more, together)) for _ in range(2))
    each = max(again / together, 1e-7)
    # Each process makes its own populations, and one has them.
    large = max(0.0, first - again) * 2 * min(2 * KEPT_PAIRS, len(pairs))
    starting = 0.0 if workers == 1 else made_up + large
    useful = workers * (_USEFUL if workers > 1 else 1.0)
    tried = max(least, int((limit * _SHARE / each) if runs is None else runs * _SHARE))
    pace = Pace(limit * _SHARE if runs is None else None, each, clock)
    pilot = audit(_HalfClaim(subject), runs=tried, error=_NEVER, bound=False, pace=pace)
    if runs is None:
        left = max(0.0, limit - (clock() - started) - starting)
        runs = min(max(least, int(left * workers * _USEFUL / each)), _MOST_RUNS)
    guarantee = subject.guarantee
    leak = smallest_leak(runs, error, guarantee.epsilon, guarantee.delta)
    return Outlook(runs, starting + each * runs / useful, leak, _power(pilot, rounds(runs, error)[-1]))


def _seconds(clock: Clock, work: Callable[[], object]) -> float:
    started = clock()
    work()
    return clock() - started


class _HalfClaim:
    """A subject that claims half of its ε."""

    def __init__(self, subject: Subject) -> None:
        self.name, self.pairs, self.observe = subject.name, subject.pairs, subject.observe
        self.guarantee = replace(subject.guarantee, epsilon=subject.guarantee.epsilon / 2)


def _power(pilot: Verdict, last: Round) -> float:
    """Return how likely the last round is at least to refute the claim, by the excess that a pilot proves."""
    likely, unlikely, claim = pilot.likely, pilot.unlikely, pilot.guarantee
    excess = least_excess(likely, unlikely, claim.epsilon, claim.delta)
    deviations = excess / spread(likely, unlikely, claim.epsilon) * math.sqrt(last.judging / 2)
    return float(special.ndtr(deviations + special.ndtri(last.error)))


def audit_foreseen(
    subject: Subject,
    *,
    runs: int | None = None,
    seconds: float | None = None,
    error: float = 1e-3,
    workers: int = 1,
    progress: Progress | None = None,
    announce: Callable[[Outlook], None],
    clock: Clock = time.perf_counter,
) -> Verdict:
    """Say what can be found, then look for it."""
    check_error(error)
    started = clock()
    outlook = foresee(subject, runs=runs, seconds=seconds, error=error, workers=workers, clock=clock)
    announce(outlook)
    left = None if runs is not None else (seconds or SECONDS) - (clock() - started)
    pace = Pace(left, outlook.seconds / outlook.runs, clock)
    return audit(subject, runs=outlook.runs, error=error, workers=workers, progress=progress, pace=pace)


def smallest_leak(runs: int, error: float, epsilon: float, delta: float) -> float | None:
    """Return the smallest probability of a leak that the last round finds; None if there is none."""
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


def least_excess(likely: tuple[int, int], unlikely: tuple[int, int], epsilon: float, delta: float) -> float:
    """Return the largest excess, if any above 0, that these counts prove except with 5 %."""
    low, high = 0.0, 1 - delta
    if not refutes(likely, unlikely, delta, 1 - FOUND, epsilon):
        return 0.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if refutes(likely, unlikely, delta + middle, 1 - FOUND, epsilon) else (low, middle)
    return low
