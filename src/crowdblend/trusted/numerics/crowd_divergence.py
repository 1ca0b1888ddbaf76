"""Divergence of a binomial count from the same count with one more, at the worst size.

X ~ Bin(n, p) counts sampled members among n others. Comparing X + 1 with X, when everything below a threshold k
looks alike, gives for a factor s ≥ 1 the two hockey-stick divergences

    more(n)  = max over j ≥ k−1 of  P[X = j] − (s − 1)·P[X > j]
    fewer(n) = max over j ≥ k−1 of  P[X = j] − (s − 1)·P[X < j]

The supremum over n is attained at one known n, so nothing is scanned:

* once the best j exceeds k−1 the threshold plays no part, and adding an independent coin to both sides is
  post-processing, so the divergence cannot grow with n;
* while the best j is k−1, raising n by one changes the value by p·(P[X=k−2] − s·P[X=k−1]) for `more` and by
  p·(s·P[X=k−2] − P[X=k−1]) for `fewer`, which is positive exactly until the best j leaves k−1.

Hence the peak is the first n with s·p·(n−k+2) ≥ (k−1)(1−p), respectively p·(n−k+2) ≥ s·(k−1)(1−p). A ceiling may
come out one too large; every n gives a lower bound on the supremum, so the n before is evaluated as well.

At many factors `CrowdGaps` takes one table over crowd sizes: at j = k−1 both are linear in s, and from n to n + 1 the
three probabilities follow by one multiplication and one addition each, so a whole curve costs about as much as a few of
its points would otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number, sampled_factors

# Larger crowds are not tabulated but evaluated one by one.
LARGEST_TABLE = 20_000
# e to minus this is negligible.
ENOUGH = 60
Gap = Callable[[Arithmetic, int, Number, Number], Number]
Mills = Callable[[int, int, Number], Number]


def one_more(calc: Arithmetic, k: int, p: Number, factor: Number) -> Number:
    """sup over n of more(n)."""
    peak = calc.ceil(k - 2 + (k - 1) * (1 - p) / (factor * p))
    return _largest_gap(calc, peak, k, p, factor, calc.above)


def one_fewer(calc: Arithmetic, k: int, p: Number, factor: Number) -> Number:
    """sup over n of fewer(n)."""
    peak = calc.ceil(k - 2 + (k - 1) * (1 - p) * factor / p)
    if calc.surely(peak > calc.largest) and calc.surely(p * calc.largest > k):
        # fewer(n) ≤ P[X = k−1], which only falls once n exceeds (k−1)/p.
        return calc.at_most(calc.pmf(int(calc.largest), k - 1, p))
    return _largest_gap(calc, peak, k, p, factor, calc.below)


def _largest_gap(calc: Arithmetic, peak: int, k: int, p: Number, factor: Number, mills: Mills) -> Number:
    def gap(n: int) -> Number:
        mass = calc.pmf(n, k - 1, p)
        return mass if calc.surely(factor == 1) else mass * (1 - (factor - 1) * mills(n, k - 1, p))

    sizes = [max(peak + step, k - 1) for step in (-1, 0)]
    return calc.nonnegative(calc.maximum(*map(gap, sizes)))


def crowd_divergence(calc: Arithmetic, k: int, rate: Number, blend: Number, growth: Number) -> Number:
    """Return the largest divergence at e^ε' = growth that sampling leaves to a mechanism hiding people in crowds.

    The mechanism may tell crowd members apart by a factor blend = e^ε, and may react by at most that factor to a
    person with fewer than k−1 sampled companions. Valid for growth ≥ rate·blend + 1 − rate, and attained by
    suppression when blend = 1. For each n this is the optimum of a linear program over the mechanism's output
    probabilities; its corners split the divergence in two, at factors s and s·blend², with weights blend and 1
    (out of blend + 1).
    """
    gain, (most, least) = sampled_factors(calc, rate, growth)
    up = rate * two_corners(calc, one_more, k, rate, blend, most / blend)
    if calc.surely(gain <= 0):
        return up
    return calc.maximum(up, gain * two_corners(calc, one_fewer, k, rate, blend, least / blend))


def two_corners(calc: Arithmetic, gap: Gap, k: int, rate: Number, blend: Number, factor: Number) -> Number:
    """Return the mean of the gaps at factors s and s·blend², with weights blend and 1: the corners of the program."""
    near = gap(calc, k, rate, factor)
    if calc.surely(blend == 1):
        return near
    return (blend * near + gap(calc, k, rate, factor * blend * blend)) / (blend + 1)


class CrowdGaps:
    """sup over n of more(n) and fewer(n) for one k and one rate, at any factor s ≥ 1."""

    def __init__(self, k: int, p: arb) -> None:
        self.k, self.p = k, p
        self._ratio = float((1 - p) / p)
        # Crowds beyond are so large that fewer than k of them are hardly ever sampled.
        spread = math.sqrt(2 * ENOUGH * k * float(1 - p))
        self._many = math.ceil((k + ENOUGH + spread) / float(p))
        # Those that most factors need; a few more are cheaper one by one.
        self._usual = 1.25 * k / float(p) + 20
        whole = p ** (k - 1)
        self._equal, self._above, self._below = [whole], [arb(0)], [1 - whole]

    def more(self, factor: arb) -> arb:
        """sup over n of more(n)."""
        peak = self.k - 2 + (self.k - 1) * self._ratio / float(factor)
        if peak > LARGEST_TABLE + self.k:
            found: arb = one_more(balls, self.k, self.p, factor)
            return found
        return self._largest(peak, factor, self._above)

    def fewer(self, factor: arb) -> arb:
        """sup over n of fewer(n)."""
        peak = self.k - 2 + (self.k - 1) * self._ratio * float(factor)
        if peak > self._many + 4:
            # fewer(n) ≤ P[X = k−1], which only falls once n exceeds (k−1)/p.
            return arb(0).union(balls.pmf(self._many, self.k - 1, self.p))
        if peak > min(self._usual, LARGEST_TABLE + self.k):
            found: arb = one_fewer(balls, self.k, self.p, factor)
            return found
        return self._largest(peak, factor, self._below)

    def _largest(self, peak: float, factor: arb, tail: list[arb]) -> arb:
        # The float is off by far less than 1, so the ceiling of the true peak, or the n before it, is among these.
        first = max(math.floor(peak) - self.k, 0)
        self._extend(first + 4)
        extra = factor - 1
        best = arb(0)
        for place in range(first, first + 4):
            best = best.max(self._equal[place] - extra * tail[place])
        return best

    def _extend(self, length: int) -> None:
        """Rows for n = k − 1, k, …, as many as that."""
        k, p = self.k, self.p
        left_out = 1 - p
        short_by_one = left_out * (k - 1)
        equal, above, below = self._equal[-1], self._above[-1], self._below[-1]
        for n in range(k - 2 + len(self._equal), k - 1 + length):
            above += p * equal
            self._above.append(above)
            # p·P[X = k−2] = P[X = k−1]·(k−1)(1−p)/(n−k+2).
            share = equal / (n - k + 2)
            below = (below - share * short_by_one).nonnegative_part()
            self._below.append(below)
            equal = share * (n + 1) * left_out
            self._equal.append(equal)
