"""The divergence curves of single mechanisms: points in blocks, biased sampling, and several kinds of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from flint import arb

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.balls import UndecidedBall, maximum, precision
from crowdblend.trusted.numerics.crowd_divergence import CrowdGaps
from crowdblend.trusted.numerics.laplace import appears, step_divergences, threshold_divergences
from crowdblend.trusted.numerics.points_in_crowds import gathered_ratios
from crowdblend.trusted.numerics.profile_curves import (
    LARGEST_LOSS,
    Bounds,
    Closeness,
    Curve,
    Kernel,
    crowd_distance,
    until,
)
from crowdblend.trusted.numerics.tail_suprema import robust_divergence

# A point of a curve is a bound of its own, so that twelve digits of it are plenty; half the bits take less time.
ENOUGH_BITS = 64
# A point of the curve of an outlier table costs a step per size of a bin; with more sizes it enters with its (ε, δ).
MOST_SIZES = 500
# Tails are summed up to here, in units of σ; e^{−18²/2} is below every δ that is looked for.
FAR = 18
LARGEST_SIGMA = 20_000.0
SMALLEST_SIGMA = 0.5


class Points(Kernel):
    """The kernel of points hidden in blocks of at least k; numerics/points_in_crowds.py has the argument."""

    density = 32

    def __init__(self, k: int, rate: arb, blend: arb) -> None:
        self.gaps, self.blend = CrowdGaps(k, rate), blend
        self.distance = crowd_distance(k, rate, blend)
        self.ratios = gathered_ratios(balls, k, blend)
        self.reach = max((k - 1) * float(1 / rate - 1), 1.0) * float(blend)
        self._at_one = self.gaps.more(arb(1)), self.gaps.fewer(arb(1))

    def more(self, factor: arb) -> arb | None:
        """The mean over the likelihood ratio L of L·more(s/L)."""
        return sum((mass * ratio * self._gap(factor / ratio, 0) for ratio, mass in self.ratios), arb(0))

    def fewer(self, factor: arb) -> arb | None:
        """The mean over the likelihood ratio L of fewer(s·L)."""
        return sum((mass * self._gap(factor * ratio, 1) for ratio, mass in self.ratios), arb(0))

    def _gap(self, factor: arb, direction: int) -> arb:
        # Below factor 1 the supremum over n is at most its value at 1 plus what is missing to 1.
        if not factor >= 1:
            return self._at_one[direction] + (1 - factor).nonnegative_part()
        return self.gaps.fewer(factor) if direction else self.gaps.more(factor)


class BiasedCrowds(Curve):
    """The curve of crowds of k under biased sampling: one bound serves both directions."""

    def __init__(self, k: int, blend: arb, low: float, high: float, exceptions: int, max_rate: float) -> None:
        self.crowd, self.blend = k - exceptions - 1, blend
        self.rates = (arb(low), arb(high), arb(max_rate))
        self.reach = math.log1p(max_rate * (k / low) * float(blend))
        self.distance = max_rate * crowd_distance(k, arb(high), blend)

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """Known from ln(P·e^ε + 1 − P) on; without the person at most 1 − α(1 − P) is lost."""
        ups = until(self._bound, growths, _enough)
        downs: Bounds = []
        for growth, bound in zip(growths, ups, strict=True):
            gain = (1 - growth * (1 - self.rates[2])).nonnegative_part()
            downs.append(gain if bound is None else bound.min(gain))
        return ups, downs

    def _bound(self, growth: arb) -> arb:
        most = self.rates[2]
        if growth >= most * self.blend + 1 - most:
            with suppress(UndecidedBall, NotProved), precision(ENOUGH_BITS):
                found: arb = robust_divergence(balls, self.crowd, self.rates, self.blend, growth)
                if found.is_finite():
                    return found.min(most)
        return most


class OutlierBins(Curve):
    """The curve of bins whose noise fades with their size: the worst size at each factor.

    Sizes are looked at from the largest down, until no smaller one can be worse. Let a < b be the ratios of the noise
    of sizes j and j − 1 and ρ = (1−a)(1+b)/((1+a)(1−b)). Noise of ratio a is at most ρ times noise of ratio b around
    one centre, so the two are at most 1 − 1/ρ apart, and both divergences are at most 1 − 1/ρ more than what noise of
    the larger loss ε(j) alone has. With the person there is nothing from the factor ρ/b on. Without, beyond e^ε(j),
    it is at most 2(αa)^−(K−j) = 2e^{tε}α^−(K−j): outcomes i steps from the centre are b/a times as far apart as those
    at i − 1, and b^i = (αa)^−(K−j) where (b/a)^i = αa.
    """

    density = 16

    def __init__(self, epsilon: float, transition: int, limit: int) -> None:
        if limit - transition > MOST_SIZES:
            raise NotProved(f"Outlier tables have profiles up to {MOST_SIZES} sizes of bins. Compose their (ε, δ).")
        losses = [arb(epsilon) * transition / (limit - j) for j in range(limit - transition)] + [arb(epsilon)]
        ratios = [(-loss).exp() for loss in losses]
        # For every size from 1 on: ratios of its noise and the one before, the largest 1 − 1/ρ and ρ/b up to it.
        self.steps: list[tuple[arb, arb, arb, arb]] = []
        apart = furthest = arb(0)
        for here, before in zip(ratios[1:], ratios, strict=False):
            nearer = (1 - here) * (1 + before) / ((1 + here) * (1 - before))
            apart, furthest = apart.max(1 - 1 / nearer), furthest.max(nearer / before)
            self.steps.append((here, before, apart, furthest))
        self.transition, self.scale = transition, 2 * (arb(epsilon) * transition).exp()
        # Bins from limit − transition on have noise of one loss.
        self.large, self.kinks = Closeness(epsilon, 0.0), (epsilon,)
        # Beyond ε the divergence falls about like e^{−t·loss}.
        self.reach = 1.5 * epsilon + 60 / transition
        self.distance = self.large.distance

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        ups: Bounds = []
        downs: Bounds = []
        for growth in growths:
            try:
                up, down = self._worst(growth)
            except UndecidedBall:
                ups.append(None)
                downs.append(None)
                continue
            ups.append(up)
            downs.append(down)
            if up <= _enough and down <= _enough:
                break
        rest: Bounds = [None] * (len(growths) - len(ups))
        return ups + rest, downs + rest

    def _worst(self, growth: arb) -> tuple[arb, arb]:
        up = down = self.large.at(growth)
        tail = self.scale * growth**-self.transition
        for here, before, apart, furthest in reversed(self.steps):
            most = apart + (1 / here - growth).nonnegative_part() / (1 / here + 1)
            beyond = growth * here >= 1 and tail <= down
            if (growth >= furthest or most <= up) and (beyond or most <= down):
                break
            more, fewer = step_divergences(balls, here, before, growth)
            up, down, tail = up.max(more), down.max(fewer), tail / growth
        return up, down


class ThresholdCells(Curve):
    """The curve of cells that are noisy and shown from a threshold on, and take no part while empty."""

    def __init__(self, noise_epsilon: float, show_from: int) -> None:
        self.ratio, self.show_from = (-arb(noise_epsilon)).exp(), show_from
        # Beyond the loss of the noise only a cell that appears is left, and most of the mass sits at that loss.
        self.reach, self.kinks = noise_epsilon, (min(noise_epsilon, LARGEST_LOSS),)
        self.distance = max(math.tanh(noise_epsilon / 2), float(appears(self.ratio, show_from)))

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        found = [threshold_divergences(balls, self.ratio, self.show_from, growth) for growth in growths]
        return [up for up, _ in found], [down for _, down in found]


class GaussianCells(Curve):
    """The curve of a histogram with discrete Gaussian noise on every cell; both directions are one.

    With P[Y = y] ∝ e^{−y²/(2σ²)} on the whole numbers, 1 + Y is e^{(2y−1)/(2σ²)} times as likely as Y to be y. That
    rises with y, so the event that favours 1 + Y most at a factor α is y ≥ m for m the first number from σ²·ln α + ½
    on, and

        Σ(P[1 + Y = y] − α·P[Y = y])₊ = T(m − 1) − α·T(m),        T(m) = P[Y ≥ m].

    The other way the divergence is the same, since 1 − Y has the law of 1 + Y (docs/proofs.md#gaussian).
    """

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
