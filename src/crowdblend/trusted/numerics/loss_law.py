"""Privacy losses on a grid: what dominates a mechanism, how several of them compose, and what is left at an ε.

Let h(α), α ≥ 0, be the supremum over neighbouring worlds of Σ(P − αQ)₊: the divergence curve of a mechanism in one
direction. It is convex, and h(0) = 1. A `LossLaw` holds masses m_i at losses i·g of a grid and a mass at infinity with

    H(α) = m_∞ + Σ m_i·(1 − α·e^{−ig})₊ ≥ h(α)  for every α ≥ 0.

Such an H is the curve of a pair of measures, m_i against m_i·e^{−ig}, so the laws of several mechanisms compose by
convolution, adaptively too (docs/proofs.md#composition-by-profiles). Nothing needs the masses to add up to 1: moving
mass to a larger loss, or adding some, only raises H. That is how everything here is rounded: outward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from flint import arb, arb_poly

from crowdblend.trusted.numerics.balls import precision, round_up

# The relative errors of a convolution stay around 1e-30.
BITS = 128
# A law with more losses than this is refused or cut.
LONGEST = 1 << 14

Point = tuple[int, arb]


class GridTooFine(ArithmeticError):
    """The losses of a law lie too far apart for this grid; a coarser one will do."""


@dataclass(frozen=True)
class LossLaw:
    """Masses at the losses (first + i)·spacing, and a mass at infinity.

    Ends that hold less mass than `cut` are moved: the upper one to infinity, the lower one up to where it is cut.
    """

    spacing: float
    cut: float
    first: int
    masses: tuple[arb, ...]
    infinite: arb

    @cached_property
    def finite(self) -> arb:
        """All mass at finite losses."""
        with precision(BITS):
            return sum(self.masses, arb(0))

    @cached_property
    def _polynomial(self) -> arb_poly:
        return arb_poly(list(self.masses))

    def beside(self, other: LossLaw) -> LossLaw:
        """Return the law of both mechanisms together."""
        if self.spacing != other.spacing:
            raise ValueError("laws compose on one grid")
        with precision(BITS):
            # A square, whose factors are one object, takes two thirds of the time.
            product = self._polynomial * other._polynomial
            infinite = self.infinite * (other.finite + other.infinite) + self.finite * other.infinite
            # Without any mass at finite losses the product has no coefficient at all.
            places = enumerate(product.coeffs() or [arb(0)], self.first + other.first)
            return _law(self.spacing, min(self.cut, other.cut), list(places), infinite, LONGEST)

    def times(self, count: int) -> LossLaw:
        """Return the law of that many such mechanisms, by repeated squaring."""
        power, made = self, None
        while True:
            if count & 1:
                made = power if made is None else made.beside(power)
            count >>= 1
            if not count:
                assert made is not None
                return made
            power = power.beside(power)

    def delta(self, epsilon: float) -> arb:
        """H(e^ε): an upper bound on the divergence at this ε ≥ 0."""
        with precision(BITS):
            # Exactly the losses above ε count: one more or fewer would understate the sum.
            start = max(Fraction(epsilon) // Fraction(self.spacing) + 1 - self.first, 0)
            above = list(self.masses[start:])
            if not above:
                return self.infinite
            weighted = arb_poly(above)(_step_down(self.spacing)) / growth_at(self.spacing, self.first + start)
            # Every term is positive; the sum of balls may still reach below 0 by its radius.
            return self.infinite + (sum(above, arb(0)) - arb(epsilon).exp() * weighted).nonnegative_part()

    def heights(self, growths: Sequence[arb]) -> list[arb]:
        """H at factors of at least 1, in any order; none is understated."""
        with precision(BITS):
            down = _step_down(self.spacing)
            totals, weights = [arb(0)], [arb(0)]
            # `weights[i]` is Σ m_j·e^{−(j − i)g} over the last places, from place i on.
            for mass in reversed(self.masses):
                totals.append(totals[-1] + mass)
                weights.append(weights[-1] * down + mass)
            return [self._height(growth, totals[::-1], weights[::-1]) for growth in growths]

    def _height(self, growth: arb, totals: list[arb], weights: list[arb]) -> arb:
        """H at one factor: places near it are asked one by one, and all beyond them count."""
        near = math.floor(float(growth.log()) / self.spacing) - self.first
        start = min(max(near + 3, 0), len(self.masses))
        found = self.infinite
        for place in range(max(near - 2, 0), start):
            ratio = growth / growth_at(self.spacing, self.first + place)
            found += self.masses[place] * (1 - ratio).nonnegative_part()
        if start < len(self.masses):
            ratio = growth / growth_at(self.spacing, self.first + start)
            found += (totals[start] - ratio * weights[start]).nonnegative_part()
        return found

    def epsilon(self, delta: float) -> float | None:
        """The smallest double ε ≥ 0 with H(e^ε) ≤ delta, up to 1e-12; None where the mass at infinity exceeds it."""
        with precision(BITS):
            if not self.infinite <= delta:
                return None
            place = self._reaching(delta)
            top = round_up(arb(self.first + place) * arb(self.spacing))
            above = list(self.masses[place:])
            if top <= 0 or self.delta(0.0) <= delta or not above:
                return max(top, 0.0) if not self.delta(0.0) <= delta else 0.0
            # Between two losses of the grid H is linear in e^ε.
            weighted = arb_poly(above)(_step_down(self.spacing)) / growth_at(self.spacing, self.first + place)
            growth = (self.infinite + sum(above, arb(0)) - delta) / weighted
            found = max(round_up(growth.log()), 0.0) if growth > 0 else 0.0
            while found < top and not self.delta(found) <= delta:
                found = math.nextafter(found + 1e-13 * max(found, 1.0), math.inf)
            return min(found, top)

    def _reaching(self, delta: float) -> int:
        """Return the least place of a mass at whose loss H is at most delta already."""
        down = _step_down(self.spacing)
        total, weighted = arb(0), arb(0)
        for place in range(len(self.masses) - 1, -1, -1):
            # `weighted` is Σ m_i·e^{−(i − place)g} over all i beyond this place.
            if not self.infinite + total - weighted <= delta:
                return place + 1
            total += self.masses[place]
            weighted = (weighted + self.masses[place]) * down
        return 0


def compose(laws: Iterable[LossLaw]) -> LossLaw:
    """Return the law of all of them together: neighbours first, so that long laws meet long ones."""
    row = list(laws)
    while len(row) > 1:
        paired = [one.beside(other) for one, other in zip(row[::2], row[1::2], strict=False)]
        row = paired + row[len(paired) * 2 :]
    return row[0]


def dominating(spacing: float, cut: float, points: Sequence[Point]) -> LossLaw:
    """Return the law whose curve passes above the given points (loss in steps of the grid, upper bound of h there).

    Any points will do: h is convex, so it lies below its chords, and below every convex curve that passes through or
    above the points and bends at points only. Beyond the last point the bound there counts as mass at infinity.
    """
    with precision(BITS):
        kept = _lower_hull(spacing, points)
        growths = [growth_at(spacing, place) for place, _ in kept]
        bounds = [bound.upper() for _, bound in kept]
        height = infinite = bounds[-1]
        slope = arb(0)
        masses: list[Point] = []
        for at in range(len(kept) - 2, -1, -1):
            gap = growths[at + 1] - growths[at]
            steeper = slope.max(((bounds[at] - height) / gap).upper()).upper()
            masses.append((kept[at + 1][0], growths[at + 1] * (steeper - slope)))
            height += steeper * gap
            slope = steeper
        # Below the first point the chord to (0, 1).
        masses.append((kept[0][0], (1 - height - slope * growths[0]).nonnegative_part()))
        return _law(spacing, cut, masses[::-1], infinite)


@lru_cache(maxsize=1 << 16)
def growth_at(spacing: float, place: int) -> arb:
    """e to the loss of a place of the grid."""
    with precision(BITS):
        return (arb(place) * arb(spacing)).exp()


def _step_down(spacing: float) -> arb:
    return growth_at(spacing, -1)


def _lower_hull(spacing: float, points: Sequence[Point]) -> list[Point]:
    """Return points, chosen in floats: leaving points out is sound, as chords only raise it."""
    hull: list[tuple[float, float, Point]] = []
    for point in points:
        x, y = math.exp(point[0] * spacing), float(point[1])
        while len(hull) > 1:
            (x0, y0, _), (x1, y1, _) = hull[-2:]
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y, point))
    return [point for _, _, point in hull]


def _law(spacing: float, cut: float, masses: list[Point], infinite: arb, longest: int | None = None) -> LossLaw:
    """Return the law with these masses at rising places, without its lightest ends.

    What is longer than `longest` loses its upper end to infinity; without one, what is longer than LONGEST is refused.
    """
    low, high = 0, len(masses)
    moved, lifted = arb(0), arb(0)
    while low < high - 1 and lifted + masses[low][1] < cut:
        lifted += masses[low][1]
        low += 1
    first = masses[low][0]
    while high - low > 1:
        heavy = not moved + masses[high - 1][1] < cut
        if heavy and (longest is None or masses[high - 1][0] - first < longest):
            break
        high -= 1
        moved += masses[high][1]
    last = masses[high - 1][0]
    if last - first >= LONGEST:
        raise GridTooFine
    dense = [arb(0)] * (last - first + 1)
    for place, mass in masses[low:high]:
        dense[place - first] = mass
    dense[0] += lifted
    return LossLaw(spacing, cut, first, tuple(dense), infinite + moved)
