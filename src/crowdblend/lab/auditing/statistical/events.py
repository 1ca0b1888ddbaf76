"""The event that looks most damning, chosen on runs that are not used to judge it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crowdblend.lab.auditing.statistical.subject import Observed

# Rarer outcomes are seen again too seldom to be worth betting on.
_LEAST_SEEN = 4
_MOST_OUTCOMES = 5_000
# No runs tell a larger ε from this one.
_LARGEST = 300.0


@dataclass(frozen=True)
class Fold:
    """The outcomes of some runs on one side of a pair."""

    runs: int = 0
    seen: Observed = field(default_factory=dict)

    def __add__(self, other: Fold) -> Fold:
        both = {view: Counter(self.seen.get(view, {})) for view in sorted({*self.seen, *other.seen})}
        for view, outcomes in other.seen.items():
            both[view].update(outcomes)
            if len(both[view]) > _MOST_OUTCOMES:
                # Outcomes that hardly ever come back choose no event.
                both[view] = Counter(dict(both[view].most_common(_MOST_OUTCOMES // 2)))
        return Fold(self.runs + other.runs, both)


# Both sides of a pair, each in two folds.
Sides = tuple[tuple[Fold, Fold], tuple[Fold, Fold]]


@dataclass(frozen=True)
class Event:
    """A set of outcomes on one pair; `likelier` is the side that has them more often.

    `promising` is its excess over the guarantee, in standard deviations, on runs that did not suggest it.
    """

    pair: int
    view: str
    likelier: int
    outcomes: frozenset[str]
    promising: float

    def hits(self, observation: Observed) -> int:
        """Return the number of times the event happened."""
        return sum(count for outcome, count in observation.get(self.view, {}).items() if outcome in self.outcomes)


def ranked_pairs(candidates: Sequence[Event]) -> list[int]:
    """Return the pairs, the most promising one first."""
    best: dict[int, float] = {}
    for event in candidates:
        best[event.pair] = max(best.get(event.pair, -math.inf), event.promising)
    return sorted(best, key=lambda pair: -best[pair])


def spread(likely: tuple[int, int], unlikely: tuple[int, int], epsilon: float) -> float:
    """The standard deviation in one run of each side of the excess, as (hits, trials) suggest."""
    (x, n), (y, m), growth = likely, unlikely, math.exp(min(epsilon, _LARGEST))
    p, q = (x + 0.5) / (n + 1), (y + 0.5) / (m + 1)
    return math.sqrt(p * (1 - p) + growth**2 * q)


def candidates(outcomes: Mapping[int, Sides], epsilon: float, delta: float) -> Iterator[Event]:
    """An event for each pair, view and direction: what one fold suggests, valued by what the other fold makes of it."""
    for pair, sides in outcomes.items():
        for likelier in (0, 1):
            here, there = sides[likelier], sides[1 - likelier]
            both = _Comparison(here[0] + here[1], there[0] + there[1], epsilon, delta)
            one, other = (_Comparison(here[fold], there[fold], epsilon, delta) for fold in (0, 1))
            for view in both.views:
                promising = (other.excess(view, one.best(view)) + one.excess(view, other.best(view))) / math.sqrt(2)
                yield Event(pair, view, likelier, both.best(view), promising)


@dataclass(frozen=True)
class _Comparison:
    """The side on which an event should be likely, next to the side on which it should not."""

    here: Fold
    there: Fold
    epsilon: float
    delta: float

    @property
    def views(self) -> list[str]:
        return sorted(self.here.seen)

    def best(self, view: str) -> frozenset[str]:
        """Outcomes in order of their likelihood ratio; one of the initial runs of that order is the best event."""
        here, there = (Counter(fold.seen.get(view, {})) for fold in (self.here, self.there))
        known = sorted(outcome for outcome, count in here.items() if count + there[outcome] >= _LEAST_SEEN)
        if not known:
            return frozenset()
        hits = np.array([[here[outcome], there[outcome]] for outcome in known], float)
        order = np.argsort(-(hits[:, 0] + 0.5) / (hits[:, 1] + 0.5), kind="stable")
        likely, unlikely = np.cumsum(hits[order], axis=0).T
        best = int(np.argmax(self._deviations(likely, unlikely)))
        return frozenset(known[place] for place in order[: best + 1])

    def excess(self, view: str, event: frozenset[str]) -> float:
        """Return by how many standard deviations an event exceeds the guarantee."""
        if not event or not self.here.runs or not self.there.runs:
            return -math.inf
        likely, unlikely = (
            sum(fold.seen.get(view, {}).get(outcome, 0) for outcome in event) for fold in (self.here, self.there)
        )
        return float(self._deviations(np.array([likely], float), np.array([unlikely], float))[0])

    def _deviations(self, likely: NDArray[np.float64], unlikely: NDArray[np.float64]) -> NDArray[np.float64]:
        n, m = self.here.runs, self.there.runs
        p, q, growth = likely / n, unlikely / m, math.exp(min(self.epsilon, _LARGEST))
        # Half a hit more on both sides, so that what was never seen is not taken for impossible.
        spread = np.sqrt((p * (1 - p) + 0.5 / n) / n + growth**2 * (q + 0.5 / m) / m)
        deviations: NDArray[np.float64] = (p - growth * q - self.delta) / spread
        return deviations
