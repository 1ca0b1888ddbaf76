"""Geometric variables, drawn one binary digit at a time.

Theorem. Let G have P[G = g] = (1−a)·a^g for g = 0, 1, 2, … with 0 ≤ a < 1. Its binary digits are independent, and
digit i is 1 with probability a^(2^i) / (1 + a^(2^i)). For every m, the number formed by the digits from m upwards is
itself geometric, with ratio a^(2^m), and independent of the digits below.

Proof. For g = Σ g_i·2^i is a^g = Π (a^(2^i))^(g_i), and 1/(1−a) = Σ a^g = Π (1 + a^(2^i)) over all i. So
P[G = g] is the product over i of (a^(2^i))^(g_i) / (1 + a^(2^i)), a product of the laws of single digits. The digits
from m upwards have the same form with a^(2^m) in the place of a. ∎
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb
from numpy.typing import NDArray

from crowdblend.trusted.randomness.probability import Bounds, enclose, flips
from crowdblend.trusted.randomness.source import Source

# The power a^(2^i) as a ball, at the precision in force.
Power = Callable[[int], arb]


def digit(power: Power, i: int) -> Bounds:
    """Return the probability that digit i is 1."""

    def compute() -> arb:
        weight = power(i)
        return weight / (1 + weight)

    return enclose(compute)


def low_digits(n: int, digits: list[Bounds], source: Source) -> NDArray[np.int64]:
    """Return the numbers G mod 2^m for n geometric variables G, from the probabilities of their m low digits."""
    # Eight digits at a time in a byte each, which moves an eighth of the memory.
    values = _octet(n, digits[:8], source).astype(np.int64)
    for low in range(8, len(digits), 8):
        values |= _octet(n, digits[low : low + 8], source).astype(np.int64) << low
    return values


def _octet(n: int, digits: list[Bounds], source: Source) -> NDArray[np.uint8]:
    """Up to eight digits of each variable."""
    octet = np.zeros(n, dtype=np.uint8)
    for i, probability in enumerate(digits):
        digit_i = flips(n, probability, source).view(np.uint8)
        octet |= np.multiply(digit_i, np.uint8(1 << i), out=digit_i)  # a shift would take seven times as long
    return octet
