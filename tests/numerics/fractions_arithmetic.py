"""The third arithmetic: exact fractions, for the formulas that need no logarithm."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

largest = 1e15


def number(value: float) -> Fraction:
    return Fraction(value)


def ceil(value: Fraction) -> int:
    return math.ceil(value)


def at_least(whole: int, least: int) -> int:
    return max(whole, least)


def maximum(*values: Fraction) -> Fraction:
    return max(values)


def minimum(*values: Fraction) -> Fraction:
    return min(values)


def nonnegative(value: Fraction) -> Fraction:
    return max(value, Fraction(0))


def surely(condition: Any) -> bool:
    return bool(condition)


def pmf(n: int, j: int, p: Fraction) -> Fraction:
    return math.comb(n, j) * p**j * (1 - p) ** (n - j) if 0 <= j <= n else Fraction(0)


def above(n: int, j: int, p: Fraction) -> Fraction:
    return sum((pmf(n, i, p) for i in range(j + 1, n + 1)), Fraction(0)) / pmf(n, j, p)


def below(n: int, j: int, p: Fraction) -> Fraction:
    return sum((pmf(n, i, p) for i in range(j)), Fraction(0)) / pmf(n, j, p)
