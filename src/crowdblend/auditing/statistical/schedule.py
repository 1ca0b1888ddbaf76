"""The schedule of an audit: three rounds, so that a badly broken guarantee is found early.

Every round first looks for an event and then judges it on fresh runs. Looking may use whatever was seen before; judging
never uses a run that took part in choosing. The rounds share the probability of error, so all their bounds hold
together except with that probability.

How many runs judge an event is settled before the first of them is made, by the clock and by runs before: what they
will show has no part in it, so that what is said about their number as a fixed one holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product

from crowdblend.frozen import dataclass

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
