"""The two ways to publish totals, each as noise for every statistic and a derivation of what they promise together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    noise_epsilons: tuple[float, ...]
    errors: tuple[float, ...]
    zero_knowledge: Derivation
    differential: Derivation


def from_everybody(
    shapes: Sequence[Shape], epsilon: float, samples: int, population: int, failure: float
) -> Way | None:
    """Noise on everybody's totals, calibrated to how well k random people estimate them; None if it is too wide."""
    seen = RULES["totals.zero-knowledge"]

    def promise(scale: float) -> Derivation:
        return seen(_totals(shapes, scale), samples=samples, population=population)

    scale = _largest(
        _scale_of_everybody(_totals(shapes, 1.0).conclusion, epsilon, samples, population),
        lambda t: promise(t).conclusion.epsilon <= epsilon,
        lambda t: _at_least(shapes, t),
    )
    if scale is None:
        return None
    noise = _noise(shapes, scale)
    errors = tuple(error_of_everybody(*each, population, failure) for each in zip(shapes, noise, strict=True))
    made = promise(scale)
    return Way(EVERYBODY, samples, population, noise, errors, made, RULES["totals.differential"](*made.premises))


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
    amplified = RULES["sample-and-sanitize.sharp"]

    def promise(scale: float) -> Derivation:
        return amplified(RULES["totals.differential"](_totals(shapes, scale)), samples=samples, population=population)

    scale = _largest(
        inner,
        lambda t: promise(t).conclusion.epsilon <= epsilon,
        lambda t: _at_least(shapes, t),
    )
    if scale is None:
        return None
    noise = _noise(shapes, scale)
    errors = tuple(error_of_sample(*each, samples, population, failure) for each in zip(shapes, noise, strict=True))
    made = promise(scale)
    drawn = RULES["sample-and-sanitize.differential"](*made.premises, samples=samples, population=population)
    return Way(SAMPLE, samples, population, noise, errors, made, drawn)


def _largest(guess: float, holds: Callable[[float], bool], useful: Callable[[float], bool]) -> float | None:
    """The guess, or a little less: the first that holds."""
    shrink = 1e-15
    while useful(guess):
        if holds(guess):
            return guess
        guess *= 1 - shrink
        shrink = min(2 * shrink, 0.5)
    return None


def _noise(shapes: Sequence[Shape], scale: float) -> tuple[float, ...]:
    """The loss per step of every statistic: its share of the scale, spread over its reach."""
    return tuple(min(_LARGEST_NOISE_EPSILON, scale * shape.share / shape.reach) for shape in shapes)


def _at_least(shapes: Sequence[Shape], scale: float) -> bool:
    return min(_noise(shapes, scale)) >= SMALLEST_NOISE_EPSILON


def _totals(shapes: Sequence[Shape], scale: float) -> Derivation:
    parts = [
        RULES["totals.sum"](grid_steps=shape.steps, noise_epsilon=noise)
        if shape.bins == 1
        else RULES["totals.histogram"](bins=shape.bins, noise_epsilon=noise)
        for shape, noise in zip(shapes, _noise(shapes, scale), strict=True)
    ]
    return parts[0] if len(parts) == 1 else RULES["totals.together"](*parts)
