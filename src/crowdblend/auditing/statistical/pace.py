"""How many runs of an audit still fit into its time.

How many runs judge an event is settled before the first of them is made, by the clock and by runs before: what they
will show has no part in it, so that what is said about their number as a fixed one holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Seconds since some moment.
Clock = Callable[[], float]
# What one run was expected to take counts as much as so many that were timed.
_EXPECTED = 100


class Pace:
    """Seconds that are left, and seconds for a run: at first as expected, then as measured; without limit unless given.

    The first runs are not measured, because processes start and people are made up in them.
    """

    def __init__(self, seconds: float | None = None, each: float = 0.0, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._deadline = None if seconds is None else clock() + seconds
        self._runs, self._spent, self._first = _EXPECTED, _EXPECTED * each, True

    def fitting(self, runs: int, left: int) -> int:
        """So many of these runs as leave time for the others, if `left` are planned from here on."""
        if self._deadline is None:
            return runs
        fits = max(0.0, self._deadline - self._clock()) * self._runs / max(self._spent, 1e-9)
        return min(runs, int(runs * fits / left))

    @contextmanager
    def measured(self, runs: int) -> Iterator[None]:
        """Take the time of so many runs."""
        started = self._clock()
        yield
        if not self._first:
            self._runs, self._spent = self._runs + runs, self._spent + self._clock() - started
        self._first = False
