"""Operations that a formula may use on the numbers it is evaluated in.

Each divergence is written once and runs over two arithmetics: rigorous balls for certificates, and exact fractions
in the tests. A formula receives e^ε rather than ε, because e^ε can be a fraction.
"""

from __future__ import annotations

from typing import Any, Protocol

from crowdblend.trusted.numerics.balls import UndecidedBall

# A ball or a fraction. They share only + − × ÷, which no static type can say.
Number = Any


class Arithmetic(Protocol):
    """The operations behind every divergence in this package."""

    largest: float
    """Binomial sizes beyond this are not evaluated but bounded."""

    def number(self, value: float) -> Number:
        """Return the exact value of a double, in this arithmetic."""

    def ceil(self, value: Number) -> int:
        """Return the ceiling of a value, or one more when the value cannot be told from a whole number."""

    def maximum(self, *values: Number) -> Number:
        """Return the largest of several numbers."""

    def minimum(self, *values: Number) -> Number:
        """Return the smallest of several numbers."""

    def exp(self, value: Number) -> Number:
        """e to a number."""

    def log(self, value: Number) -> Number:
        """Return the natural logarithm of a number."""

    def sqrt(self, value: Number) -> Number:
        """Return the square root of a number."""

    def nonnegative(self, value: Number) -> Number:
        """Return the number where it is positive, 0 elsewhere."""

    def at_most(self, value: Number) -> Number:
        """Return a number between 0 and the value: all that is known of a quantity so bounded."""

    def surely(self, condition: object) -> bool:
        """Return whether a comparison holds, beyond doubt and everywhere."""

    def pmf(self, n: int, j: int, p: Number) -> Number:
        """P[X = j] for X ~ Bin(n, p)."""

    def above(self, n: int, j: int, p: Number) -> Number:
        """P[X > j] / P[X = j], the upper Mills ratio."""

    def below(self, n: int, j: int, p: Number) -> Number:
        """P[X < j] / P[X = j], the lower Mills ratio."""


def upper_tail(calc: Arithmetic, n: int, j: int, p: Number) -> Number:
    """P[X ≥ j] for X ~ Bin(n, p) and 0 ≤ j ≤ n."""
    return calc.pmf(n, j, p) * (1 + calc.above(n, j, p))


def lower_tail(calc: Arithmetic, n: int, j: int, p: Number) -> Number:
    """P[X ≤ j] for X ~ Bin(n, p) and 0 ≤ j ≤ n."""
    return calc.pmf(n, j, p) * (1 + calc.below(n, j, p))


def relative_entropy(calc: Arithmetic, x: Number, p: Number) -> Number:
    """KL(x‖p) between two coins: P[Bin(n, p) ≥ nx] ≤ e^{−n·KL(x‖p)} for x ≥ p (Chernoff), likewise below p."""
    return x * calc.log(x / p) + (1 - x) * calc.log((1 - x) / (1 - p))


def sampled_factors(calc: Arithmetic, rate: Number, growth: Number) -> tuple[Number, tuple[Number, Number]]:
    """Return factors at which divergences of P and Q give those of a mixture and Q.

    The mixture is rate·P + (1 − rate)·Q, at α = growth ≥ 1.

    Σ(rate·P + (1 − rate)Q − αQ)₊ = rate·Σ(P − sQ)₊ with s = 1 + (α − 1)/rate, and Σ(Q − α(rate·P + (1 − rate)Q))₊ =
    gain·Σ(Q − sP)₊ with gain = 1 − α(1 − rate) and s = α·rate/gain. Where gain is not positive, it is 0 and s is 1.
    """
    gain = 1 - growth * (1 - rate)
    more = 1 + (growth - 1) / rate
    if calc.surely(gain <= 0):
        return calc.number(0), (more, calc.number(1))
    if not calc.surely(gain > 0):
        raise UndecidedBall
    return gain, (more, growth * rate / gain)
