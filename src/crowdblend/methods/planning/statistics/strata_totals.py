"""Statistics of strata: whole weights, the noise that they leave room for, and how far estimates may be off.

Anyone who is kept counts as this many equal people: one over the rate, in whole multiples of a `unit`. So everything
that is published is an estimate for the population, multiplied with nothing but the unit
(docs/proofs.md#statistics-of-strata).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs import Design, Stratum
from crowdblend.methods.designs.design import claim_of_rows, differential_of
from crowdblend.methods.planning.statistics.accuracy import UP, QuantileShape, Shape, noise_error
from crowdblend.methods.planning.statistics.ways import LARGEST_NOISE_EPSILON, STRATA, AnyShape, largest
from crowdblend.trusted.calculus import RULES, Derivation

# Weights are exact where a unit divides them all and none is above this; else the smallest has this many units.
_MOST_COPIES = 1_000_000
_FINE = 10_000
_OWN_FINE = 1_000
# How the chance of failing is divided where people are drawn: the noise, the number of people, the rest the draw.
_NOISE, _SIZE = 0.25, 0.05


@dataclass(frozen=True)
class Weights:
    """The weight of a person of each stratum, in whole multiples of `unit`, and its rates.

    Where everybody has a weight of their own, `rounding` is how far a weight is off in multiples of the unit, as a
    share of it; else everybody of a stratum counts alike.

    >>> three = [Stratum(rate, rate, rate) for rate in (0.05, 0.1, 0.5)]
    >>> weights_of(three).copies, weights_of(three).unit
    ((10, 5, 1), Fraction(2, 1))
    """

    copies: tuple[int, ...]
    unit: Fraction
    rates: tuple[tuple[float, float], ...]
    rounding: float | None = None
    # The share of a survey's people whom a coin kept, so that everybody stands for more than their own weight.
    kept: Fraction = Fraction(1)
    # Whether a fixed number of people was asked, so that coins of theirs are not independent.
    fixed_size: bool = False
    # The largest number of rows that count of one person.
    rows: int = 1

    def of(self, strata: Sequence[int] | None) -> Weights:
        """The same for people of some strata alone; None for all."""
        if strata is None or not strata:
            return self
        copies = tuple(self.copies[place] for place in strata)
        return replace(self, copies=copies, rates=tuple(self.rates[place] for place in strata))

    @property
    def read_unit(self) -> Fraction:
        """The unit of own weights, as they are read."""
        return self.unit * self.kept

    @property
    def largest(self) -> int:
        """The largest number of copies of anyone."""
        return max(self.copies)

    @property
    def jump(self) -> int:
        """The jump of a sum of copies by one person's coin: 0 where everybody is counted."""
        return self.rows * self.largest if self.spread else 0

    @cached_property
    def spread(self) -> float:
        """The largest of rows·copies·(1 − rate): the variance of an estimate is at most that times what it estimates.

        Of a fixed number of people sums deviate no more than if they were drawn with replacement (Hoeffding 1963).
        """
        if self.fixed_size:
            return self.rows * self.largest * UP
        each = zip(self.copies, self.rates, strict=True)
        return self.rows * max(copies * (1 - low) for copies, (low, _) in each) * UP

    @cached_property
    def bias(self) -> tuple[float, float]:
        """The range of the mean of an estimate, as shares of the truth: 1 and 1 if weights are exact."""
        if self.rounding is not None:
            return 1 - self.rounding, 1 + self.rounding
        each = list(zip(self.copies, self.rates, strict=True))
        low = min(float(self.unit * copies * Fraction(least)) for copies, (least, _) in each)
        high = max(float(self.unit * copies * Fraction(most)) for copies, (_, most) in each)
        return low / UP, high * UP

    @property
    def share_bias(self) -> float:
        """The error of a share from inexact weights: odds err by r, shares by (√r − 1)/(√r + 1)."""
        low, high = self.bias
        root = math.sqrt(high / low)
        return (root - 1) / (root + 1) * UP


def weights_of(strata: Sequence[Stratum]) -> Weights:
    """One over the rate of every stratum; exact where that needs no more than a million units.

    Where no rate is stated, a middle one counts.
    """
    weights = [1 / Fraction(Decimal(repr(float(one.rate or math.sqrt(one.low * one.high))))) for one in strata]
    unit = Fraction(
        math.gcd(*(weight.numerator for weight in weights)), math.lcm(*(weight.denominator for weight in weights))
    )
    if max(weights) / unit > _MOST_COPIES:
        unit = min(weights) / _FINE
    copies = tuple(round(weight / unit) for weight in weights)
    return Weights(copies, unit, tuple((stratum.low, stratum.high) for stratum in strata))


