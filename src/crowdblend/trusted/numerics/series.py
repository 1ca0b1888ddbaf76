"""The grid on which several curves are composed.

A law on a grid of spacing g lies above its curve, because mass between two places is divided among them. Each release
adds at most about g²/4 to the variance of the loss, so g has to be small against the typical loss of one release; where
much mass sits at one loss, it has to be small against that loss. What is cut off at the ends together stays below a
small share of δ. Any grid gives a true bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from crowdblend.trusted.numerics.profile_curves import LARGEST_LOSS, Closeness, Curve

# The share of δ that may be cut off.
LOST = 1e-8
FINEST, COARSEST = 2.0**-20, 2.0**-3
# Spacings per typical loss, and per loss that much mass sits at.
PER_DISTANCE, PER_KINK = 1.5, 64.0
# From this many releases on, losses add up like independent errors and the grid may be coarser. The total of fewer than
# `FEW` is near their largest loss, and that is rounded to the grid unless much mass sits there.
MANY, FEW = 16, 8
LEAST_PER_KINK = 4.0


@dataclass(frozen=True)
class Spread:
    """The spread of the losses of several releases: sums, so that one more costs one addition.

    `distances` and `kinks` are sums of squares. `loss` is the one ε of releases of which nothing but one closeness is
    known, and None where there are others. `unit` is the loss that most mass sits at, weighed by `weight`.
    """

    releases: int
    distances: float
    kinked: int
    kinks: float
    unit: float
    weight: float
    loss: float | None

    @classmethod
    def of(cls, curve: Curve, count: int) -> Spread:
        """Return the spread of several uses of one curve."""
        kink = curve.kinks[0] if curve.kinks and curve.kinks[0] > 0 else None
        square = 0.0 if kink is None else count * kink * kink
        loss = curve.epsilon if isinstance(curve, Closeness) else None
        kinked, unit = (0, 1.0) if kink is None else (count, kink)
        return cls(count, count * curve.distance * curve.distance, kinked, square, unit, square, loss)

    def beside(self, other: Spread) -> Spread:
        """Return the spread of both."""
        heavy = self if self.weight >= other.weight else other
        return Spread(
            self.releases + other.releases,
            self.distances + other.distances,
            self.kinked + other.kinked,
            self.kinks + other.kinks,
            heavy.unit,
            heavy.weight,
            self.loss if self.loss == other.loss else None,
        )

    @property
    def spacing(self) -> float:
        """The spacing of the grid for these releases; the heaviest loss that much mass sits at lies on it."""
        if self.loss is not None and FINEST <= self.loss <= LARGEST_LOSS:
            # All losses are ε, −ε or infinite.
            return self.loss
        wanted = math.sqrt(self.distances / self.releases) / PER_DISTANCE
        if self.kinked:
            share = min(1.0, MANY / self.releases)
            wanted = min(wanted, math.sqrt(self.kinks / self.kinked) / max(PER_KINK * share, LEAST_PER_KINK))
        else:
            wanted /= max(1.0, FEW / self.releases)
        wanted = min(max(wanted, FINEST), COARSEST)
        return math.ldexp(self.unit, math.floor(math.log2(wanted / self.unit)))


def spread_of(curves: Iterable[tuple[Curve, int]]) -> Spread:
    """Return the spread of several uses of each curve."""
    return reduce(Spread.beside, (Spread.of(curve, count) for curve, count in curves))


def cut_for(delta: float, releases: int) -> float:
    """Return the mass that a law may lose at either end, as a power of ten: far below delta."""
    return 10.0 ** max(math.floor(math.log10(max(delta, 1e-290) * LOST / releases)), -300)
