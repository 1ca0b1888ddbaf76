"""Divergence curves of mechanisms at many factors at once, one direction at a time, and the loss laws above them.

With P the output when the person is in the data and Q the output without, a curve bounds Σ(P − αQ)₊ (`up`) and
Σ(Q − αP)₊ (`down`) for α ≥ 1, over all neighbouring worlds. Below α = 1 each follows from the other:
Σ(P − αQ)₊ = 1 − α + α·Σ(Q − P/α)₊.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import arb

from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.numerics.crowd_divergence import CrowdGaps
from crowdblend.trusted.numerics.loss_law import BITS, LossLaw, Point, dominating, growth_at

# How many places of the grid lie between 0 and the loss from which on the points of a curve lie farther apart.
DENSITY = 48
# Losses of one mechanism beyond this count as infinite, so that e to a loss is a double.
LARGEST_LOSS = 64.0
Bounds = list[arb | None]


class Shape:
    """The places where points of a curve or a kernel are worth evaluating."""

    reach: float
    """A loss (of a kernel: a factor) beyond which it hardly falls; no point beyond it is evaluated."""
    distance: float
    """About the total variation distance that the curve bounds: the spread of its losses."""
    density = DENSITY
    """The density of points worth evaluating; lower where they are dear."""
    kinks: tuple[float, ...] = ()
    """Losses at which much of the mass sits: the grid is fine around them."""


class Curve(Shape):
    """Upper bounds of the two divergences of one mechanism."""

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """Bounds at rising factors of at least 1, up and down; None where nothing is known, and after a bound that is
        small enough, where nothing is asked any more. A curve that is the same both ways has `at` alone."""
        found: Bounds = [self.at(growth) for growth in growths]
        return found, found

    def at(self, growth: arb) -> arb:
        """Return the bound at one factor, both ways."""
        raise NotImplementedError


@dataclass(frozen=True)
class LossPair:
    """The laws of a mechanism in both directions: of the loss with the person, and of the loss without."""

    up: LossLaw
    down: LossLaw


def loss_pair(curve: Curve, spacing: float, cut: float) -> LossPair:
    """Laws on a grid that dominate the mechanism."""
    with precision(BITS):
        places = _places(spacing, curve)
        growths = [growth_at(spacing, place) for place in places]
        up, down = curve.bounds(growths, cut)
        # At α = 1 both directions are the same total variation distance, and it is at most 1.
        middle = (0, _smallest([arb(1), up[0], down[0]]))
        return LossPair(
            dominating(spacing, cut, _all_losses(places, growths, up, down, middle)),
            dominating(spacing, cut, _all_losses(places, growths, down, up, middle)),
        )


def _places(spacing: float, curve: Curve) -> list[int]:
    """0, 1, 2, … up to the reach, farther apart the larger they are."""
    last = max(math.ceil(min(curve.reach, LARGEST_LOSS) / spacing), 1)
    found = [0]
    while found[-1] < last:
        found.append(min(found[-1] + max(1, found[-1] // curve.density), last))
    around = (math.floor(kink / spacing) for kink in curve.kinks)
    return sorted(
        {*found, *(place for near in around for place in (near - 1, near, near + 1, near + 2) if 0 <= place <= last)}
    )


def _all_losses(places: list[int], growths: list[arb], right: Bounds, left: Bounds, middle: Point) -> list[Point]:
    """Return the points of one direction at all losses; those below 0 come from the other direction."""
    negative = [
        (-place, 1 - (1 - bound) / growth)
        for place, growth, bound in zip(places[:0:-1], growths[:0:-1], left[:0:-1], strict=True)
        if bound is not None
    ]
    positive = [(place, bound) for place, bound in zip(places[1:], right[1:], strict=True) if bound is not None]
    return [*negative, middle, *positive]


def _smallest(bounds: Bounds) -> arb:
    return min((bound.upper() for bound in bounds if bound is not None), key=float)


def until(bound: Callable[[arb], arb], growths: Sequence[arb], enough: float) -> Bounds:
    """Return the bound at rising factors, up to the first that is small enough."""
    found: Bounds = []
    for growth in growths:
        bounded = bound(growth)
        found.append(bounded)
        if bounded <= enough:
            break
    return found + [None] * (len(growths) - len(found))


class Kernel(Shape):
    """A mechanism whose person is surely in the sample, P, against the same without the person, Q."""

    def more(self, factor: arb) -> arb | None:
        """Return a bound of Σ(P − sQ)₊ at a factor s ≥ 1; None where nothing is known."""
        raise NotImplementedError

    def fewer(self, factor: arb) -> arb | None:
        """Return a bound of Σ(Q − sP)₊ at a factor s ≥ 1; None where nothing is known."""
        raise NotImplementedError


class Gaps(Shape):
    """A kernel that is asked for many factors at once; its reach is a factor."""

    def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """Bounds of Σ(P − sQ)₊ at the first and of Σ(Q − sP)₊ at the second rising factors s ≥ 1; None only after a
        bound that is small enough."""
        raise NotImplementedError


class OnSample(Curve):
    """The shape of a kernel whose person is in the sample with probability `rate`: rate·P + (1 − rate)·Q against Q."""

    def __init__(self, rate: arb, kernel: Shape) -> None:
        self.rate, self.density = rate, kernel.density
        share = float(rate)
        # Beyond, neither direction falls any more; nobody is left out at a rate of 1.
        self.reach = max(math.log1p(share * (kernel.reach - 1)), -math.log1p(-share) if share < 1 else 0.0)
        self.distance = share * kernel.distance
        # The losses of the kernel as sampling changes them, in both directions.
        self.kinks = tuple(
            kink
            for loss in kernel.kinks
            for kink in (math.log1p(share * math.expm1(loss)), -math.log1p(share * math.expm1(-loss)))
        )


class SampledKernel(OnSample):
    """The curve of a kernel that is known at single factors."""

    def __init__(self, rate: arb, kernel: Kernel) -> None:
        super().__init__(rate, kernel)
        self.kernel = kernel

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """up(α) = β·more(1 + (α−1)/β) and down(α) = (1 − α(1−β))·fewer(αβ/(1 − α(1−β))), both kernels at most 1."""
        return until(self.up, growths, _enough), until(self.down, growths, _enough)

    def up(self, growth: arb) -> arb:
        """Return the bound with the person against without."""
        more = self.kernel.more(1 + (growth - 1) / self.rate)
        return self.rate if more is None else self.rate * more.min(arb(1))

    def down(self, growth: arb) -> arb:
        """Return the bound without the person against with."""
        gain = 1 - growth * (1 - self.rate)
        if not gain > 1e-25:
            return gain.nonnegative_part()
        fewer = self.kernel.fewer(growth * self.rate / gain)
        return gain if fewer is None else gain * fewer.min(arb(1))


def crowd_distance(k: int, rate: arb, blend: arb) -> float:
    """Return about the largest P[X = k−1] over crowd sizes, or the crowd distance if larger."""
    alone = 1 / math.sqrt(2 * math.pi * (k - 1) * (1 - float(rate))) if k > 1 else 1.0
    apart = math.tanh(float(blend.log()) / 2)
    # Nothing is known below the factor where blending is: the chord there is long, and a finer grid is worth it.
    return max(min(alone, 1.0), apart) / (8 if apart > 0 else 1)


class Crowds(Kernel):
    """The kernel of mechanisms that hide people in crowds of k up to a factor `blend`, the others sampled at `rate`.

    Known from the factor `blend` on; the two corners are those of numerics/crowd_divergence.py.
    """

    def __init__(self, k: int, rate: arb, blend: arb) -> None:
        self.blend, self.gaps = blend, CrowdGaps(k, rate)
        # From there on the only crowd that matters is the one that just reaches k, and `more` is constant.
        self.reach = max((k - 1) * float(1 / rate - 1), 1.0) * float(blend)
        self.distance = crowd_distance(k, rate, blend)

    def more(self, factor: arb) -> arb | None:
        return self._corners(self.gaps.more, factor)

    def fewer(self, factor: arb) -> arb | None:
        return self._corners(self.gaps.fewer, factor)

    def _corners(self, gap: Callable[[arb], arb], factor: arb) -> arb | None:
        if self.blend == 1:
            return gap(factor)
        near = factor / self.blend
        if not near >= 1:
            return None
        return (self.blend * gap(near) + gap(factor * self.blend)) / (self.blend + 1)


class Closeness(Curve):
    """All that (ε, δ)-closeness says: δ + (1 − δ)(e^ε − α)₊/(e^ε + 1), both ways. A curve, and a kernel too."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, arb(delta)
        # Beyond ε only δ is left, and all of the mass sits at ε.
        self.reach, self.kinks = epsilon, (min(epsilon, LARGEST_LOSS),)
        # The total variation distance of randomized response, or δ if that is more.
        self.distance = max(math.tanh(epsilon / 2), delta)

    def at(self, growth: arb) -> arb:
        """Return the chord between the points that closeness gives at e^−ε and at e^ε, and δ beyond."""
        most = arb(self.epsilon).exp()
        return self.delta + (1 - self.delta) * (most - growth).nonnegative_part() / (most + 1)


