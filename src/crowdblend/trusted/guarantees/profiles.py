"""Divergence curves of releases, as values: which curve and with which numbers, never its coefficients.

A curve bounds the divergence between the release with a person and without at every ε, in both directions. So curves of
several releases compose to far less than the sum of one (ε, δ) each. `trusted/calculus/loss_curves.py` evaluates them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import Aggregate, IidSampling, RandomSamples, RobustSampling
from crowdblend.trusted.guarantees.parameters import CheckedFields
from crowdblend.trusted.guarantees.privacy import Guarantee, Relation


def order_of(value: Any) -> Any:
    """Return the sort key of a value: its kind, then its numbers and the keys of the values in it."""
    if isinstance(value, tuple):
        return tuple(map(order_of, value))
    return (type(value).__name__, *map(order_of, vars(value).values())) if isinstance(value, CheckedFields) else value


@dataclass(frozen=True)
class LossCurve(CheckedFields):
    """One release from a sample of its own, with the numbers that its curve is computed from."""

    def aggregate(self) -> Aggregate | None:
        """Return the sample of everybody else that a simulator needs; None where the release draws none."""
        known = vars(self)
        if "rate" in known:
            return IidSampling(known["rate"])
        return RobustSampling(known["low"], known["high"], known["exceptions"]) if "low" in known else None


@dataclass(frozen=True)
class CrowdCurve(LossCurve):
    """A (k, blend_epsilon)-crowd-blending mechanism on a Poisson sample; suppression where blend_epsilon is 0."""

    k: int
    blend_epsilon: float
    rate: float


@dataclass(frozen=True)
class NoisyCountCurve(LossCurve):
    """Counts of a Poisson sample, exact from k on and with discrete Laplace noise below."""

    k: int
    noise_epsilon: float
    rate: float
    flag: bool


@dataclass(frozen=True)
class PointCurve(LossCurve):
    """Noisy points of a Poisson sample in blocks of at least k."""

    k: int
    noise_epsilon: float
    rate: float


@dataclass(frozen=True)
class BiasedCurve(LossCurve):
    """A (k, blend_epsilon)-crowd-blending mechanism on a biased sample."""

    k: int
    blend_epsilon: float
    low: float
    high: float
    exceptions: int
    max_rate: float


@dataclass(frozen=True)
class AmplifiedCurve(LossCurve):
    """An (epsilon, delta)-differentially private mechanism on a Poisson sample."""

    epsilon: float
    delta: float
    rate: float


@dataclass(frozen=True)
class SplitCurve(LossCurve):
    """Suppression below k by a recoding that a share of the sample chose with loss epsilon."""

    epsilon: float
    k: int
    rate: float
    share: float


@dataclass(frozen=True)
class OutlierCurve(LossCurve):
    """A histogram whose noise fades with the size of a bin."""

    epsilon: float
    transition: int
    limit: int


@dataclass(frozen=True)
class ThresholdCurve(LossCurve):
    """A histogram of the cells that occur, each with discrete Laplace noise and shown from a threshold on."""

    noise_epsilon: float
    show_from: int


@dataclass(frozen=True)
class GaussianCurve(LossCurve):
    """A histogram with discrete Gaussian noise on every cell."""

    sigma: float


@dataclass(frozen=True)
class ClosenessCurve(LossCurve):
    """A release that is (epsilon, delta)-differentially private, with nothing else known."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class ReplacedCurve(LossCurve):
    """A release with one person's data replaced, as its curve for one person more or less bounds it."""

    curve: LossCurve

    def __post_init__(self) -> None:
        if not isinstance(self.curve, LossCurve) or isinstance(self.curve, ReplacedCurve):
            raise InvalidInput("A replaced curve is that of one person more or less. Pass such a curve.")


@dataclass(frozen=True)
class Uses(CheckedFields):
    """A number of releases with one curve."""

    curve: LossCurve
    releases: int


@dataclass(frozen=True)
class Profile(Guarantee):
    """The joint loss of releases, at every ε; each use of a curve has its own randomness.

    Equal curves are counted together and the curves are in one order, so equal profiles are equal values.
    """

    uses: tuple[Uses, ...]
    relation: Relation = Relation.ADD_REMOVE
    people: int = 1
    samplings: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.uses or not all(isinstance(use, Uses) and isinstance(use.curve, LossCurve) for use in self.uses):
            raise InvalidInput("A profile holds the uses of at least one curve. Pass a tuple of Uses.")
        counts: dict[LossCurve, int] = {}
        for use in self.uses:
            counts[use.curve] = counts.get(use.curve, 0) + use.releases
        ordered = sorted(counts, key=order_of)
        object.__setattr__(self, "uses", tuple(Uses(curve, counts[curve]) for curve in ordered))

    @property
    def releases(self) -> int:
        """The number of releases."""
        return sum(use.releases for use in self.uses)

    def words(self) -> str:
        """Return the profile in a sentence."""
        times = "one release" if self.releases == 1 else f"{self.releases} releases together"
        return (
            f"a privacy profile: the divergence of {times} is known for every ε, {self.relation.otherwise(self.people)}"
        )


@dataclass(frozen=True)
class SurveyCurve(LossCurve):
    """Releases of one survey of `samples` of `population` people, with one person's data replaced.

    With `strata` these are the numbers of the stratum of which the largest share is asked.
    """

    samples: int
    population: int
    strata: bool
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", of_a_survey(self.uses))
        RandomSamples(self.samples, self.population)

    def aggregate(self) -> Aggregate | None:
        """Return the number of random people, the person concealed; None for strata."""
        return None if self.strata else RandomSamples(self.samples, self.population)


@dataclass(frozen=True)
class GroupSurveyCurve(LossCurve):
    """Releases of one survey whose people come in whole groups, `samples` of `population` groups."""

    samples: int
    population: int
    uses: tuple[Uses, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "uses", of_a_survey(self.uses))
        RandomSamples(self.samples, self.population)


def of_a_survey(uses: tuple[Uses, ...]) -> tuple[Uses, ...]:
    """Uses of curves in their one order; a survey of a survey is refused."""
    ordered = Profile(uses, Relation.REPLACE).uses
    if any(isinstance(use.curve, SurveyCurve | GroupSurveyCurve) for use in ordered):
        raise InvalidInput("A survey is drawn from people, not from a survey. Pass the curve of what is done with it.")
    return ordered