def weights_of_design(design: Design, rows: int = 1) -> Weights:
    """Return the weights of everybody by the rates at which people are counted, with up to this many rows each."""
    if rows > 1:
        return replace(weights_of_design(design), rows=rows)
    if design.breaks:
        own, kept = own_weights(design.breaks, list(design.strata.values())), Fraction(design.thin or 1.0)
        rates = tuple((one.low, one.high) for one in design.counting_strata.values())
        return replace(own, unit=own.unit / kept, rates=rates, kept=kept)
    if design.strata:
        return weights_of(list(design.counting_strata.values()))
    ends = design.inclusion
    assert ends is not None, "only strata have no rates for all people"
    return replace(weights_of([ends]), fixed_size=design.people is not None)


def own_weights(breaks: Sequence[float], strata: Sequence[Stratum]) -> Weights:
    """Return own weights, between two breaks; a person counts for no more than the upper one.

    Rounding to the unit is done in doubles, and one copy more than the upper break has covers that.

    >>> made = own_weights([40, 60, 90], [Stratum(0.02, 1 / 60, 1 / 40), Stratum(0.013, 1 / 90, 1 / 60)])
    >>> made.unit, made.copies, round(made.rounding or 0, 6)
    (Fraction(1, 25), (1501, 2251), 0.0005)
    """
    lowest, highest = Fraction(breaks[0]), Fraction(breaks[-1])
    wanted = max(lowest / _OWN_FINE, highest / _MOST_COPIES)
    power = Fraction(10) ** math.floor(math.log10(wanted))
    unit = power * max(1, math.floor(wanted / power))
    copies = tuple(math.floor(Fraction(upper) / unit + Fraction(1, 2)) + 1 for upper in breaks[1:])
    rates = tuple((stratum.low, stratum.high) for stratum in strata)
    return Weights(copies, unit, rates, float(unit / (2 * lowest)) * (1 + 1e-9))


def lost(shape: AnyShape) -> float:
    """Return the cost of one unit of a statistic's noise when a person counted once is removed."""
    if isinstance(shape, QuantileShape):
        return shape.shift / 2 + shape.size_epsilon(1.0)
    return float(shape.steps)


def strata_claim(shapes: Sequence[AnyShape], noise_epsilons: Sequence[float]) -> Derivation:
    """Derive the joint guarantee of all statistics, with one person counted once more or less."""
    steps: list[Derivation] = []
    for shape, noise in zip(shapes, noise_epsilons, strict=True):
        if isinstance(shape, QuantileShape):
            share = {"numerator": shape.at.numerator, "denominator": shape.at.denominator}
            steps.append(RULES["quantile.add-remove"](**share, noise_epsilon=noise))
            added = {"bins": shape.groups, "grid_steps": 1, "noise_epsilon": shape.size_epsilon(noise)}
        else:
            added = {"bins": shape.bins, "grid_steps": shape.steps, "noise_epsilon": noise}
        steps.append(RULES["totals.add-remove"](**added))
    return steps[0] if len(steps) == 1 else RULES["composition.adaptive"](*steps)


