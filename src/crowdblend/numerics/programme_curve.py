"""The curve of several mechanisms, each on a part of one sample, and of mechanisms that all see one sample.

Every mechanism is a kernel: P its output with the person surely in its part, Q the output without. All of them meet the
person with the same probability, so their curves are those of one kernel, the weighted average of theirs
(numerics/programme.py has the argument, and the same at one factor).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flint import arb

from crowdblend.numerics.combined_curves import falling, mean
from crowdblend.numerics.profile_curves import (
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
from crowdblend.numerics.programme import chord

# Gains below this are taken for the divergence itself.
SMALLEST_GAIN = 1e-25


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
