"""Stratified samples: what is known of one stratum, and the curve of all of them."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.aggregates import Aggregate, IidSampling, RobustSampling
from crowdblend.guarantees.parameters import check_ends
from crowdblend.guarantees.privacy import Guarantee, Relation
from crowdblend.guarantees.profiles import LossCurve, order_of
from crowdblend.guarantees.wording import close, exactly


@dataclass(frozen=True)
class _Strata(Guarantee):
    """People who are sampled with probabilities between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ends(self.low, self.high)

    def _publication_text(self, epsilon: float, delta: float, where: str) -> str:
        bound = close(epsilon, delta, Relation.ADD_REMOVE.otherwise())
        rates = exactly(self.low) if self.low == self.high else f"{exactly(self.low)} to {exactly(self.high)}"
        return f"in {where} of {rates}, whatever is published, its probability is {bound}"


@dataclass(frozen=True)
class StratumOfSample(_Strata):
    """One stratum of a stratified sample: each of its people is sampled with a probability between low and high, and
    what is published of them is (epsilon, delta)-indistinguishable with one of them more or less."""

    epsilon: float
    delta: float

    def words(self) -> str:
        return self._publication_text(self.epsilon, self.delta, "a stratum sampled at a rate")


@dataclass(frozen=True)
class StrataOfSample(_Strata):
    """Strata whose sampled people one mechanism sees, each counted at most as often as stated.

    One row of the mechanism costs `inner_epsilon`; their people are sampled with probabilities between low and high,
    and what is published is epsilon-indistinguishable with one of them more or less.
    """

    inner_epsilon: float
    epsilon: float

    def words(self) -> str:
        return self._publication_text(self.epsilon, 0.0, "strata sampled at rates")


@dataclass(frozen=True)
class StrataCurve(LossCurve):
    """Strata that share nobody, each published by itself: the curve of every stratum, of which the largest counts.

    Every stratum is drawn from a sample of its own people; equal curves are held once and in one order.
    """

    curves: tuple[LossCurve, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.curves or not all(_drawn_once(curve) for curve in self.curves):
            raise InvalidInput("A curve of strata holds the curves of samples, one or more. Pass a tuple of them.")
        object.__setattr__(self, "curves", tuple(sorted(set(self.curves), key=order_of)))

    def aggregate(self) -> Aggregate:
        """The same stratified sample of everybody else: rates between the smallest and the largest."""
        ends = [end for curve in self.curves for end in _ends(curve)]
        return RobustSampling(min(ends), max(ends), 0)


def _drawn_once(curve: LossCurve) -> bool:
    """Return whether a curve is of one stratum, sampled at rates that are known for all of its people."""
    return isinstance(curve, LossCurve) and not isinstance(curve, StrataCurve) and bool(_ends(curve))


def _ends(curve: LossCurve) -> tuple[float, ...]:
    """Return the smallest and the largest rate of a curve's sample; nothing where there are exceptions or no sample."""
    match curve.aggregate():
        case IidSampling(rate):
            return rate, rate
        case RobustSampling(low, high, 0):
            return low, high
    return ()
