"""How the runs of an audit are spent: in three rounds, so that a guarantee that is far off is found early.

Every round first looks for an event and then judges it on fresh runs. Looking may use whatever was seen before; judging
never uses a run that took part in choosing. The rounds share the probability of error, so all their bounds hold
together except with that probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BATCH = 500
FOLDS = 2


@dataclass(frozen=True)
class Round:
    """A part of the runs, and of the error."""

    number: int
    looking: int
    judging: int
    error: float


@dataclass(frozen=True, order=True)
class Task:
    """A batch of runs on one side of one pair.

    `judging` names the event that is judged, if any. While looking, runs go into two folds, so that what one of them
    suggests can be tried on the other.
    """

    round: int
    judging: str
    pair: int
    side: int
    fold: int = 0
    batch: int = 0
    runs: int = 0

    @property
    def bucket(self) -> str:
        """Where what is seen is put: the batches of a side together."""
        return f"{self.round} {self.judging or 'looking'} {self.pair} {self.side} {self.fold}"


def rounds(runs: int, error: float) -> list[Round]:
    """One, three and twelve sixteenths of the runs, with one, one and two quarters of the error."""
    parts = []
    for number, (share, risk) in enumerate([(1, 1), (3, 1), (12, 2)]):
        part = runs * share // 16
        parts.append(Round(number, part // 2, part - part // 2, error * risk / 4))
    return parts


def batches(of: Round, judging: str, pairs: list[int], runs: int) -> Iterator[Task]:
    """The runs spread evenly over both sides of some pairs."""
    folds = 1 if judging else FOLDS
    each = max(1, runs // (2 * len(pairs) * folds))
    for pair in pairs:
        for side in (0, 1):
            for fold in range(folds):
                for batch, start in enumerate(range(0, each, BATCH)):
                    yield Task(of.number, judging, pair, side, fold, batch, min(BATCH, each - start))
