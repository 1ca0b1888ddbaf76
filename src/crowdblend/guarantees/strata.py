"""Stratified samples: what is known of one stratum, and the curve of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.aggregates import Aggregate, IidSampling, RobustSampling
from crowdblend.guarantees.privacy import Guarantee, Relation
from crowdblend.guarantees.profiles import LossCurve
from crowdblend.guarantees.wording import close, exactly


@dataclass(frozen=True)
class StratumOfSample(Guarantee):
    """One stratum of a stratified sample: each of its people is sampled with a probability between low and high, and
    what is published of them is (epsilon, delta)-indistinguishable with one of them more or less."""

    low: float
    high: float
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InvalidInput(f"low must be at most high = {self.high:g}, got {self.low:g}. Swap them.")

    def words(self) -> str:
        bound = close(self.epsilon, self.delta, Relation.ADD_REMOVE.otherwise())
        rates = exactly(self.low) if self.low == self.high else f"{exactly(self.low)} to {exactly(self.high)}"
        return f"in a stratum sampled at a rate of {rates}, whatever is published, its probability is {bound}"


@dataclass(frozen=True)
class StrataOfSample(Guarantee):
    """Some strata whose sampled people one mechanism sees together, each counted at most as often as the stratum says.

    One row of the mechanism costs `inner_epsilon`; their people are sampled with probabilities between low and high,
    and what is published is epsilon-indistinguishable with one of them more or less.
    """

    low: float
    high: float
    inner_epsilon: float
    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InvalidInput(f"low must be at most high = {self.high:g}, got {self.low:g}. Swap them.")

    def words(self) -> str:
        bound = close(self.epsilon, 0.0, Relation.ADD_REMOVE.otherwise())
        rates = exactly(self.low) if self.low == self.high else f"{exactly(self.low)} to {exactly(self.high)}"
        return f"in strata sampled at rates of {rates}, whatever is published, its probability is {bound}"


@dataclass(frozen=True)
class StrataCurve(LossCurve):
    """Strata that share nobody, each published by itself: the curve of every stratum, of which the largest counts.

    Every stratum is drawn from a sample of its own people; equal curves are held once and in one order.
    """

    curves: tuple[LossCurve, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.curves or not all(_drawn_once(curve) for curve in self.curves):
            raise InvalidInput("a curve of strata holds the curves of samples, one or more. Pass a tuple of them.")
        object.__setattr__(self, "curves", tuple(sorted(set(self.curves), key=lambda curve: curve.order())))

    def order(self) -> tuple[Any, ...]:
        """By the curves of the strata."""
        return (type(self).__name__, tuple(curve.order() for curve in self.curves))

    def aggregate(self) -> Aggregate:
        """The same stratified sample of everybody else: rates between the smallest and the largest."""
        ends = [_ends(found) for curve in self.curves if (found := curve.aggregate()) is not None]
        return RobustSampling(min(low for low, _ in ends), max(high for _, high in ends), 0)


def _drawn_once(curve: LossCurve) -> bool:
    """Whether a curve is of one stratum, sampled at rates that are known for all of its people."""
    if not isinstance(curve, LossCurve) or isinstance(curve, StrataCurve):
        return False
    found = curve.aggregate()
    return isinstance(found, IidSampling) or (isinstance(found, RobustSampling) and found.exceptions == 0)


def _ends(found: Aggregate) -> tuple[float, float]:
    if isinstance(found, RobustSampling):
        return found.low, found.high
    assert isinstance(found, IidSampling)
    return found.rate, found.rate
