"""Rigorous arithmetic: every number is a ball that encloses the true value (FLINT/Arb through python-flint)."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, reduce

from flint import arb, ctx

from crowdblend.errors import NotProved

FIRST_BITS = 128
LAST_BITS = 8192
# Results are used as doubles; a ball this tight is off by less than 1e-10 of its value.
ENOUGH_BITS = 36
BELOW_EVERY_DOUBLE = arb(2) ** -1200
LONG_SUM = 10**7
largest = 1e15


# FLINT keeps one precision for the whole process, so only one thread at a time may set it.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Evaluate with this many bits, alone among threads."""
    with _ONE_AT_A_TIME, ctx.workprec(bits):
        yield


class UndecidedBall(ArithmeticError):
    """A ball is too wide to decide a question; a higher precision will."""


def number(value: float | arb) -> arb:
    """Return the exact value of an int or double as a ball of radius 0."""
    return arb(value)


def ceil(value: arb) -> int:
    """Return the ceiling of the upper end: right, or one too large when the ball touches a whole number."""
    whole = value.upper().ceil().unique_fmpz()
    if whole is None or not value.rad() < 0.5:
        raise UndecidedBall
    return int(whole)


def maximum(*values: arb) -> arb:
    """Return a ball around the largest of several numbers."""
    return reduce(arb.max, values)


def minimum(*values: arb) -> arb:
    """Return a ball around the smallest of several numbers."""
    return reduce(arb.min, values)


def exp(value: arb) -> arb:
    """Return a ball around e to a number."""
    return arb(value).exp()


def log(value: arb) -> arb:
    """Return a ball around the natural logarithm; undecided where the number is not surely above 0."""
    if not value > 0:
        raise UndecidedBall
    return value.log()


def expm1(value: arb | float) -> arb:
    """Return a ball around e to a number, minus 1, without cancellation near 0."""
    return arb(value).expm1()


def log1p(value: arb | float) -> arb:
    """Return a ball around the logarithm of 1 plus a number, without cancellation near 0."""
    return arb(value).log1p()


def sqrt(value: arb) -> arb:
    """Return a ball around the square root."""
    return value.sqrt()


def nonnegative(value: arb) -> arb:
    """Return the part of the ball that is not negative."""
    return value.nonnegative_part()


def at_most(value: arb) -> arb:
    """Return the ball [0, value]."""
    return arb(0).union(value)


def surely(condition: object) -> bool:
    """Comparisons of balls are true only when they hold for every pair of points."""
    return bool(condition)


def pmf(n: int, j: int, p: arb) -> arb:
    """Return a ball around P[X = j] for X ~ Bin(n, p); 0 where j is impossible."""
    if not 0 <= j <= n:
        return arb(0)
    if n >= 2**63:
        raise NotProved("Crowds beyond 2^63 people are not evaluated; raise the rate or lower k.")
    return arb.bin_uiui(n, j) * p**j * (1 - p) ** (n - j)


def above(n: int, j: int, p: arb) -> arb:
    """Return a ball around P[X > j] / P[X = j], summed on the side of j where the terms fall.

    Planning and checking ask for the same few thousands again and again, at probabilities that are exact doubles.
    """
    return (_above if p.is_exact() else _above.__wrapped__)(n, j, p, ctx.prec)


@lru_cache(maxsize=1 << 14)
def _above(n: int, j: int, p: arb, _bits: int) -> arb:
    if j >= n:
        return arb(0)
    if j + 1 > (n + 1) * p:
        return _falling(n - j, j + 1, p / (1 - p))
    # Left of the mode the terms would rise first; the rest of the distribution is quicker.
    return 1 / pmf(n, j, p) - 1 - _falling(j, n - j + 1, (1 - p) / p)


def below(n: int, j: int, p: arb) -> arb:
    """Return a ball around P[X < j] / P[X = j], by the mirror image n − X ~ Bin(n, 1 − p)."""
    return above(n, n - j, 1 - p)


def _falling(top: int, bottom: int, odds: arb) -> arb:
    """odds·top/bottom + odds²·top(top−1)/(bottom(bottom+1)) + … , a series whose ratios fall towards 0.

    Because the ratios fall, what follows a term t reached with ratio ρ < 1 is at most t·ρ/(1−ρ): the sum is cut
    off there and widened by exactly that much. Where that takes too many terms Arb encloses the same series as
    odds·top/bottom·₂F₁(1, 1−top; bottom+1; −odds), which costs more to start with and no more for billions.
    """
    if top + bottom > LONG_SUM:
        return odds * top / bottom * arb.hypgeom_2f1(-odds, arb(1), arb(1 - top), arb(bottom + 1))
    term, total, tolerance = arb(1), arb(0), arb(2) ** -ctx.prec
    for step in range(top):
        ratio = odds * (top - step) / (bottom + step)
        term *= ratio
        total += term
        if step % 8 == 7 and ratio < 1:
            rest = term * ratio / (1 - ratio)
            if rest < total * tolerance:
                return total + at_most(rest)
    return total


def enclose(compute: Callable[[], arb]) -> arb:
    """Evaluate at rising precision until the ball is tight, so that cancellation cannot hurt."""
    bits = FIRST_BITS
    while bits <= LAST_BITS:
        with precision(bits), suppress(UndecidedBall):
            value = compute()
            if value.is_finite() and (value.rel_accuracy_bits() >= ENOUGH_BITS or abs(value) < BELOW_EVERY_DOUBLE):
                return value
        bits *= 2
    raise NotProved("The bound must be computable to ten digits; move the parameters away from their limits.")


def round_up(value: arb) -> float:
    """Return the smallest double that is surely at least the value."""
    top = value.upper()
    nearest = float(top)
    if not top.is_finite() or math.isinf(nearest):
        raise NotProved("A bound must be a finite number; move the parameters away from their limits.")
    return nearest if arb(nearest) >= top else math.nextafter(nearest, math.inf)


def total(values: Iterable[float]) -> float:
    """Return the sum of doubles, rounded up."""
    return round_up(sum(map(arb, values), arb(0)))


def round_down(value: arb) -> float:
    """Return the largest double that is surely at most the value."""
    return -round_up(value.neg(exact=True))


def upper_bound(compute: Callable[[], arb]) -> float:
    """Return a double that is proved to be at least the computed quantity, and is above it by less than 1e-9 of it."""
    return round_up(enclose(compute))
