"""Exact geometric and discrete Laplace noise on the whole numbers.

With a = e^{−ε}, for the exact value of ε:

    geometric         P[G = g] = (1−a)·a^g                  g = 0, 1, 2, …
    discrete Laplace  P[Y = y] = (1−a)/(1+a)·a^|y|          y = …, −1, 0, 1, …

Theorem. What is drawn here has exactly these laws; nothing is rounded and no tail is cut off.

Proof. Geometric: the m low digits are independent coins (see `digits`), and the number H of the digits from m
upwards is geometric with ratio q = a^(2^m), hence counts the heads before the first tails of coins with probability
q. All coins are exact (see `probability`). Laplace: Y ≠ 0 has probability 1 − (1−a)/(1+a) = 2a/(1+a); given that, the
sign is fair and P[|Y| = y] ∝ a^y for y ≥ 1, so |Y| − 1 is geometric. ∎

Values are drawn in blocks of BLOCK, in order: in a block first all coins for Y ≠ 0, then the sign bits and the
magnitudes of those that are not 0. That order is fixed, so that a key gives the same noise for ever.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.digits import digit, low_digits
from crowdblend.trusted.randomness.probability import Bounds, bernoulli, enclose, flips
from crowdblend.trusted.randomness.source import Source

Epsilon = float | Fraction | fmpq
Whole = NDArray[np.int64]
# Values drawn together. Part of the definition of the stream: never change it.
BLOCK = 1 << 15
# The digits from m upwards are drawn one value at a time; with ε·2^m ≥ 12 that is one value in 160,000.
RARE = 12
# Below it noise would come near the end of 64-bit numbers: P[|Y| ≥ 2^62] is e^{−4,000,000} at this ε.
SMALLEST_EPSILON = Fraction(1, 1 << 40)


def geometric(n: int, epsilon: Epsilon, source: Source) -> Whole:
    """n independent geometric variables with ratio e^{−epsilon}."""
    law = _law(epsilon)
    values = np.empty(n, dtype=np.int64)
    for start in range(0, n, BLOCK):
        part = values[start : start + BLOCK]
        part[:] = law.geometric(len(part), source)
    return values


def discrete_laplace(n: int, epsilon: Epsilon, source: Source) -> Whole:
    """n independent discrete Laplace variables with ratio e^{−epsilon}.

    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> discrete_laplace(8, 1.0, SeededSource(1)).tolist()
    [0, 1, 1, 0, 0, 0, -1, 0]
    """
    return LaplaceStream(n, epsilon, source).take(n)


class LaplaceStream:
    """The values of `discrete_laplace`, some at a time; it makes no difference how they are cut."""

    def __init__(self, n: int, epsilon: Epsilon, source: Source) -> None:
        self._law, self._source = _law(epsilon), source
        self._to_come, self._drawn = n, np.empty(0, np.int64)

    def take(self, n: int) -> Whole:
        """Return the next n values, of those that are left."""
        taken, filled = np.empty(n, np.int64), 0
        while filled < n:
            drawn = self._drawn if len(self._drawn) else self._block()
            some, self._drawn = drawn[: n - filled], drawn[n - filled :]
            taken[filled : filled + len(some)] = some
            filled += len(some)
        return taken

    def _block(self) -> Whole:
        number = min(self._to_come, BLOCK)
        self._to_come -= number
        nonzero = flips(number, self._law.nonzero, self._source)
        moved = int(np.count_nonzero(nonzero))
        fair = np.frombuffer(self._source.bytes(-(-moved // 8)), dtype=np.uint8)
        # 0 or −1, all of whose bits are set.
        minus = np.negative(np.unpackbits(fair, count=moved, bitorder="little").view(np.int8)).astype(np.int64)
        noise = self._law.geometric(moved, self._source)
        # From the magnitude less one: g + 1, or −(g + 1), which is the complement of g. No branch is taken by chance.
        noise ^= minus
        noise += minus
        noise += 1
        values = np.zeros(number, np.int64)
        values[nonzero] = noise
        return values


def reaches(threshold: int, epsilon: Epsilon) -> Bounds:
    """P[Y ≥ threshold] for discrete Laplace Y: a^t/(1+a) for t ≥ 1, and 1 minus its mirror image for t ≤ 0.

    Given Y ≥ t ≥ 0, the excess Y − t is geometric with the same ratio, so the cells of a huge empty domain that
    reach a display threshold need only their number, their places and one `geometric` each.
    """
    exact = _exact(epsilon)

    def compute() -> arb:
        far = max(threshold, 1 - threshold)
        tail = (-arb(exact) * far).exp() / (1 + (-arb(exact)).exp())
        return tail if threshold >= 1 else 1 - tail

    return enclose(compute)


def differs_from_zero(epsilon: Epsilon) -> Bounds:
    """P[Y ≠ 0] = 2a/(1+a) for discrete Laplace Y."""
    exact = _exact(epsilon)
    return enclose(lambda: 2 / (1 + arb(exact).exp()))


class _Law:
    """The coins behind one ε."""

    def __init__(self, epsilon: Epsilon) -> None:
        self._exact = _exact(epsilon)
        self._levels = 0
        while self._exact * 2**self._levels < RARE:
            self._levels += 1
        self.nonzero = differs_from_zero(epsilon)
        self._digits = [digit(self._power, i) for i in range(self._levels)]
        self._more = enclose(lambda: self._power(self._levels))

    def _power(self, i: int) -> arb:
        """a^(2^i)."""
        power: arb = (-arb(self._exact) * 2**i).exp()
        return power

    def geometric(self, n: int, source: Source) -> Whole:
        values = low_digits(n, self._digits, source)
        for rare in np.flatnonzero(flips(n, self._more, source)):
            high = 1
            while bernoulli(self._more, source):
                high += 1
            values[rare] += high << self._levels
        return values


@lru_cache(maxsize=64)
def _law(epsilon: Epsilon) -> _Law:
    """Balls take a moment, and a release draws with the same few ε again and again."""
    return _Law(epsilon)


def _exact(epsilon: Epsilon) -> fmpq:
    """Return the exact value of an epsilon."""
    if isinstance(epsilon, float) and not math.isfinite(epsilon):
        raise InvalidInput(
            f"epsilon must be a finite number, got {epsilon}.", where="epsilon", code="randomness.epsilon"
        )
    exact = epsilon if isinstance(epsilon, fmpq) else fmpq(*epsilon.as_integer_ratio())
    if exact < fmpq(*SMALLEST_EPSILON.as_integer_ratio()):
        message = f"epsilon must be at least {float(SMALLEST_EPSILON):.1g}, got {epsilon}."
        raise InvalidInput(message, where="epsilon", code="randomness.epsilon")
    return exact
