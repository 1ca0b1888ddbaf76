"""What honest mechanisms and their broken twins are made of, as exact distributions on tiny worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from crowdblend.auditing.exact.distributions import Distribution, beside, growth_above, surely
from crowdblend.auditing.exact.worlds import Database, Mechanism, Value
from crowdblend.guarantees import CrowdBlending, Differential, Relation
from crowdblend.numerics import balls
from crowdblend.numerics.crowd_divergence import crowd_divergence

HALF = Fraction(1, 2)
Classes = Callable[[Value], Any]


def itself(value: Value) -> Value:
    """Everybody with other data is another class."""
    return value


def counted(table: Database, classes: Classes = itself) -> Counter[Hashable]:
    """How many people of each class there are."""
    return Counter(map(classes, table))


def suppressed(k: int, classes: Classes = itself) -> Mechanism:
    """The counts of at least k, and nothing of the others."""
    return lambda table: surely(frozenset((c, n) for c, n in counted(table, classes).items() if n >= k))


def blurred(count: int, ratio: Fraction, top: int) -> Distribution:
    """The count plus discrete Laplace noise with this ratio, with everything outside 0 … top moved to its ends."""
    scale = (1 - ratio) / (1 + ratio)
    ends = {0: scale * ratio**count / (1 - ratio), top: scale * ratio ** (top - count) / (1 - ratio)}
    return {value: scale * ratio ** abs(value - count) for value in range(1, top)} | ends


def noisy(cells: Sequence[Hashable], ratio: Fraction, top: int) -> Mechanism:
    """Noise on every declared cell, the empty ones too."""
    return lambda table: beside(blurred(counted(table)[cell], ratio, top) for cell in cells)


def blending(k: int) -> CrowdBlending:
    """What suppression below k guarantees."""
    return CrowdBlending(k, 0.0)


def close(epsilon: float, delta: float = 0.0, relation: Relation = Relation.ADD_REMOVE) -> Differential:
    """Differential privacy, with one person more or less unless said otherwise."""
    return Differential(epsilon, delta, relation)


def sampled_delta(k: int, rate: Fraction, epsilon: float) -> float:
    """The δ of sampling and suppression, exactly and rounded up."""
    growth = growth_above(epsilon)

    def compute() -> arb:
        exact = arb(growth.numerator) / growth.denominator
        divergence: arb = crowd_divergence(balls, k, balls.number(float(rate)), balls.number(1), exact)
        return divergence

    return balls.upper_bound(compute)
