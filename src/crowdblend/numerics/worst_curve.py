"""The curve of several mechanisms of which a person meets one: at every factor the largest of their curves.

The largest of convex, falling curves is convex and falls, and where each is at most 1 so is the largest. So it is the
curve of a pair of distributions (`loss_law.dominating`), and that pair dominates every one of the mechanisms.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from crowdblend.numerics.profile_curves import Bounds, Curve


class WorstOf:
    """The pointwise largest of several curves."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = tuple(curves)
        self.reach = max(curve.reach for curve in curves)
        self.density = min(curve.density for curve in curves)
        self.distance = max(curve.distance for curve in curves)
        self.kinks = tuple(sorted({kink for curve in curves for kink in curve.kinks}))

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """The largest bound at every factor, up and down."""
        ups, downs = zip(*(curve.bounds(growths, _enough) for curve in self.curves), strict=True)
        return _largest(ups), _largest(downs)


def _largest(curves: Sequence[Bounds]) -> Bounds:
    """The largest bound at each place; a curve falls, so where it has none its last one holds."""
    last = [arb(1)] * len(curves)
    found: Bounds = []
    for here in zip(*curves, strict=True):
        last = [before if bound is None else bound for before, bound in zip(last, here, strict=True)]
        if all(bound is None for bound in here):
            found.append(None)
            continue
        worst = last[0]
        for bound in last[1:]:
            worst = worst.max(bound)
        found.append(worst)
    return found
