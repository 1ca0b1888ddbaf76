"""Monotone searches that return the safe end: the value returned was itself tested and found to hold."""

from __future__ import annotations

from collections.abc import Callable

SMALLEST = 1e-12


def first_true(holds: Callable[[int], bool], least: int, guess: int, most: int = 2**62) -> int:
    """Return the smallest whole number in [least, most] where a predicate that stays true once true holds.

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


def smallest_double(holds: Callable[[float], bool], low: float, high: float, tolerance: float = 1e-8) -> float:
    """The smallest double in (low, high], up to `tolerance` of it, where a predicate that stays true once true holds.

    Requires holds(high); low is taken not to hold. Values below SMALLEST are not told apart.
    """
    while high - low > tolerance * high and high > SMALLEST:
        # Come down in quarters first: far below the answer an evaluation can be expensive.
        middle = low + (high - low) / 2 if 8 * low > high else high / 4
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def largest_double(holds: Callable[[float], bool], low: float, high: float, tolerance: float = 1e-8) -> float:
    """The largest double in [low, high), up to `tolerance` of it, where a predicate that stays false once false holds.

    Requires holds(low); high is taken not to hold.
    """
    while high - low > tolerance * low:
        middle = low + (high - low) / 2 if high < 8 * low else 2 * low
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