class ClosenessKernel(Closeness, Kernel):
    """The same as a kernel, whose reach is a factor."""

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__(epsilon, delta)
        self.reach = math.exp(min(epsilon, LARGEST_LOSS))

    def more(self, factor: arb) -> arb | None:
        return self.at(factor)

    fewer = more


class Split(Curve):
    """A choice that is ε₁-close, made by a part of the sample, and a release of the rest (docs/proofs.md).

    The person is in the choosing part with probability `chosen`, and else faces the curve of the release. Of two ways
    to divide a factor among the two cases the smaller bound is taken at each place.
    """

    def __init__(self, factor: arb, choice: Closeness, release: SampledKernel) -> None:
        self.chosen, self.choice, self.release, self.kinks = factor, choice, release, choice.kinks
        share = float(factor)
        most, rest = (math.exp(min(loss, LARGEST_LOSS)) for loss in (choice.epsilon, release.reach))
        # Beyond, neither the choice nor the release gives more away.
        self.reach = max(math.log(share * most + (1 - share) * rest), choice.epsilon)
        self.distance = share * choice.distance + (1 - share) * release.distance

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """Return the divergence of the mixture chosen·A + (1 − chosen)·B from Q, and of Q from it."""
        return until(self._up, growths, _enough), until(self._down, growths, _enough)

    def _up(self, growth: arb) -> arb:
        most, left = arb(self.choice.epsilon).exp(), 1 - self.chosen
        found = self.chosen * self.choice.at(growth) + left * self.release.up(growth)
        # All of the choice's loss in its own case, the rest in the other.
        rest = (growth - self.chosen * most) / left
        return found.min(left * self.release.up(rest)) if rest >= 1 else found

    def _down(self, growth: arb) -> arb:
        most, left = arb(self.choice.epsilon).exp(), 1 - self.chosen
        found = self.chosen * self.choice.at(growth) + left * self.release.down(growth)
        weight = 1 - growth * self.chosen / most
        if not (weight > 0 and growth * left / weight >= 1):
            return found
        return found.min(weight * self.release.down(growth * left / weight))
