"""The divergence of several mechanisms, each on a part of one sample that shares nobody with the others.

Each person is sampled with probability β and, if sampled, goes to part i with probability s_i: to part i with
probability β_i = βs_i, to some part with b = Σβ_i. With Q the output without the person and P_i the output when the
person is put into part i, the output with the person is Σβ_i·P_i + (1−b)·Q, the average of b·P_i + (1−b)·Q with the
weights β_i/b. Joint convexity divides its divergence from Q among the parts, in each direction by itself:

    up   ≤ b·Σ(β_i/b)·more_i(1 + (α−1)/b)        down ≤ gain·Σ(β_i/b)·fewer_i(αb/gain),   gain = 1 − α(1−b),

more_i and fewer_i the divergences of P_i from Q and back. P_i and Q differ in publication i alone. Given all other
parts, everybody else is in part i independently with probability r_i = β_i/(1 − b + β_i); so the term of part i is that
of its mechanism with the person surely there and each other person with probability r_i, at the worst number of
others (docs/proofs.md#parts-of-one-sample-of-any-kind).

A `Term` is a mechanism at one factor. The classes below are curves, of mechanisms that all see one sample too: every
mechanism is a kernel, P its output with the person surely in its part, Q the output without. All of them meet the
person with the same probability, so their curves are those of one kernel, the weighted average of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from flint import arb

from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number, sampled_factors
from crowdblend.trusted.numerics.combined_curves import falling, mean
from crowdblend.trusted.numerics.crowd_divergence import Gap, one_fewer, one_more, two_corners
from crowdblend.trusted.numerics.noise_below_k import spliced_gaps
from crowdblend.trusted.numerics.points_in_crowds import gathered_ratios, mean_gap
from crowdblend.trusted.numerics.profile_curves import (
    LARGEST_LOSS,
    Bounds,
    Crowds,
    Curve,
    Gaps,
    Kernel,
    LossPair,
    OnSample,
    until,
)

# Gains below this are taken for the divergence itself.
SMALLEST_GAIN = 1e-25
Pair = tuple[Number, Number]


class Term(Protocol):
    """A mechanism: P its output with the person surely in its table, Q without, everybody else there with
    probability `rate`."""

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, weights: Pair) -> Pair:
        """Bounds of Σ(P − sQ)₊ and of Σ(Q − sP)₊, each at its factor s ≥ 1, at the worst number of others.

        The weights say how the two will be used: what is small against the other need not be sharp.
        """


@dataclass(frozen=True)
class CrowdTerm:
    """A mechanism that hides people in crowds of k up to a factor `blend`; suppression where that is 1."""

    k: int
    blend: Number

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """Two corners of a linear program from the factor `blend` on; below it the chord to the other direction."""
        if calc.surely(self.blend == 1):
            return one_more(calc, self.k, rate, factors[0]), one_fewer(calc, self.k, rate, factors[1])
        return self._bound(calc, rate, one_more, one_fewer, factors[0]), self._bound(
            calc, rate, one_fewer, one_more, factors[1]
        )

    def _bound(self, calc: Arithmetic, rate: Number, gap: Gap, back: Gap, factor: Number) -> Number:
        if calc.surely(factor >= self.blend):
            return two_corners(calc, gap, self.k, rate, self.blend, factor / self.blend)
        ends = (two_corners(calc, each, self.k, rate, self.blend, calc.number(1)) for each in (gap, back))
        return chord(factor, self.blend, *ends)


@dataclass(frozen=True)
class NoiseTerm:
    """Counts that are exact from k on and carry discrete Laplace noise with this ratio below."""

    k: int
    ratio: Number
    flagged: bool

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, weights: Pair) -> Pair:
        """The outputs of one count with the person and without, at the worst number of others."""
        return spliced_gaps(calc, self.k, rate, self.ratio, factors, weights, flagged=self.flagged)


@dataclass(frozen=True)
class PointTerm:
    """Points of blocks of at least k, moved by noise that tells two of a block apart by a factor of at most `blend`."""

    k: int
    blend: Number

    def gaps(self, calc: Arithmetic, rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """The gaps of suppression, averaged over the likelihood ratio of a swap (numerics/points_in_crowds.py)."""
        ratios = gathered_ratios(calc, self.k, self.blend)
        up = [(mass * ratio, factors[0] / ratio) for ratio, mass in ratios]
        down = [(mass, factors[1] * ratio) for ratio, mass in ratios]
        return mean_gap(calc, one_more, self.k, rate, up), mean_gap(calc, one_fewer, self.k, rate, down)


@dataclass(frozen=True)
class OwnTerm:
    """A mechanism that is private by itself, on every table: both divergences at their factors."""

    divergences: Callable[[Number, Number], Pair]

    def gaps(self, _calc: Arithmetic, _rate: Number, factors: Pair, _weights: Pair) -> Pair:
        """Return the part's own divergences."""
        return self.divergences(*factors)


