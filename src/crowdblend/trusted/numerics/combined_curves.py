"""Curves made of other curves: of replaced data, and of several mechanisms of which a person meets one.

Replaced: with P and R the output with one and with the other data, and Q the output without the person,
(P − α₁α₂R)₊ ≤ (P − α₁Q)₊ + α₁(Q − α₂R)₊, so up(α₁) + α₁·down(α₂) bounds the divergence at α₁α₂, in both directions.

Worst: the largest of convex, falling curves is convex and falls, and where each is at most 1 so is the largest. So it
is the curve of a pair of distributions (`loss_law.dominating`), and that pair dominates every one of the mechanisms.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from flint import arb

from crowdblend.trusted.numerics.balls import maximum
from crowdblend.trusted.numerics.profile_curves import Bounds, Curve

# Doubles that are equal up to this may stand for one point of the grid.
CLOSE = 1e-12


class ReplacedData(Curve):
    """The curve of one person's data replaced: the best of all divisions of a factor among the points asked for."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.density = curve.density
        self.reach = 2 * curve.reach
        # Twice the distance, on a grid as fine as that of the curve: both of its directions are rounded here.
        self.distance = min(curve.distance, 1.0)
        self.kinks = tuple(2 * kink for kink in curve.kinks)

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """One bound for both directions."""
        up, down = (falling(found) for found in self.curve.bounds(growths, _enough))
        factors = [float(growth) for growth in growths]
        ups, downs = [float(bound) for bound in up], [float(bound) for bound in down]
        found: Bounds = []
        for place, factor in enumerate(factors):
            seconds = [bisect_right(factors, factor / first * (1 + CLOSE)) - 1 for first in factors[: place + 1]]
            # Which division is best is chosen in doubles; any is true.
            best = min(range(place + 1), key=lambda i: ups[i] + factors[i] * downs[seconds[i]])
            # Where the two factors come to a hair more than theirs, the divergence at theirs may be as much larger.
            excess = (growths[best] * growths[seconds[best]] - growths[place]).nonnegative_part()
            found.append(up[best] + growths[best] * down[seconds[best]] + excess)
        return found, found


def falling(bounds: Bounds) -> list[arb]:
    """Return a bound at every place: a divergence does not rise, so the last one that is known holds from there on."""
    found: list[arb] = []
    known = arb(1)
    for bound in bounds:
        known = known if bound is None else known.min(bound)
        found.append(known)
    return found


class WorstOf(Curve):
    """The pointwise largest of several curves."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = tuple(curves)
        self.reach = max(curve.reach for curve in curves)
        self.density = min(curve.density for curve in curves)
        self.distance = max(curve.distance for curve in curves)
        self.kinks = tuple(sorted({kink for curve in curves for kink in curve.kinks}))

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        ups, downs = zip(*(curve.bounds(growths, _enough) for curve in self.curves), strict=True)
        return _largest(ups), _largest(downs)


class MeanOf(Curve):
    """The weighted mean of several curves."""

    def __init__(self, curves: Sequence[tuple[arb, Curve]]) -> None:
        self.curves = tuple(curves)
        self.reach = max(curve.reach for _, curve in curves)
        self.density = min(curve.density for _, curve in curves)
        self.distance = sum(float(weight) * curve.distance for weight, curve in curves)
        self.kinks = tuple(sorted({kink for _, curve in curves for kink in curve.kinks}))

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        weights = [weight for weight, _ in self.curves]
        ups, downs = zip(*(curve.bounds(growths, _enough) for _, curve in self.curves), strict=True)
        return mean(weights, ups), mean(weights, downs)


def mean(weights: Sequence[arb], curves: Sequence[Bounds]) -> Bounds:
    """Return the mean at each place; a curve falls, so where it has no bound any more its last one holds."""
    rows = zip(*(falling(curve) for curve in curves), strict=True)
    return [sum((weight * bound for weight, bound in zip(weights, row, strict=True)), arb(0)) for row in rows]


def _largest(curves: Sequence[Bounds]) -> Bounds:
    """Return the largest bound at each place; a curve falls, so where it has none its last one holds."""
    last = [arb(1)] * len(curves)
    found: Bounds = []
    for here in zip(*curves, strict=True):
        last = [before if bound is None else bound for before, bound in zip(last, here, strict=True)]
        found.append(None if all(bound is None for bound in here) else maximum(*last))
    return found
