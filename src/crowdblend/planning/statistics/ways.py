"""The two ways to publish totals, each as noise for every statistic and what all of them guarantee together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from crowdblend.calculus import RULES, Derivation
from crowdblend.guarantees import NoisyTotals
from crowdblend.planning.statistics.accuracy import Shape, error_of_everybody, error_of_sample, finite_population
from crowdblend.planning.statistics.groups import equal_groups_error
from crowdblend.planning.statistics.quantiles import QuantileShape

EVERYBODY: Literal["everybody"] = "everybody"
SAMPLE: Literal["sample"] = "sample"
Mechanism = Literal["everybody", "sample"]
AnyShape = Shape | QuantileShape

_LARGEST_NOISE_EPSILON = 700.0
# The samplers draw whole numbers of 64 bits, and are exact down to this loss per step.
SMALLEST_NOISE_EPSILON = 2.0**-40


@dataclass(frozen=True)
class Way:
    """Some statistics published by one mechanism with respect to `samples` of `population` people.

    The errors of averages and quantiles of groups are those of groups of equal size.
    """

    mechanism: Mechanism
    samples: int
    population: int
    shapes: tuple[AnyShape, ...]
    noise_epsilons: tuple[float, ...]
    errors: tuple[float, ...]

    @cached_property
    def claim(self) -> Derivation:
        """What the planned noise guarantees: about the totals, or about totals and quantiles together."""
        return statistics_claim(self.shapes, self.noise_epsilons)

    @cached_property
    def zero_knowledge(self) -> Derivation:
        """The planned guarantee relative to `samples` random people."""
        return self.zero_knowledge_of(self.claim)

    def zero_knowledge_of(self, claim: Derivation) -> Derivation:
        """What the claim becomes relative to `samples` random people."""
        drawn = {"samples": self.samples, "population": self.population}
        if self.mechanism == EVERYBODY:
            return RULES["totals.zero-knowledge"](claim, **drawn)
        return RULES["sample-and-sanitize.sharp"](_replaced(claim), **drawn)

    def differential_of(self, claim: Derivation) -> Derivation:
        """What the claim becomes with one person's data replaced."""
        hidden = _replaced(claim)
        if self.mechanism == EVERYBODY:
            return hidden
        drawn = {"samples": self.samples, "population": self.population}
        return RULES["sample-and-sanitize.differential"](hidden, **drawn)


def _replaced(claim: Derivation) -> Derivation:
    """The claim with one person's data replaced; with quantiles it is that already."""
    totals = isinstance(claim.conclusion, NoisyTotals)
    return RULES["totals.differential"](claim) if totals else claim


def from_everybody(
    shapes: Sequence[AnyShape], epsilon: float, samples: int, population: int, failure: float
) -> Way | None:
    """Noise on everybody's totals, calibrated to how well k random people estimate them; None if it is too wide.

    No number of random people tells how far a quantile is, so that a quantile never goes this way.
    """
    totals = [shape for shape in shapes if isinstance(shape, Shape)]
    if len(totals) < len(shapes):
        return None

    def way(scale: float) -> Way:
        noise = _noise(shapes, scale)
        errors = tuple(_error_of_everybody(*each, population, failure) for each in zip(totals, noise, strict=True))
        return Way(EVERYBODY, samples, population, tuple(shapes), noise, errors)

    unit: NoisyTotals = totals_claim(totals, _noise(totals, 1.0)).conclusion
    return _largest(_scale_of_everybody(unit, epsilon, samples, population), shapes, way, epsilon)


def _scale_of_everybody(unit: NoisyTotals, epsilon: float, samples: int, population: int) -> float:
    """The t where t·step + max(t²·moment, t·mean) reaches ε, the totals being t times those of scale 1."""
    moment = (population * unit.reach) ** 2 * finite_population(samples, population) / (8 * samples)
    deviation = math.sqrt((population - samples) / (max(population - 1, 1) * samples))
    by_mean = epsilon / (unit.step + population * unit.drift * deviation)
    if moment == 0:
        return by_mean
    # The root of moment·t² + step·t = ε in the form that does not cancel.
    return min(by_mean, 2 * epsilon / (unit.step + math.sqrt(unit.step**2 + 4 * moment * epsilon)))


