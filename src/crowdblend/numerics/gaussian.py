"""Divergence between two discrete Gaussian variables a step apart.

With P[Y = y] ∝ e^{−y²/(2σ²)} on the whole numbers, 1 + Y is e^{(2y−1)/(2σ²)} times as likely as Y to be y. That rises
with y, so the event that favours 1 + Y most at a factor α is y ≥ m for m the first number from σ²·ln α + ½ on, and

    Σ(P[1 + Y = y] − α·P[Y = y])₊ = T(m − 1) − α·T(m),        T(m) = P[Y ≥ m].

The other way the divergence is the same, since 1 − Y has the law of 1 + Y (docs/proofs.md#gaussian).
"""

from __future__ import annotations

import math

from flint import arb

from crowdblend.errors import NotProved
from crowdblend.numerics.balls import maximum
from crowdblend.numerics.profile_curves import Curve

# Tails are summed up to here, in units of σ; e^{−18²/2} is below every δ that is looked for.
FAR = 18
LARGEST_SIGMA = 20_000.0
SMALLEST_SIGMA = 0.5


class GaussianCells(Curve):
    """The curve of a histogram with discrete Gaussian noise on every cell; both directions are one."""

    def __init__(self, sigma: float) -> None:
        if not SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA:
            raise NotProved(f"Discrete Gaussian noise is evaluated for sigma between 0.5 and {LARGEST_SIGMA:,.0f}.")
        self.variance = arb(sigma) ** 2
        self.tails, self.last = _tails(self.variance, math.ceil(FAR * sigma) + 2)
        # Twelve deviations of the loss, which is about normal with variance 1/σ².
        self.reach = 12 / sigma + 0.5 / sigma**2
        self.distance = math.erf(1 / (2 * math.sqrt(2) * sigma))

    def at(self, growth: arb) -> arb:
        """Return the divergence at one factor of at least 1: the best of the first numbers that may be its event."""
        turn = self.variance * growth.log() + arb(0.5)
        # A number too many at either end does no harm: its event favours 1 + Y less.
        first, last = math.floor(float(turn.lower())) - 1, math.ceil(float(turn.upper())) + 1
        tried = [self.tail(m - 1) - growth * self.tail(m) for m in range(first, last + 1)]
        return maximum(arb(0), *tried)

    def tail(self, m: int) -> arb:
        """Return P[Y ≥ m]."""
        if m <= 0:
            return 1 - self.tail(1 - m)
        return self.tails[m] if m <= self.last else arb(0).union(self.tails[self.last])


def _tails(variance: arb, last: int) -> tuple[list[arb], int]:
    """Return P[Y ≥ m] for m from 0 to `last`; beyond, ratios of neighbours fall, so a geometric series is above."""
    masses, step, ratio = [arb(1)], (-1 / variance).exp(), (-1 / (2 * variance)).exp()
    for _ in range(last + 1):
        masses.append(masses[-1] * ratio)
        ratio *= step
    found = [arb(0).union(masses[last + 1] / (1 - ratio))]
    for mass in reversed(masses[: last + 1]):
        found.append(found[-1] + mass)
    found = found[:0:-1]
    whole = 2 * found[0] - masses[0]
    return [one / whole for one in found], last
