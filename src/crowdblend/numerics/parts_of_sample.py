"""The divergence of several suppressed tables, each from a part of one sample that shares nobody with the others.

Each person is sampled with probability `rate` and, if sampled, goes to part i with probability s_i: to part i with
probability β_i = rate·s_i, to some part with b = Σβ_i. With one person more, the output is the mixture
Σβ_i·(part i has the person) + (1−b)·(no part has). Joint convexity divides its divergence from the output without the
person among the parts in proportion to β_i, as if the person were in part i with probability b; given all other
parts, the others are in part i independently with probability q_i = β_i/(1 − b + β_i). The worst class size of each
part is known (`crowd_divergence`). Each direction is added up by itself (docs/proofs.md#parts-of-one-sample).
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdblend.numerics.arithmetic import Arithmetic, Number
from crowdblend.numerics.crowd_divergence import Gap, one_fewer, one_more

Parts = Sequence[tuple[int, Number]]
"""For every part the threshold k of its table and the share of the sample; shares add up to at most 1."""


def parts_divergence(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Number:
    """A bound on the divergence at e^ε = growth, in both directions."""
    return calc.maximum(one_person_more(calc, parts, rate, growth), one_person_fewer(calc, parts, rate, growth))


def part_divergence(calc: Arithmetic, k: int, share: Number, total: Number, rate: Number, growth: Number) -> Number:
    """What one part adds to the average, before it is weighted: of a share among shares that add up to `total`."""
    taken = rate * total
    up = taken * _gap(calc, one_more, k, rate * share, taken, 1 + (growth - 1) / taken)
    gain = 1 - growth * (1 - taken)
    if calc.surely(gain <= 0):
        return up
    gain = calc.nonnegative(gain)
    return calc.maximum(up, gain * _gap(calc, one_fewer, k, rate * share, taken, growth * taken / gain))


def one_person_more(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Number:
    """Σ β_i·more(k_i, q_i, 1 + (growth − 1)/b): the output with the person against the output without."""
    taken = rate * _total(parts)
    return _added(calc, one_more, parts, rate, 1 + (growth - 1) / taken)


def one_person_fewer(calc: Arithmetic, parts: Parts, rate: Number, growth: Number) -> Number:
    """V/b·Σ β_i·fewer(k_i, q_i, growth·b/V), V = 1 − growth·(1−b): the output without the person against with."""
    taken = rate * _total(parts)
    gain = 1 - growth * (1 - taken)
    if calc.surely(gain <= 0):
        return calc.number(0)
    gain = calc.nonnegative(gain)
    return gain / taken * _added(calc, one_fewer, parts, rate, growth * taken / gain)


def _total(parts: Parts) -> Number:
    return sum(share for _, share in parts)


def _added(calc: Arithmetic, gap: Gap, parts: Parts, rate: Number, factor: Number) -> Number:
    """Σ β_i·gap(k_i, q_i, factor)."""
    taken, total = rate * _total(parts), calc.number(0)
    for k, share in parts:
        total = total + rate * share * _gap(calc, gap, k, rate * share, taken, factor)
    return total


def _gap(calc: Arithmetic, gap: Gap, k: int, own: Number, taken: Number, factor: Number) -> Number:
    """The gap where everybody else is in the part with probability q_i = β_i/(1 − b + β_i)."""
    return gap(calc, k, own / (1 - taken + own), factor)
