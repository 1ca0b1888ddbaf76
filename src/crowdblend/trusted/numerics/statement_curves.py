"""The curves that follow from a ρ, and from δ at a few ε (docs/proofs.md#stated-by-others)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from flint import arb

from crowdblend.trusted.numerics.profile_curves import Closeness, Curve

# Halvings of the range in which the best order lies; every order gives a true bound.
_HALVINGS = 60
# The divergence at the reach is about e to minus this.
_FAR = 80.0


class RenyiBound(Curve):
    """The divergence of two laws whose Rényi divergence of every order a > 1 is at most ρa.

    At every order a = 1 + t it is at most e^{t(aρ − ε)}·(1 − 1/a)^a/t (Canonne, Kamath and Steinke 2020, Proposition
    12), and by Pinsker's inequality at most √(ρ/2).
    """

    def __init__(self, rho: float) -> None:
        self.rho = rho
        self.reach = rho + 2 * math.sqrt(rho * _FAR)
        self.distance = math.erf(math.sqrt(rho) / 2)

    def at(self, growth: arb) -> arb:
        """Return the bound at the best order that a few halvings find."""
        rho, epsilon = arb(self.rho), growth.log()
        t = arb(_best_step(self.rho, float(epsilon)))
        order = 1 + t
        exponent = t * (order * rho - epsilon) + order * (t / order).log() - t.log()
        return exponent.exp().min((rho / 2).sqrt()).min(arb(1))


def _best_step(rho: float, epsilon: float) -> float:
    """Return a t > 0 near which t((1 + t)ρ − ε) + (1 + t)·ln(t/(1 + t)) − ln t, which is convex in t, is smallest."""

    def slope(t: float) -> float:
        return rho * (1 + 2 * t) - epsilon - math.log1p(1 / t)

    low, high = 2.0**-40, 2.0**60
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


class Chords(Curve):
    """The curve of (ε, δ)-closeness at several points: the divergence is convex in e^ε, so it lies below its chords."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self.points = tuple((arb(epsilon).exp(), arb(delta)) for epsilon, delta in points)
        self.each = tuple(Closeness(epsilon, delta) for epsilon, delta in points)
        self.reach = points[-1][0]
        self.distance = min(one.distance for one in self.each)
        self.kinks = tuple(kink for one in self.each for kink in one.kinks)

    def at(self, growth: arb) -> arb:
        """Return the smallest of what each point says, and of the chords on both sides of which the factor may lie."""
        found = [one.at(growth) for one in self.each]
        for (first, height), (last, end) in pairwise(self.points):
            if growth >= first and growth <= last:
                found.append(height - (height - end) * (growth - first) / (last - first))
        return min((bound.upper() for bound in found), key=float)
