"""Divergence of cells that are shown where their noisy count reaches a threshold, and take no part while empty.

A cell of x ≥ 1 people is shown as x + Y, Y discrete Laplace with ratio a = e^{−ε₀}, where that is at least t; an empty
one is never shown. With q = P[1 + Y ≥ t] = a^(t−1)/(1 + a), t ≥ 1, the two divergences between x and x − 1 people are

    x = 1   up(α) = q, down(α) = (1 − α(1 − q))₊                    for α ≥ 1
    x ≥ 2   up(α), down(α) ≤ (1 − αa)₊/(1 + a), with equality for x ≥ t

since the second is post-processing of the noisy count (docs/proofs.md#threshold).
"""

from __future__ import annotations

from crowdblend.numerics.arithmetic import Arithmetic, Number


def appears(ratio: Number, show_from: int) -> Number:
    """P[1 + Y ≥ show_from]: the probability that someone who is alone in a cell makes it appear."""
    return ratio ** (show_from - 1) / (1 + ratio)


def threshold_divergences(calc: Arithmetic, ratio: Number, show_from: int, growth: Number) -> tuple[Number, Number]:
    """Return both divergences at growth = e^ε ≥ 1 for the worst cell: with a person, without."""
    alone, among = appears(ratio, show_from), calc.nonnegative(1 - growth * ratio) / (1 + ratio)
    return calc.maximum(alone, among), calc.maximum(calc.nonnegative(1 - growth * (1 - alone)), among)
