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

EVERYBODY: Literal["everybody"] = "everybody"
SAMPLE: Literal["sample"] = "sample"
Mechanism = Literal["everybody", "sample"]

_LARGEST_NOISE_EPSILON = 700.0
# The samplers draw whole numbers of 64 bits, and are exact down to this loss per step.
SMALLEST_NOISE_EPSILON = 2.0**-40


@dataclass(frozen=True)
class Way:
    """Some statistics published by one mechanism with respect to `samples` of `population` people."""

    mechanism: Mechanism
    samples: int
    population: int
    shapes: tuple[Shape, ...]
    noise_epsilons: tuple[float, ...]
    errors: tuple[float, ...]

    @cached_property
    def claim(self) -> Derivation:
        """What the planned noise guarantees about the totals."""
        return totals_claim(self.shapes, self.noise_epsilons)

    @cached_property
    def zero_knowledge(self) -> Derivation:
        """The planned guarantee relative to `samples` random people."""
        return self.zero_knowledge_of(self.claim)

    def zero_knowledge_of(self, totals: Derivation) -> Derivation:
        """What the claim about noisy totals becomes relative to `samples` random people."""
        drawn = {"samples": self.samples, "population": self.population}
        if self.mechanism == EVERYBODY:
            return RULES["totals.zero-knowledge"](totals, **drawn)
        return RULES["sample-and-sanitize.sharp"](RULES["totals.differential"](totals), **drawn)

    def differential_of(self, totals: Derivation) -> Derivation:
        """What the claim about noisy totals becomes with one person's data replaced."""
        hidden = RULES["totals.differential"](totals)
        if self.mechanism == EVERYBODY:
            return hidden
        drawn = {"samples": self.samples, "population": self.population}
        return RULES["sample-and-sanitize.differential"](hidden, **drawn)


def from_everybody(
    shapes: Sequence[Shape], epsilon: float, samples: int, population: int, failure: float
) -> Way | None:
    """Noise on everybody's totals, calibrated to how well k random people estimate them; None if it is too wide."""

    def way(scale: float) -> Way:
        noise = _noise(shapes, scale)
        errors = tuple(error_of_everybody(*each, population, failure) for each in zip(shapes, noise, strict=True))
        return Way(EVERYBODY, samples, population, tuple(shapes), noise, errors)

    unit: NoisyTotals = totals_claim(shapes, _noise(shapes, 1.0)).conclusion
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


def from_sample(shapes: Sequence[Shape], epsilon: float, samples: int, population: int, failure: float) -> Way | None:
    """Noise on the totals of k people drawn without replacement, as much as the draw leaves to hide."""
    odds = population / samples
    # ln(1 + (n/k)(e^ε − 1)), also where e^ε is no double.
    inner = math.log1p(odds * math.expm1(epsilon)) if epsilon < 500 else epsilon + math.log(odds)

    def way(scale: float) -> Way:
        noise = _noise(shapes, scale)
        errors = tuple(error_of_sample(*each, samples, population, failure) for each in zip(shapes, noise, strict=True))
        return Way(SAMPLE, samples, population, tuple(shapes), noise, errors)

    return _largest(inner, shapes, way, epsilon)


def _largest(guess: float, shapes: Sequence[Shape], way: Callable[[float], Way], epsilon: float) -> Way | None:
    """The way at the guessed scale or a little below it: the first that keeps to ε; None if its noise is too wide."""
    shrink = 1e-15
    while min(_noise(shapes, guess)) >= SMALLEST_NOISE_EPSILON:
        candidate = way(guess)
        if candidate.zero_knowledge.conclusion.epsilon <= epsilon:
            return candidate
        guess *= 1 - shrink
        shrink = min(2 * shrink, 0.5)
    return None


def _noise(shapes: Sequence[Shape], scale: float) -> tuple[float, ...]:
    """The loss per step of every statistic: its share of the scale, spread over its reach."""
    return tuple(min(_LARGEST_NOISE_EPSILON, scale * shape.share / shape.reach) for shape in shapes)


def totals_claim(shapes: Sequence[Shape], noise_epsilons: Sequence[float]) -> Derivation:
    """What noise of these losses per step guarantees about totals of these shapes, published together."""
    parts = [
        RULES["totals.sum"](grid_steps=shape.steps, noise_epsilon=noise)
        if shape.bins == 1
        else RULES["totals.histogram"](bins=shape.bins, noise_epsilon=noise)
        for shape, noise in zip(shapes, noise_epsilons, strict=True)
    ]
    return parts[0] if len(parts) == 1 else RULES["totals.together"](*parts)
