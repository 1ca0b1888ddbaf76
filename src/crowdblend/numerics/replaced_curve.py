"""The divergence curve when one person's data are replaced, from the curve for one person more or less.

With P and R the output with one and with the other data, and Q the output without the person,
(P − α₁α₂R)₊ ≤ (P − α₁Q)₊ + α₁(Q − α₂R)₊, so up(α₁) + α₁·down(α₂) bounds the divergence at α₁α₂, in both directions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from flint import arb

from crowdblend.numerics.profile_curves import Bounds, Curve

# Doubles that are equal up to this may stand for one point of the grid.
CLOSE = 1e-12


class Replaced:
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
        up, down = (_falling(found) for found in self.curve.bounds(growths, _enough))
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


def _falling(bounds: Bounds) -> list[arb]:
    """A bound at every place: a divergence does not rise, so the last one that is known holds from there on."""
    found: list[arb] = []
    known = arb(1)
    for bound in bounds:
        known = known if bound is None else known.min(bound)
        found.append(known)
    return found
