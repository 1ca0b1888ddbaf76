"""Monotone searches that return the safe end: the value returned was itself tested and found to hold."""

from __future__ import annotations

import math
from collections.abc import Callable


def first_true(holds: Callable[[int], bool], least: int, guess: int, most: int = 2**62) -> int:
    """The smallest whole number in [least, most] where a predicate that stays true once true holds.

    A good guess costs a handful of evaluations; a bad one a logarithmic number. Raises LookupError when nothing
    up to `most` holds.
    """
    guess = min(max(guess, least), most)
    step = 1
    if holds(guess):
        high = guess
        low = guess - step
        while low >= least and holds(low):
            high, step = low, step * 2
            low = high - step
        low = max(low, least - 1)
    else:
        low = guess
        high = guess + step
        while not holds(min(high, most)):
            if high >= most:
                raise LookupError
            low, step = high, step * 2
            high = low + step
        high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def smallest_double(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest double in (low, high], up to 1e-10 of it, where a predicate that stays true once true holds.

    Requires holds(high); low is taken not to hold. Bisects in ratio while the ends are far apart.
    """
    while high - low > 1e-10 * high and high > 5e-324:
        middle = math.sqrt(low) * math.sqrt(high) if low > 0 and high > 4 * low else low + (high - low) / 2
        if low == 0 and high > 1e-12:
            middle = high / 16
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def largest_double(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest double in [low, high), up to 1e-10 of it, where a predicate that stays false once false holds.

    Requires holds(low); high is taken not to hold.
    """
    while high - low > 1e-10 * low:
        middle = math.sqrt(low) * math.sqrt(high) if high > 4 * low else low + (high - low) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
