"""Exact arithmetic for the kernel's formulas: every number is a fraction, so equality means equality.

The kernel writes each divergence once, over an `Arithmetic`. Run over fractions, a formula has no rounding to hide
behind: either it equals the enumeration of the definition or it does not.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

largest = math.inf


@dataclass(frozen=True)
class _Log:
    """ln(of), which is no fraction: all it can do is be divided by another and be rounded up."""

    of: Fraction

    def __truediv__(self, other: _Log) -> _LogRatio:
        return _LogRatio(self.of, other.of)


@dataclass(frozen=True)
class _LogRatio:
    """ln(of)/ln(base)."""

    of: Fraction
    base: Fraction

    def ceil(self) -> int:
        """The least whole i with i ≥ ln(of)/ln(base), found by multiplying out."""
        if self.base < 1:
            return _LogRatio(1 / self.of, 1 / self.base).ceil()
        i, power = 0, Fraction(1)
        while power < self.of:
            i, power = i + 1, power * self.base
        while power / self.base >= self.of:
            i, power = i - 1, power / self.base
        return i


def number(value: Any) -> Fraction:
    return Fraction(value)


def ceil(value: Any) -> int:
    return value.ceil() if isinstance(value, _LogRatio) else math.ceil(value)


def maximum(*values: Fraction) -> Fraction:
    return max(values)


def minimum(*values: Fraction) -> Fraction:
    return min(values)


def exp(value: Any) -> NoReturn:
    raise NotImplementedError("e to a fraction is no fraction; pass e^ε instead of ε.")


def log(value: Fraction) -> _Log:
    return _Log(Fraction(value))


def nonnegative(value: Fraction) -> Fraction:
    return max(value, Fraction(0))


def at_most(value: Fraction) -> Fraction:
    return value


def surely(condition: Any) -> bool:
    return bool(condition)


@functools.cache
def pmf(n: int, j: int, p: Fraction) -> Fraction:
    return math.comb(n, j) * p**j * (1 - p) ** (n - j) if 0 <= j <= n else Fraction(0)


def above(n: int, j: int, p: Fraction) -> Fraction:
    return sum((pmf(n, i, p) for i in range(j + 1, n + 1)), Fraction(0)) / pmf(n, j, p)


def below(n: int, j: int, p: Fraction) -> Fraction:
    return sum((pmf(n, i, p) for i in range(j)), Fraction(0)) / pmf(n, j, p)
