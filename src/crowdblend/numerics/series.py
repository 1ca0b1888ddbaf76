"""Which grid several curves are composed on.

A law on a grid of spacing g lies above its curve, because mass between two places is divided among them. Each release
adds at most about g²/4 to the variance of the loss, so g has to be small against the typical loss of one release; where
much mass sits at one loss, it has to be small against that loss. What is cut off at the ends together stays below a
small share of δ. Any grid gives a true bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdblend.numerics.profile_curves import LARGEST_LOSS, Closeness, Curve

# The share of δ that may be cut off.
LOST = 1e-8
FINEST, COARSEST = 2.0**-20, 2.0**-3
# Spacings per typical loss, and per loss that much mass sits at.
PER_DISTANCE, PER_KINK = 1.5, 64.0
# From this many releases on, losses add up like independent errors and the grid may be coarser.
MANY = 16
LEAST_PER_KINK = 4.0


def spacing_for(curves: Sequence[tuple[Curve, int]]) -> float:
    """The spacing of the grid for so many uses of each curve; the heaviest loss that much mass sits at lies on it."""
    releases = sum(count for _, count in curves)
    wanted = _root_mean_square([(curve.distance, count) for curve, count in curves]) / PER_DISTANCE
    pure = {curve.epsilon if isinstance(curve, Closeness) else None for curve, _ in curves}
    (loss,) = pure if len(pure) == 1 else {None}
    if loss is not None and FINEST <= loss <= LARGEST_LOSS:
        # All losses are ε, −ε or infinite.
        return loss
    kinks = [(curve.kinks[0], count) for curve, count in curves if curve.kinks and curve.kinks[0] > 0]
    unit = 1.0
    if kinks:
        share = min(1.0, MANY / releases)
        wanted = min(wanted, _root_mean_square(kinks) / max(PER_KINK * share, LEAST_PER_KINK))
        unit = max(kinks, key=lambda found: found[1] * found[0] ** 2)[0]
    wanted = min(max(wanted, FINEST), COARSEST)
    return math.ldexp(unit, math.floor(math.log2(wanted / unit)))


def cut_for(delta: float, releases: int) -> float:
    """How much mass one law may lose at either end, as a power of ten: together far less than delta."""
    return 10.0 ** max(math.floor(math.log10(max(delta, 1e-290) * LOST / releases)), -300)


def _root_mean_square(values: list[tuple[float, int]]) -> float:
    return math.sqrt(sum(count * value * value for value, count in values) / sum(count for _, count in values))
