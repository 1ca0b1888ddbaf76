"""One event, in two worlds that differ in one person, under one release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from crowdblend.attacks.chances import Chance, seen
from crowdblend.numerics.balls import precision


@dataclass(frozen=True)
class Bound:
    """What an (ε, δ) guarantee allows the attacker, in words that say whose guarantee it is.

    For every event P[event | one world] ≤ e^ε·P[event | other world] + δ, both ways round. Whoever guesses between
    two equally likely worlds is then right at most (e^ε + δ)/(e^ε + 1) of the time: adding up "right in one world ≤
    e^ε·wrong in the other + δ" for both worlds gives a + b ≤ e^ε(2 − a − b) + 2δ, a and b the chances of being right.
    """

    epsilon: float
    delta: float
    source: str = ""

    def allows(self, otherwise: Fraction | float) -> float:
        """The largest chance of an event that has this chance in the other world: the event and its opposite count."""
        growth, other = math.exp(self.epsilon), float(otherwise)
        return min(1.0, growth * other + self.delta, 1 - (1 - other - self.delta) / growth)

    @property
    def advantage(self) -> float:
        """The largest difference between the chances of an event in the two worlds."""
        growth = math.exp(self.epsilon)
        return min(1.0, (growth - 1 + 2 * self.delta) / (growth + 1))

    def surely_broken(self, one: Pair) -> bool:
        """Whether the two chances contradict the guarantee, whatever they are within their bounds."""
        return any(
            self._exceeded(*chances)
            for chances in (
                (one.hit.low, one.miss.high),
                (one.miss.low, one.hit.high),
                (1 - one.miss.high, 1 - one.hit.low),
                (1 - one.hit.high, 1 - one.miss.low),
            )
        )

    def _exceeded(self, chance: Fraction | float, otherwise: Fraction | float) -> bool:
        """Whether chance > e^ε·otherwise + δ, in balls: a tie is no contradiction."""
        with precision(256):
            return bool(_ball(chance) > arb(self.epsilon).exp() * _ball(otherwise) + arb(self.delta))


@dataclass(frozen=True)
class Pair:
    """The chance of the event if it is true what the attacker asks, and if it is not."""

    hit: Chance
    miss: Chance

    @property
    def advantage(self) -> float:
        """How far the two chances lie apart: 0 tells nothing, 1 tells everything."""
        return float(self.hit.value) - float(self.miss.value)

    @property
    def standard_error(self) -> float:
        """Of the advantage."""
        return math.hypot(self.hit.standard_error, self.miss.standard_error)

    @property
    def right(self) -> float:
        """How often a guess is right when both worlds are equally likely."""
        return (1 + self.advantage) / 2


def in_runs(runs: int, counts: Callable[[bool], int]) -> Pair | None:
    """How often the event was seen in so many runs of either world; `counts` runs one of them and counts."""
    return Pair(seen(counts(True), runs), seen(counts(False), runs)) if runs else None


@dataclass(frozen=True)
class Trial:
    """An attack on one release: what the attacker gets by computation and in runs, and what was guaranteed."""

    release: str
    ours: bool
    bound: Bound | None
    exact: Pair | None
    runs: Pair | None = None

    def exceeds(self, bound: Bound) -> bool:
        """Whether either number contradicts a guarantee."""
        return any(bound.surely_broken(pair) for pair in (self.exact, self.runs) if pair is not None)

    @property
    def as_computed(self) -> bool:
        """Whether the code did what was computed of it, as far as both are known.

        An event that a guarantee allows says little about the code: it may be as likely when nothing is suppressed.
        """
        if self.exact is None or self.runs is None:
            return True
        both = ((self.exact.hit, self.runs.hit), (self.exact.miss, self.runs.miss))
        return all(ran.low <= known.value <= ran.high for known, ran in both)

    @property
    def best(self) -> Pair:
        """The computed number where there is one."""
        pair = self.exact if self.exact is not None else self.runs
        assert pair is not None, "a trial has a number"
        return pair

    def to_dict(self) -> dict[str, Any]:
        """The trial as JSON-ready data."""
        document: dict[str, Any] = {"release": self.release, "ours": self.ours}
        if self.bound is not None:
            document["guarantee"] = {
                "epsilon": self.bound.epsilon,
                "delta": self.bound.delta,
                "source": self.bound.source,
            }
            document["allowed"] = self.bound.allows(self.best.miss.value)
            document["allowed_advantage"] = self.bound.advantage
        for name, pair in (("exact", self.exact), ("seen", self.runs)):
            if pair is not None:
                document[name] = _pair(pair)
        return document


def _pair(pair: Pair) -> dict[str, Any]:
    document: dict[str, Any] = {
        "with": float(pair.hit.value),
        "without": float(pair.miss.value),
        "advantage": pair.advantage,
        "right": pair.right,
        "standard_error": pair.standard_error,
    }
    if pair.hit.runs:
        document |= {"runs": pair.hit.runs, "with_between": [float(pair.hit.low), float(pair.hit.high)]}
        document |= {"without_between": [float(pair.miss.low), float(pair.miss.high)]}
    return document


def _ball(chance: Fraction | float) -> arb:
    return arb(fmpq(*chance.as_integer_ratio()))
