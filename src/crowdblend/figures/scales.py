"""From numbers to places and shades."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache

from crowdblend.figures.style import SHADES

MOST_STEPS = 7


@dataclass(frozen=True)
class Linear:
    """Numbers between `low` and `high` to places between `start` and `end`; equal ends put everything at the start."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a number lies.

        >>> Linear(0, 10, 100, 200).place(2.5)
        125.0
        """
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 and math.isfinite(span) else 0.0
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True)
class Shade:
    """Darker for more: shades between two numbers, in proportion to the logarithm where `log`."""

    low: float
    high: float
    log: bool

    @lru_cache(maxsize=1 << 13)  # a map is drawn twice, and a phone's has the same shades  # noqa: B019
    def color(self, value: float) -> str:
        """The colour of a number.

        >>> Shade(0, 1, log=False).color(0), Shade(1, 100, log=True).color(100)
        ('#dbeaf5', '#08406e')
        """
        share = min(max(self.share(value), 0.0), 1.0) * (len(SHADES) - 1)
        at = min(int(share), len(SHADES) - 2)
        mixed = (round(a + (share - at) * (b - a)) for a, b in zip(_rgb(SHADES[at]), _rgb(SHADES[at + 1]), strict=True))
        return "#" + "".join(f"{part:02x}" for part in mixed)

    def share(self, value: float) -> float:
        """How far a number is on the way from the lightest to the darkest shade."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low) if high > low else 0.0


@cache
def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def round_numbers(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two numbers, few enough to read.

    >>> round_numbers(0, 1634)
    [0, 500, 1000, 1500]
    >>> round_numbers(-0.31, 0.2)
    [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    power = math.floor(math.log10(span / MOST_STEPS))
    step = next(
        digit * 10.0**exponent
        for exponent in (power, power + 1, power + 2)
        for digit in (1, 2, 5)
        if span / (digit * 10.0**exponent) <= MOST_STEPS
    )
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, digits) if digits else round(at * step) for at in range(first, last + 1)]
