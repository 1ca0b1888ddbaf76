"""Parts and strata of one sample: what is known of each, and the curves of all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import Aggregate, IidSampling, RobustSampling
from crowdblend.trusted.guarantees.parameters import SHARES_ROUNDING, check_ends
from crowdblend.trusted.guarantees.privacy import Guarantee, Relation
from crowdblend.trusted.guarantees.profiles import LossCurve, Profile, ReplacedCurve, Uses, order_of
from crowdblend.trusted.guarantees.wording import at_most, close, exactly


@dataclass(frozen=True)
class PartOfSample(Guarantee):
    """A mechanism runs on a part of the sample: each sampled person goes there with probability `share`, independently
    of everybody else, and is then in no other part."""

    share: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self) is PartOfSample:
            raise InvalidInput("A part of a sample has a mechanism. Pass one of the parts that name theirs.")

    def words(self) -> str:
        return f"each person of a random part of the sample, a share of {exactly(self.share)}, {self._hidden_text()}"

    def _hidden_text(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class PartInCrowds(PartOfSample):
    """The mechanism is (k, blend_epsilon)-crowd-blending; suppression where blend_epsilon is 0."""

    k: int
    blend_epsilon: float

    def _hidden_text(self) -> str:
        apart = f" up to a factor of e^{at_most(self.blend_epsilon)}" if self.blend_epsilon else ""
        return f"blends into a crowd of {self.k}{apart}"


@dataclass(frozen=True)
class PartWithNoise(PartOfSample):
    """The mechanism publishes counts, exact from k on and with discrete Laplace noise below."""

    k: int
    noise_epsilon: float
    flag: bool

    def _hidden_text(self) -> str:
        return f"is in a count that is {self.k} or more, or hidden by noise of loss {at_most(self.noise_epsilon)}"


@dataclass(frozen=True)
class PartOfPoints(PartOfSample):
    """The mechanism publishes points that noise moved, of blocks of at least k."""

    k: int
    noise_epsilon: float

    def _hidden_text(self) -> str:
        return (
            f"is a point among {self.k} or more that noise moved, or not shown; the noise has a loss of "
            f"{at_most(self.noise_epsilon)}"
        )


@dataclass(frozen=True)
class PrivatePart(PartOfSample):
    """The mechanism has a profile by itself, with one person of the part more or less; it draws no sample."""

    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", sort_unsampled(self.uses))

    def _hidden_text(self) -> str:
        return "is hidden by a mechanism whose divergence is known for every ε"


@dataclass(frozen=True)
class ProgrammeCurve(LossCurve):
    """Mechanisms of any kinds, each on a part of one Poisson sample; the parts share nobody and are in one order."""

    rate: float
    publications: tuple[PartOfSample, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "publications", sort_parts(self.publications))


@dataclass(frozen=True)
class OneSampleCurve(LossCurve):
    """Mechanisms with curves of their own, all of which see one and the same Poisson sample."""

    rate: float
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", sort_unsampled(self.uses))


@dataclass(frozen=True)
class UnequalSampleCurve(LossCurve):
    """The same where everybody is sampled with a probability of their own, who is protected with at most max_rate."""

    low: float
    high: float
    exceptions: int
    max_rate: float
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", sort_unsampled(self.uses))


@dataclass(frozen=True)
class UnequalProgrammeCurve(LossCurve):
    """Mechanisms, each on a part of one such sample; the parts share nobody and are in one order."""

    low: float
    high: float
    exceptions: int
    max_rate: float
    publications: tuple[PartOfSample, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        known = all(isinstance(part, PartInCrowds | PrivatePart) for part in self.publications)
        object.__setattr__(self, "publications", sort_parts(self.publications))
        if not known:
            raise InvalidInput("Parts of a biased sample have crowds or noise of their own. Pass what they claim.")


def sort_parts(parts: tuple[PartOfSample, ...]) -> tuple[PartOfSample, ...]:
    """Return parts in their one order; what is no sample divided into parts is refused."""
    if not parts or not all(isinstance(part, PartOfSample) for part in parts):
        raise InvalidInput("The curve of a programme holds parts of a sample, one or more. Pass a tuple of them.")
    if exceeds_sample(parts):
        raise InvalidInput("The shares of parts add up to at most 1. Lower some of them.")
    return tuple(sorted(parts, key=order_of))


def sort_unsampled(uses: tuple[Uses, ...]) -> tuple[Uses, ...]:
    """Uses of curves in their one order; curves that contain a sample, or replaced data, are refused."""
    ordered = Profile(uses).uses
    if any(use.curve.aggregate() is not None or isinstance(use.curve, ReplacedCurve) for use in ordered):
        raise InvalidInput("A mechanism on a given sample has a curve without one. Pass the mechanism's own curve.")
    return ordered


def exceeds_sample(parts: tuple[PartOfSample, ...]) -> bool:
    """Return whether parts are more than the sample, by more than the rounding of their shares."""
    return sum(Fraction(part.share) for part in parts) > 1 + Fraction(SHARES_ROUNDING)


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
        # Each is of one stratum, sampled at rates that are known for all of its people.
        drawn = (isinstance(one, LossCurve) and not isinstance(one, StrataCurve) and _ends(one) for one in self.curves)
        if not self.curves or not all(drawn):
            raise InvalidInput("A curve of strata holds the curves of samples, one or more. Pass a tuple of them.")
        object.__setattr__(self, "curves", tuple(sorted(set(self.curves), key=order_of)))

    def aggregate(self) -> Aggregate:
        """The same stratified sample of everybody else: rates between the smallest and the largest."""
        ends = [end for curve in self.curves for end in _ends(curve)]
        return RobustSampling(min(ends), max(ends), 0)


def _ends(curve: LossCurve) -> tuple[float, ...]:
    """Return the smallest and the largest rate of a curve's sample; nothing where there are exceptions or no sample."""
    match curve.aggregate():
        case IidSampling(rate):
            return rate, rate
        case RobustSampling(low, high, 0):
            return low, high
    return ()
