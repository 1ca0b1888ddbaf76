"""The two ways to publish statistics of k of n people: noise for each, and what all of them guarantee together.

The way in which each statistic is published is chosen from the policy, and never from data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar

from msgspec.structs import replace

from crowdblend.calculus import RULES, Derivation
from crowdblend.designs import Survey
from crowdblend.designs.survey import replaced_claim
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.utility import NoisyTotals
from crowdblend.planning.statistics.accuracy import QuantileShape, Shape, finite_population

if TYPE_CHECKING:
    from crowdblend.planning.statistics.strata_totals import StrataWay

EVERYBODY: Literal["everybody"] = "everybody"
SAMPLE: Literal["sample"] = "sample"
STRATA: Literal["strata"] = "strata"
SampleWay = Literal["everybody", "sample"]
Mechanism = Literal["everybody", "sample", "strata"]
AnyShape = Shape | QuantileShape

LARGEST_NOISE_EPSILON = 700.0
# The samplers draw whole numbers of 64 bits, and are exact down to this loss per step.
SMALLEST_NOISE_EPSILON = 2.0**-40


WayT = TypeVar("WayT", bound="Way | StrataWay")
# The positions of some statistics, and the way that they go; all statistics together.
Taken: TypeAlias = "tuple[tuple[tuple[int, ...], Way], ...]"


@dataclass(frozen=True)
class Way:
    """Statistics published by one mechanism with respect to `samples` of `population` people."""

    mechanism: SampleWay
    samples: int
    population: int
    shapes: tuple[AnyShape, ...]
    noise_epsilons: tuple[float, ...]
    failure: float
    # Everybody counts once.
    copies: ClassVar[tuple[int, ...]] = (1,)

    @property
    def people_counted(self) -> int:
        """The number of people counted: a source with another number is refused."""
        return self.samples if self.mechanism == SAMPLE else self.population

    @cached_property
    def errors(self) -> tuple[float, ...]:
        """The error of each, except with the probability `failure`; of groups, where of equal size."""
        return tuple(
            shape.error(noise, self.people_counted, self.population, self.failure)
            for shape, noise in zip(self.shapes, self.noise_epsilons, strict=True)
        )

    @cached_property
    def claim(self) -> Derivation:
        """The guarantee of the planned noise: of the totals, or of totals and quantiles together."""
        return statistics_claim(self.shapes, self.noise_epsilons)

    @property
    def epsilon(self) -> float:
        """The loss relative to `samples` random people."""
        return float(self.derivations()[0].conclusion.epsilon)

    def derivations(self) -> tuple[Derivation, ...]:
        """Return the guarantee relative to `samples` random people, and that with one person's data replaced."""
        survey = Survey(self.samples, self.population)
        return (survey.relative if self.mechanism == EVERYBODY else survey.derive_drawn)(self.claim)


def plan_way(
    mechanism: SampleWay,
    shapes: Sequence[AnyShape],
    epsilon: float,
    samples: int,
    population: int,
    failure: float,
) -> Way | None:
    """The least noise on everybody's totals, or on those of k people drawn, that keeps to ε; None if it is too wide.

    Everybody's noise is calibrated to how well k random people estimate the totals. No number of random people tells
    how far a quantile is, so that a quantile never goes that way.
    """
    odds = population / samples
    if mechanism == SAMPLE:
        # ln(1 + (n/k)(e^ε − 1)), also where e^ε is no double.
        guess = math.log1p(odds * math.expm1(epsilon)) if epsilon < 500 else epsilon + math.log(odds)
    else:
        if any(isinstance(shape, QuantileShape) for shape in shapes):
            return None
        unit: NoisyTotals = statistics_claim(shapes, _noise(shapes, 1.0)).conclusion
        guess = _scale_of_everybody(unit, epsilon, samples, population)

    def way(scale: float) -> Way:
        return Way(mechanism, samples, population, tuple(shapes), _noise(shapes, scale), failure)

    return largest(guess, way, epsilon)


