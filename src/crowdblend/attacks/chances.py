"""How likely the attacker's event is: computed, or seen in so many runs of the real code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from crowdblend.errors import InvalidInput

# A trial compares four one-sided bounds, so a sound release is called broken at most once in a million times.
DOUBT = 2.5e-7


@dataclass(frozen=True)
class Chance:
    """A probability, between `low` and `high` for sure (computed) or but for a chance of DOUBT each (seen)."""

    value: Fraction | float
    low: Fraction | float
    high: Fraction | float
    runs: int | None = None

    @property
    def standard_error(self) -> float:
        """Of a frequency; 0 when the chance was computed."""
        value = float(self.value)
        return math.sqrt(value * (1 - value) / self.runs) if self.runs else 0.0


def computed(value: Fraction | float) -> Chance:
    """A chance that is known."""
    if not 0 <= value <= 1:
        raise InvalidInput(f"a chance must be between 0 and 1, got {float(value):g}. Check its formula.")
    return Chance(value, value, value)


def seen(times: int, runs: int) -> Chance:
    """A chance that was observed, with its Clopper–Pearson bounds.

    >>> seen(0, 1_000).high < 0.0152, seen(500, 1_000).low > 0.41
    (True, True)
    """
    from scipy.special import betaincinv  # noqa: PLC0415  only runs need it

    if not 0 <= times <= runs or runs < 1:
        raise InvalidInput(f"an event must be seen between 0 and {runs} times in {runs} runs, got {times}.")
    low = float(betaincinv(times, runs - times + 1, DOUBT)) if times else 0.0
    high = float(betaincinv(times + 1, runs - times, 1 - DOUBT)) if times < runs else 1.0
    return Chance(Fraction(times, runs), low, high, runs)