Parts = Sequence[tuple[Number, Term]]
"""For every part its share of the sample and its mechanism; shares add up to at most 1."""


def chord(factor: Number, blend: Number, here: Number, back: Number) -> Number:
    """Return a bound of Σ(P − sQ)₊ at 1/b ≤ s ≤ b, from bounds of it and of Σ(Q − sP)₊ at s = b: it is convex in s.

    At 1/b it is 1 − 1/b + Σ(Q − bP)₊/b.
    """
    low = 1 - (1 - back) / blend
    return ((blend - factor) * low + (factor - 1 / blend) * here) / (blend - 1 / blend)


def programme_divergence(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Number:
    """Return a bound on the divergence at e^ε = growth, in both directions."""
    return calc.maximum(*programme_divergences(calc, parts, rate, growth))


def programme_divergences(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Pair:
    """Return the bounds with the person against without, and without against with."""
    total = sum(share for share, _ in parts)
    up = down = calc.number(0)
    for share, term in parts:
        more, fewer = part_divergences(calc, term, share, total, rate, growth)
        up, down = up + share / total * more, down + share / total * fewer
    return up, down


def part_divergences(calc: Arithmetic, term: Term, share: Number, total: Number, rate: Number, growth: Number) -> Pair:
    """Return one part's unweighted addition to the averages, for shares that sum to `total`."""
    taken = rate * total
    own = rate * share
    gain, factors = sampled_factors(calc, taken, growth)
    more, fewer = term.gaps(calc, own / (1 - taken + own), factors, (taken, gain))
    return taken * calc.minimum(calc.number(1), more), gain * calc.minimum(calc.number(1), fewer)


class SampledGaps(OnSample):
    """The curve of a kernel that is asked for many factors at once."""

    def __init__(self, rate: arb, kernel: Gaps) -> None:
        super().__init__(rate, kernel)
        self.kernel = kernel

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """The bounds of the kernel at the factors that sampling makes of these; both divergences are at most 1."""
        mores = [1 + (growth - 1) / self.rate for growth in growths]
        gains = [1 - growth * (1 - self.rate) for growth in growths]
        fewers = [
            growth * self.rate / gain for growth, gain in zip(growths, gains, strict=True) if gain > SMALLEST_GAIN
        ]
        more, fewer = self.kernel.gaps(mores, fewers, _enough)
        ups: Bounds = [None if bound is None else self.rate * bound.min(arb(1)) for bound in more]
        downs: Bounds = [
            None if bound is None else gain * bound.min(arb(1)) for gain, bound in zip(gains, fewer, strict=False)
        ]
        return ups, downs + [gain.nonnegative_part() for gain in gains[len(fewers) :]]


class SurveyMixture(Curve):
    """The curve of a survey that has a person with probability `share`, the same number of people in every survey.

    With b the share, P and R the survey with one and with the other data of the person, and S someone else's data
    instead, bP + (1 − b)S and bR + (1 − b)S are b·H_α apart at 1 + b(α − 1), where P, R and S are H_α apart pairwise.
    Where S is not close to P (people who are asked together), they are b·H_α apart at α itself: `apart` is False.
    """

    def __init__(self, share: arb, kernel: Gaps, *, apart: bool = True) -> None:
        self.share, self.kernel, self.density = share, kernel, kernel.density
        self.weight = share if apart else arb(1)
        most = float(self.weight)
        self.reach = math.log1p(most * (kernel.reach - 1))
        self.distance = float(share) * kernel.distance
        self.kinks = tuple(math.log1p(most * math.expm1(loss)) for loss in kernel.kinks)

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """Return the bounds of what is done with the survey, at its own factors; each is at most 1."""
        factors = [1 + (growth - 1) / self.weight for growth in growths]
        ways = self.kernel.gaps(factors, factors, _enough)
        up, down = ([None if bound is None else self.share * bound.min(arb(1)) for bound in way] for way in ways)
        return up, down


class Pointwise(Gaps):
    """A kernel that is known at single factors, asked for many; where it knows nothing, 1 is true."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.reach, self.density, self.distance = kernel.reach, kernel.density, kernel.distance
        self.kinks = kernel.kinks

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        return until(_known_bound(self.kernel.more), mores, _enough), until(
            _known_bound(self.kernel.fewer), fewers, _enough
        )


def _known_bound(gap: Callable[[arb], arb | None]) -> Callable[[arb], arb]:
    def at(factor: arb) -> arb:
        found = gap(factor)
        return arb(1) if found is None else found

    return at


class BlendingCrowds(Crowds):
    """The kernel of crowds also below the factor `blend`: the chord between the two points where it is known first."""

    def more(self, factor: arb) -> arb | None:
        return self._everywhere(factor, 0)

    def fewer(self, factor: arb) -> arb | None:
        return self._everywhere(factor, 1)

    def _everywhere(self, factor: arb, direction: int) -> arb:
        gap, back = (self.gaps.more, self.gaps.fewer)[:: -1 if direction else 1]
        found = self._corners(gap, factor)
        if found is not None:
            return found
        blend = self.blend
        ends = ((blend * each(arb(1)) + each(blend * blend)) / (blend + 1) for each in (gap, back))
        bound: arb = chord(factor, blend, *ends)
        return bound


class OwnCurve(Gaps):
    """A mechanism with a curve of its own: the person in its table or not, whatever the others."""

    def __init__(self, curve: Curve) -> None:
        self.curve, self.kinks, self.density, self.distance = curve, curve.kinks, curve.density, curve.distance
        self.reach = math.exp(min(curve.reach, LARGEST_LOSS))

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        ways = self.curve.bounds(mores, _enough)[0], self.curve.bounds(fewers, _enough)[1] if fewers else []
        return [*falling(ways[0])], [*falling(ways[1])]


class OwnLaws(Gaps):
    """Several mechanisms that see the same people: the curve of their composed losses.

    `spread` is the square root of the sum of the squares of their distances.
    """

    def __init__(self, laws: LossPair, spread: float) -> None:
        self.laws, self.distance = laws, min(spread, 1.0)
        top = max((law.first + len(law.masses)) * law.spacing for law in (laws.up, laws.down))
        self.reach = math.exp(min(top, LARGEST_LOSS))

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        return [*self.laws.up.heights(mores)], [*self.laws.down.heights(fewers)]


class Average(Gaps):
    """The kernel of several parts: the average of theirs, weighted by their shares."""

    def __init__(self, parts: Sequence[tuple[arb, Gaps]]) -> None:
        self.parts = tuple(parts)
        heaviest = sorted(parts, key=lambda part: -float(part[0]) * part[1].distance)
        self.reach = max(kernel.reach for _, kernel in parts)
        self.density = min(kernel.density for _, kernel in parts)
        self.distance = sum(float(weight) * kernel.distance for weight, kernel in parts)
        self.kinks = tuple(dict.fromkeys(kink for _, kernel in heaviest for kink in kernel.kinks))

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        found = [kernel.gaps(mores, fewers, _enough) for _, kernel in self.parts]
        weights = [weight for weight, _ in self.parts]
        return tuple(mean(weights, [bounds[way] for bounds in found]) for way in (0, 1))  # type: ignore[return-value]
