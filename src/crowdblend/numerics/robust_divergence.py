"""The divergence that biased sampling leaves to mechanisms hiding people in crowds (docs/proofs.md#robust-sampling)."""

from __future__ import annotations

from crowdblend.numerics.arithmetic import Arithmetic, Number
from crowdblend.numerics.balls import Undecided
from crowdblend.numerics.tail_suprema import crossing_tails, rising_tail


def robust_divergence(
    calc: Arithmetic, crowd: int, rates: tuple[Number, Number, Number], blend: Number, growth: Number
) -> Number:
    """sup over n of min(max(up(n), down(n)), few(n)) at e^ε' = growth, where blend = e^ε and `crowd` others are enough.

    The others are sampled with a probability between the first two rates, the person with at most the third.
    """
    p, q, most = rates
    r = (growth - 1 + most) / (most * blend)
    # Where ⌊(n+1)·slope⌋ < crowd, few(n) is the smaller and still rising: only later teeth matter.
    up = most * rising_tail(calc, crowd, p * r / (1 - p + p * r), q, person=1)
    gain = 1 - growth * (1 - most)
    if calc.surely(gain <= 0):
        return up
    if not calc.surely(gain > 0):
        raise Undecided
    c = blend * gain / (growth * most)
    return crossing_tails(calc, up, (crowd, q, most), (c * q / (1 - q + c * q), p, gain))