def _error_of_everybody(shape: Shape, noise_epsilon: float, population: int, failure: float) -> float:
    if shape.sized:
        return equal_groups_error(shape, noise_epsilon, population, population, failure)
    return error_of_everybody(shape, noise_epsilon, population, failure)


def _error_of_sample(shape: AnyShape, noise_epsilon: float, samples: int, population: int, failure: float) -> float:
    if isinstance(shape, QuantileShape):
        return shape.error(noise_epsilon, samples, population, failure)
    if shape.sized:
        return equal_groups_error(shape, noise_epsilon, samples, population, failure)
    return error_of_sample(shape, noise_epsilon, samples, population, failure)


def from_sample(
    shapes: Sequence[AnyShape], epsilon: float, samples: int, population: int, failure: float
) -> Way | None:
    """Noise on the totals of k people drawn without replacement, as much as the draw leaves to hide."""
    odds = population / samples
    # ln(1 + (n/k)(e^ε − 1)), also where e^ε is no double.
    inner = math.log1p(odds * math.expm1(epsilon)) if epsilon < 500 else epsilon + math.log(odds)

    def way(scale: float) -> Way:
        noise = _noise(shapes, scale)
        errors = tuple(
            _error_of_sample(*each, samples, population, failure) for each in zip(shapes, noise, strict=True)
        )
        return Way(SAMPLE, samples, population, tuple(shapes), noise, errors)

    return _largest(inner, shapes, way, epsilon)


def _largest(guess: float, shapes: Sequence[AnyShape], way: Callable[[float], Way], epsilon: float) -> Way | None:
    """The way at the guessed scale or a little below it: the first that keeps to ε; None if its noise is too wide."""
    shrink = 1e-15
    while min(_noise(shapes, guess)) >= SMALLEST_NOISE_EPSILON:
        candidate = way(guess)
        if candidate.zero_knowledge.conclusion.epsilon <= epsilon:
            return candidate
        guess *= 1 - shrink
        shrink = min(2 * shrink, 0.5)
    return None


def _noise(shapes: Sequence[AnyShape], scale: float) -> tuple[float, ...]:
    """The loss per step of every statistic: its share of the scale, spread over its reach."""
    return tuple(min(_LARGEST_NOISE_EPSILON, scale * shape.share / shape.reach) for shape in shapes)


def totals_claim(shapes: Sequence[Shape], noise_epsilons: Sequence[float]) -> Derivation:
    """What noise of these losses per step guarantees about totals of these shapes, published together."""
    parts = [_total_claim(shape, noise) for shape, noise in zip(shapes, noise_epsilons, strict=True)]
    return parts[0] if len(parts) == 1 else RULES["totals.together"](*parts)


def _total_claim(shape: Shape, noise: float) -> Derivation:
    if shape.bins == 1:
        return RULES["totals.sum"](grid_steps=shape.steps, noise_epsilon=noise)
    if shape.steps == 1:
        return RULES["totals.histogram"](bins=shape.bins, noise_epsilon=noise)
    return RULES["totals.groups"](bins=shape.bins, grid_steps=shape.steps, noise_epsilon=noise)


def statistics_claim(shapes: Sequence[AnyShape], noise_epsilons: Sequence[float]) -> Derivation:
    """What totals and quantiles guarantee that are published together; totals alone as totals."""
    both = list(zip(shapes, noise_epsilons, strict=True))
    totals = [(shape, noise) for shape, noise in both if isinstance(shape, Shape)]
    summed = [totals_claim(*zip(*totals, strict=True))] if totals else []
    if len(totals) == len(both):
        return summed[0]
    chosen = [claim for shape, noise in both if isinstance(shape, QuantileShape) for claim in shape.claims(noise)]
    steps = [*map(_replaced, summed), *chosen]
    return steps[0] if len(steps) == 1 else RULES["composition.adaptive"](*steps)
