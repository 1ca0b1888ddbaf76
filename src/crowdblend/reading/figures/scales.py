"""Scales from numbers to places and shades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from crowdblend.reading.figures.drawing import GRID, QUIET, SHADES, Drawing, text_width

MOST_STEPS, MOST_TICKS, LEAST_POWER = 7, 9, -300


@dataclass(frozen=True)
class Scale:
    """Numbers between `low` and `high` to places between `start` and `end`, in proportion to the logarithm where `log`.

    Equal ends put everything at the start.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a number lies.

        >>> Scale(0, 10, 100, 200).place(2.5), Scale(1, 100, 0, 1, log=True).place(10)
        (125.0, 0.5)
        """
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low) if high > low and math.isfinite(high - low) else 0.0
        return self.start + share * (self.end - self.start)


class Shade:
    """Darker for more: shades between two numbers, in proportion to the logarithm where `log`.

    >>> Shade(0, 1, log=False).color(0), Shade(1, 100, log=True).color(100)
    ('#dbeaf5', '#08406e')
    """

    def __init__(self, low: float, high: float, *, log: bool) -> None:
        self.low, self.high, self.log = low, high, log
        self.share = Scale(low, high, 0.0, 1.0, log).place
        self.color = cache(self._color)

    def _color(self, value: float) -> str:
        share = min(max(self.share(value), 0.0), 1.0) * (len(SHADES) - 1)
        at = min(int(share), len(SHADES) - 2)
        mixed = (round(a + (share - at) * (b - a)) for a, b in zip(_RGB[at], _RGB[at + 1], strict=True))
        return "#" + "".join(f"{part:02x}" for part in mixed)


_RGB = [bytes.fromhex(shade[1:]) for shade in SHADES]


def round_numbers(low: float, high: float, *, outward: bool = False) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, or around them, few enough to read.

    >>> round_numbers(0, 1634), round_numbers(0, 1634, outward=True)
    ([0, 500, 1000, 1500], [0, 500, 1000, 1500, 2000])
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
    up, down = (math.floor, math.ceil) if outward else (math.ceil, math.floor)
    slack = -1e-9 if outward else 1e-9
    first, last = up(low / step - slack), down(high / step + slack)
    return [round(at * step, digits) if digits else round(at * step) for at in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers that enclose [low, high], evenly spaced in ratio and few enough to read.

    >>> log_ticks(2e-7, 0.3)
    [1e-07, 1e-06, 1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0]
    >>> log_ticks(0.03, 1.7)
    [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    """
    # The slack keeps 1.0000001e6 from claiming a whole step above 1e6.
    low, high = low * 1.02, max(high / 1.02, low * 1.05)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if high <= 300 * low:
        fine = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in (1, 2, 5)]
        below, above = [tick for tick in fine if tick <= low], [tick for tick in fine if tick >= high]
        return [tick for tick in fine if below[-1] <= tick <= above[0]]
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (last - first) / step <= MOST_TICKS)
    start = max(step * math.floor(first / step), LEAST_POWER)
    return [float(f"1e{power}") for power in range(start, last + step, step)]


def draw_ticks(
    picture: Drawing,
    scale: Scale,
    ticks: Sequence[tuple[float, str]],
    bottom: float,
    *,
    top: float | None,
    edge: float,
    below: float = 14,
) -> None:
    """Draw numbers below an axis, and upright lines above them from `top` on; `edge` is the right end of the picture.

    Where all numbers would touch, every second, third, … one is written; none reaches over the edge.
    """
    places = []
    for value, text in ticks:
        half = text_width(text) / 2
        places.append((min(max(scale.place(value), half + 2), edge - half - 2), half, text))
        if top is not None:
            picture.line(scale.place(value), top, scale.place(value), bottom, stroke=GRID)
    for step in range(1, len(places) + 1):
        written = places[::step]
        if all(one + half + 6 <= other - next_half for (one, half, _), (other, next_half, _) in pairwise(written)):
            break
    for x, _, text in written if places else ():
        picture.text(x, bottom + below, text, color=QUIET, anchor="middle")
