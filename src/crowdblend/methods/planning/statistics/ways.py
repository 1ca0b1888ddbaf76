"""The two ways to publish statistics of k of n people: noise for each, and what all of them guarantee together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeVar

from crowdblend.methods.designs import Survey
from crowdblend.methods.designs.survey import replaced_claim
from crowdblend.methods.planning.statistics.accuracy import QuantileShape, Shape, finite_population
from crowdblend.trusted.calculus import RULES, Derivation
from crowdblend.trusted.guarantees.utility import NoisyTotals

EVERYBODY: Literal["everybody"] = "everybody"
SAMPLE: Literal["sample"] = "sample"
STRATA: Literal["strata"] = "strata"
SampleWay = Literal["everybody", "sample"]
Mechanism = Literal["everybody", "sample", "strata"]
AnyShape = Shape | QuantileShape

LARGEST_NOISE_EPSILON = 700.0
# The samplers draw whole numbers of 64 bits, and are exact down to this loss per step.
SMALLEST_NOISE_EPSILON = 2.0**-40


class KeepsEpsilon(Protocol):
    """Statistics with noise that costs everybody some ε."""

    @property
    def shapes(self) -> tuple[AnyShape, ...]:
        """The shape of every statistic, which its noise depends on."""

    @property
    def noise_epsilons(self) -> tuple[float, ...]:
        """The loss per step of every statistic."""

    @property
    def epsilon(self) -> float:
        """The cost of the noise."""


WayT = TypeVar("WayT", bound=KeepsEpsilon)


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
        for shape, noise in zip(candidate.shapes, candidate.noise_epsilons, strict=True):
            # Of a quantile of groups, their sizes are noisy as well.
            sizes = shape.size_epsilon(noise) if isinstance(shape, QuantileShape) and not shape.whole else noise
            if min(noise, sizes) < SMALLEST_NOISE_EPSILON:
                return None
        if candidate.epsilon <= epsilon:
            return candidate
        guess *= 1 - shrink
        shrink = min(2 * shrink, 0.5)


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
