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
"""

from __future__ import annotations

from collections.abc import Callable

from crowdblend.numerics.arithmetic import Arithmetic, Number, sampled_factors

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
    up = rate * _two_corners(calc, one_more, k, rate, blend, most / blend)
    if calc.surely(gain <= 0):
        return up
    return calc.maximum(up, gain * _two_corners(calc, one_fewer, k, rate, blend, least / blend))


def _two_corners(calc: Arithmetic, gap: Gap, k: int, rate: Number, blend: Number, factor: Number) -> Number:
    near = gap(calc, k, rate, factor)
    if calc.surely(blend == 1):
        return near
    return (blend * near + gap(calc, k, rate, factor * blend * blend)) / (blend + 1)