def _scale_of_everybody(unit: NoisyTotals, epsilon: float, samples: int, population: int) -> float:
    """Return the t where t·step + max(t²·moment, t·mean) reaches ε, the totals being t times those of scale 1."""
    moment = (population * unit.reach) ** 2 * finite_population(samples, population) / (8 * samples)
    deviation = math.sqrt((population - samples) / (max(population - 1, 1) * samples))
    by_mean = epsilon / (unit.step + population * unit.drift * deviation)
    if moment == 0:
        return by_mean
    # The root of moment·t² + step·t = ε in the form that does not cancel.
    return min(by_mean, 2 * epsilon / (unit.step + math.sqrt(unit.step**2 + 4 * moment * epsilon)))


def largest(guess: float, way: Callable[[float], WayT], epsilon: float) -> WayT | None:
    """The way at the guessed scale or a little below it: the first that keeps to ε; None if its noise is too wide."""
    shrink = 1e-15
    while True:
        candidate = way(guess)
        if min(map(_least_noise, candidate.shapes, candidate.noise_epsilons)) < SMALLEST_NOISE_EPSILON:
            return None
        if candidate.epsilon <= epsilon:
            return candidate
        guess *= 1 - shrink
        shrink = min(2 * shrink, 0.5)


def _least_noise(shape: AnyShape, noise: float) -> float:
    """The smallest loss of any number that is drawn for a statistic; of a quantile of groups, also of their sizes."""
    return min(noise, shape.size_epsilon(noise)) if isinstance(shape, QuantileShape) and not shape.whole else noise


def _noise(shapes: Sequence[AnyShape], scale: float) -> tuple[float, ...]:
    """Return the loss per step of every statistic: its share of the scale, spread over its reach."""
    return tuple(min(LARGEST_NOISE_EPSILON, scale * shape.share / shape.reach) for shape in shapes)


def _total_claim(shape: Shape, noise: float) -> Derivation:
    if shape.bins == 1:
        return RULES["totals.sum"](grid_steps=shape.steps, noise_epsilon=noise)
    if shape.steps == 1:
        return RULES["totals.histogram"](bins=shape.bins, noise_epsilon=noise)
    return RULES["totals.groups"](bins=shape.bins, grid_steps=shape.steps, noise_epsilon=noise)


def statistics_claim(shapes: Sequence[AnyShape], noise_epsilons: Sequence[float]) -> Derivation:
    """Derive the guarantee of totals and quantiles published together; totals alone as totals."""
    both = list(zip(shapes, noise_epsilons, strict=True))
    totals = [_total_claim(shape, noise) for shape, noise in both if isinstance(shape, Shape)]
    summed = totals if len(totals) < 2 else [RULES["totals.together"](*totals)]
    if len(totals) == len(both):
        return summed[0]
    chosen = [claim for shape, noise in both if isinstance(shape, QuantileShape) for claim in shape.claims(noise)]
    steps = [*map(replaced_claim, summed), *chosen]
    return steps[0] if len(steps) == 1 else RULES["composition.adaptive"](*steps)


@dataclass(frozen=True)
class TotalsRequest:
    """A steward's request: statistics within ε relative to k of n samples, errors except with β.

    `mixed` allows one part of the statistics to go one way and the rest the other, which reads the data twice.
    `plain` is about differential privacy alone: ε is the loss with one person's data replaced, not only concealed.
    """

    shapes: tuple[AnyShape, ...]
    epsilon: float
    samples: int
    population: int
    failure: float
    mixed: bool = True
    plain: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= self.population:
            message = f"A sample of {self.samples} cannot be drawn from {self.population} people."
            raise InvalidInput(message, remedy="Draw between 1 and all of them.", where="sample", code="plan.sample")


