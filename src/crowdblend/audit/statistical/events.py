"""The event that looks most damning, chosen on runs that are not used to judge it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

# Rarer outcomes are seen again too seldom to be worth betting on.
_LEAST_SEEN = 8


@dataclass(frozen=True)
class Side:
    """What was seen on one side of a pair."""

    runs: int
    seen: Mapping[str, Counter[str]]


@dataclass(frozen=True)
class Event:
    """Some outcomes of one way of looking, on one pair; `likelier` is the side that has them more often."""

    pair: int
    view: str
    likelier: int
    outcomes: frozenset[str]
    promising: float

    @property
    def id(self) -> str:
        """A short name that no other event has."""
        spelled = repr((self.pair, self.view, self.likelier, sorted(self.outcomes)))
        return blake2b(spelled.encode(), digest_size=8).hexdigest()

    def hits(self, seen: Mapping[str, Mapping[str, int]]) -> int:
        """How often the event happened."""
        return sum(count for outcome, count in seen.get(self.view, {}).items() if outcome in self.outcomes)


def best_event(observed: Mapping[int, tuple[Side, Side]], epsilon: float, delta: float) -> Event:
    """The event with the largest estimated excess over the promise, in standard deviations."""
    return max(_candidates(observed, epsilon, delta), key=lambda event: event.promising)


def ranked_pairs(observed: Mapping[int, tuple[Side, Side]], epsilon: float, delta: float) -> list[int]:
    """The pairs, the most promising one first."""
    best: dict[int, float] = {}
    for event in _candidates(observed, epsilon, delta):
        best[event.pair] = max(best.get(event.pair, -math.inf), event.promising)
    return sorted(best, key=lambda pair: -best[pair])


def _candidates(observed: Mapping[int, tuple[Side, Side]], epsilon: float, delta: float) -> Iterator[Event]:
    for pair, sides in observed.items():
        for likelier in (0, 1):
            here, there = sides[likelier], sides[1 - likelier]
            for view in sorted(here.seen):
                outcomes, promising = _best_of_view(
                    here.seen[view], here.runs, there.seen.get(view, Counter()), there.runs, epsilon, delta
                )
                yield Event(pair, view, likelier, outcomes, promising)


def _best_of_view(
    here: Counter[str], n: int, there: Counter[str], m: int, epsilon: float, delta: float
) -> tuple[frozenset[str], float]:
    """Outcomes in order of their likelihood ratio; one of the initial runs of that order is the best event."""
    known = sorted(outcome for outcome, count in here.items() if count + there[outcome] >= _LEAST_SEEN)
    if not known or not n or not m:
        return frozenset(), -math.inf
    hits = np.array([[here[outcome], there[outcome]] for outcome in known], float)
    order = np.argsort(-(hits[:, 0] + 0.5) / (hits[:, 1] + 0.5), kind="stable")
    p, q = (np.cumsum(hits[order], axis=0) / (n, m)).T
    growth = math.exp(min(epsilon, 500.0))
    # Half a hit more on both sides, so that what was never seen is not taken for impossible.
    spread = np.sqrt((p * (1 - p) + 0.5 / n) / n + growth**2 * (q + 0.5 / m) / m)
    promising = (p - growth * q - delta) / spread
    best = int(np.argmax(promising))
    return frozenset(known[place] for place in order[: best + 1]), float(promising[best])