@dataclass(frozen=True)
class StrataWay:
    """All statistics of the people of all strata: the noise of each, and how far each may be off."""

    mechanism: ClassVar[Literal["strata"]] = STRATA
    # Nothing is about a public number of people.
    people_counted: ClassVar[int] = 0

    design: Design
    weights: Weights
    shapes: tuple[AnyShape, ...]
    noise_epsilons: tuple[float, ...]
    failure: float

    @cached_property
    def claim(self) -> Derivation:
        """The guarantee of the planned noise with one person, whose rows count once each, more or less."""
        return claim_of_rows(strata_claim(self.shapes, self.noise_epsilons), self.weights.rows)

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss of the worst stratum."""
        return float(differential_of(self.derivations()).conclusion.epsilon)

    def derivations(self) -> tuple[Derivation, ...]:
        """The worst stratum counts: zero-knowledge, and differential privacy under both relations."""
        return self.design.derivations_in_copies(self.claim, self.weights.copies)

    @property
    def copies(self) -> tuple[int, ...]:
        """The number of copies of a person of each stratum."""
        return self.weights.copies

    @property
    def steps(self) -> int:
        """The number of steps of its derivation."""
        quantiles = sum(isinstance(shape, QuantileShape) for shape in self.shapes)
        kinds = set(zip(self.weights.rates, self.weights.copies, strict=True))
        return len(self.shapes) + quantiles + len(kinds) + 2 + (self.weights.rows > 1)

    def total(self, place: int, noisy: int, strata: Sequence[int] | None = None) -> tuple[float, float, float]:
        """Return an estimate from a noisy total of steps in copies, and between which numbers the true one lies.

        `strata` are those that its people can be in, here and below.
        """
        shape, weights = self.shapes[place], self.weights.of(strata)
        assert isinstance(shape, Shape)
        each = self.failure / shape.bins
        t = noise_error(self.noise_epsilons[place], each * _NOISE)
        low, high = _means(noisy - t, noisy + t, weights, shape.steps, each * (1 - _NOISE))
        least, most = weights.bias
        unit = float(weights.unit)
        return max(0, noisy) * unit, max(0.0, low * unit / most / UP), high * unit / least * UP

    def share(self, place: int, total: int, strata: Sequence[int] | None = None) -> float:
        """The error of a share of two noisy totals that add up to `total` steps, of one of its groups."""
        shape = self.shapes[place]
        assert isinstance(shape, Shape)
        each = self.failure / (shape.bins // 2)
        t = noise_error(self.noise_epsilons[place], each * _NOISE / 2)
        if total <= 0:
            return 1.0
        most = float(Fraction(total + 2 * t, shape.steps))
        return share_error(self.weights.of(strata), t / total, most, total / shape.steps, each)

    def rank(self, place: int, size: int, strata: Sequence[int] | None = None) -> float:
        """Return the error of the rank of a quantile of a group with this noisy size in copies."""
        shape = self.shapes[place]
        assert isinstance(shape, QuantileShape)
        each, noise = self.failure / shape.groups, self.noise_epsilons[place]
        t = noise_error(shape.size_epsilon(noise), each * _NOISE / 2)
        if size - t < 1:
            return 1.0
        chosen = shape.rank_error(noise, each * _NOISE / 2) / (size - t)
        return share_error(self.weights.of(strata), chosen, size + t, size - t, each)


def share_error(weights: Weights, noise: float, most: float, divisor: float, failure: float) -> float:
    """Return the error of a share by noise, bias and the draw of at most `most` copies, divided by `divisor`."""
    _, expected = _means(most, most, weights, 1, failure * _SIZE)
    drawn = _deviation(weights, 1, expected / 4, failure * (1 - _NOISE - _SIZE))
    return min(1.0, (noise + drawn / divisor + weights.share_bias) * UP)


def _deviation(weights: Weights, steps: int, mean_spread: float, failure: float) -> float:
    """Return a sum's deviation from its mean (Bernstein); variances sum to at most `mean_spread` spreads."""
    logarithm = math.log(2 / failure)
    bound = logarithm * weights.jump * steps / 3
    return (bound + math.sqrt(bound**2 + 2 * logarithm * weights.spread * steps * mean_spread)) * UP


def _means(low: float, high: float, weights: Weights, steps: int, failure: float) -> tuple[float, float]:
    """Return the means that a sum between low and high can have, by the same deviation."""
    logarithm = math.log(2 / failure)
    bound, spread = logarithm * weights.jump * steps / 3, logarithm * weights.spread * steps
    above, below = max(0.0, high), max(0.0, low)
    most = above + (bound + spread + math.sqrt((bound + spread) ** 2 + 2 * spread * above)) * UP
    least = below - (bound - spread + math.sqrt((bound - spread) ** 2 + 2 * spread * below)) * UP
    return max(0.0, least), most


def plan_strata_statistics(
    design: Design, weights: Weights, shapes: Sequence[AnyShape], epsilon: float, failure: float
) -> StrataWay:
    """Return the least noise that keeps everybody within ε, whichever stratum they are in."""
    rates = [high for _, high in weights.rates] if design.strata else [design.largest_rate] * len(weights.copies)
    # The loss of a kept person that costs everybody epsilon: ln(1 + (e^ε − 1)/rate).
    losses = [math.log1p(math.expm1(epsilon) / rate) if epsilon < 500 else epsilon - math.log(rate) for rate in rates]
    scale = min(loss / (copies * weights.rows) for copies, loss in zip(weights.copies, losses, strict=True))

    def way(scale: float) -> StrataWay:
        noise = tuple(min(LARGEST_NOISE_EPSILON, scale * shape.share / lost(shape)) for shape in shapes)
        return StrataWay(design, weights, tuple(shapes), noise, failure)

    if (planned := largest(scale, way, epsilon)) is None:
        message = "With this epsilon, these rates and resolutions the noise does not fit numbers of 64 bits."
        remedy = "Use coarser resolutions, fewer statistics, a larger epsilon, or rates that differ less."
        raise InvalidInput(message, remedy=remedy, where="epsilon", code="plan.noise-too-large")
    return planned