@dataclass(frozen=True)
class TotalsPlan:
    """The ways that the statistics go, and what they guarantee together.

    Statistics that go the same way share its samples; `ways` has one entry for each way that is taken, with the
    positions of its statistics. `alternatives` are both ways of a sample where all statistics go that way.
    """

    shapes: tuple[AnyShape, ...]
    ways: tuple[tuple[tuple[int, ...], Way | StrataWay], ...]
    alternatives: Mapping[SampleWay, Way | None] = field(default_factory=dict)

    def derivations(self) -> tuple[Derivation, ...]:
        """Zero-knowledge first, then differential privacy, from the claim of each way's mechanism."""
        each = [way.derivations() for _, way in self.ways]
        if len(each) == 1:
            return each[0]
        private, differential = zip(*each, strict=True)
        return RULES["composition.random-samples"](*private), RULES["composition.differential"](*differential)

    def way_of(self, position: int) -> Way | StrataWay:
        """Return the way that a statistic goes."""
        return next(way for places, way in self.ways if position in places)

    def noise_epsilon(self, position: int) -> float:
        """Return the loss per step of the noise on a statistic."""
        places, way = next(found for found in self.ways if position in found[0])
        return way.noise_epsilons[places.index(position)]

    def error(self, position: int) -> float:
        """Return the error of a statistic of a sample, in steps per person; of groups, where they are of equal size."""
        places, way = next(found for found in self.ways if position in found[0])
        assert isinstance(way, Way), "the errors of strata depend on their sizes"
        return way.errors[places.index(position)]

    def error_if_all(self, mechanism: SampleWay, position: int) -> float | None:
        """Return the error that a statistic would have if all went this way; None where the noise would be too wide."""
        way = self.alternatives[mechanism]
        return None if way is None else way.errors[position]


def plan_statistics(request: TotalsRequest) -> TotalsPlan:
    """Return the way, or the mixture of both, with the smallest sum of errors relative to their ranges."""
    everything = tuple(range(len(request.shapes)))
    alternatives = {name: _way(name, request, everything, 1.0, request.samples) for name in (EVERYBODY, SAMPLE)}
    if request.plain:
        alternatives[EVERYBODY] = None
    candidates: list[Taken] = [((everything, way),) for way in alternatives.values() if way is not None]
    candidates += [] if request.plain else _mixtures(request)
    if not candidates:
        message = "With this epsilon and these resolutions the noise does not fit numbers of 64 bits."
        remedy = "Use coarser resolutions, fewer statistics or a larger epsilon."
        raise InvalidInput(message, remedy=remedy, where="epsilon", code="plan.noise-too-large")
    best = min(candidates, key=lambda ways: _total(request.shapes, ways))
    return TotalsPlan(request.shapes, best, alternatives)


def _mixtures(request: TotalsRequest) -> list[Taken]:
    """Return every statistic on its better side, each side with half of the samples; nothing if all are on one side."""
    half = request.samples // 2
    if not request.mixed or len(request.shapes) == 1 or half == 0:
        return []
    halves: dict[SampleWay, int] = {EVERYBODY: half, SAMPLE: request.samples - half}
    whole = tuple(range(len(request.shapes)))
    tried = {name: way for name, some in halves.items() if (way := _way(name, request, whole, 1.0, some))}
    if len(tried) < 2:
        return []
    better = [min(tried, key=lambda name: tried[name].errors[place]) for place in whole]
    if len(set(better)) == 1:
        return []
    mixture = []
    for name, samples in halves.items():
        places = tuple(place for place in whole if better[place] == name)
        way = _way(name, request, places, sum(request.shapes[place].share for place in places), samples)
        if way is None:
            return []
        mixture.append((places, way))
    return [tuple(mixture)]


def _way(name: SampleWay, request: TotalsRequest, places: Sequence[int], share: float, samples: int) -> Way | None:
    """Return the statistics at these places, which own this share of ε, published one way."""
    shapes = [replace(request.shapes[place], share=request.shapes[place].share / share) for place in places]
    # Rounded down, so that the parts of a mixture stay within ε together.
    loss = request.epsilon if share == 1 else request.epsilon * share * (1 - 1e-12)
    return plan_way(name, shapes, loss, samples, request.population, request.failure)


def _total(shapes: Sequence[AnyShape], ways: Taken) -> float:
    return sum(
        error / shapes[place].span for places, way in ways for place, error in zip(places, way.errors, strict=True)
    )
