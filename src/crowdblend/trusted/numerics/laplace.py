"""Divergence between two discrete Laplace variables a step apart, with different scales.

A value c + Y, Y discrete Laplace with ratio a = e^{−1/scale}, has P[Y = y] = (1−a)/(1+a)·a^|y|. Compared are a
variable at c with ratio a and one at c−1 with ratio b. On either side of the two centres both fall
geometrically, so their difference changes sign at most once there, and Σ(difference)₊ is the largest of the sums
over an initial or a final run.
"""

from __future__ import annotations

from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number


def step_divergence(calc: Arithmetic, a: Number, b: Number, growth: Number) -> Number:
    """Return the larger of the two hockey-stick divergences at factor growth = e^ε between the two variables."""
    return calc.maximum(*step_divergences(calc, a, b, growth))


def step_divergences(calc: Arithmetic, a: Number, b: Number, growth: Number) -> tuple[Number, Number]:
    """Return both hockey-stick divergences at growth = e^ε: between the variable at c and c−1."""
    mass_a, mass_b = (1 - a) / (1 + a), (1 - b) / (1 + b)
    # From c upwards: mass_a·a^i against mass_b·b^{i+1}; from c−1 downwards: mass_a·a^{i+1} against mass_b·b^i.
    up = _excess(calc, mass_a, a, growth * mass_b * b, b) + _excess(calc, mass_a * a, a, growth * mass_b, b)
    down = _excess(calc, mass_b * b, b, growth * mass_a, a) + _excess(calc, mass_b, b, growth * mass_a * a, a)
    return up, down


def _excess(calc: Arithmetic, x: Number, a: Number, y: Number, b: Number) -> Number:
    """Σ over i ≥ 0 of (x·a^i − y·b^i)₊."""
    whole = x / (1 - a) - y / (1 - b)
    if calc.surely(a == b):
        return calc.nonnegative(whole)
    sums = [calc.number(0), whole]
    if calc.surely(x > 0) and calc.surely(y > 0):
        turn = calc.ceil(calc.log(y / x) / calc.log(a / b))
        for i in (turn - 1, turn, turn + 1):
            if i > 0:
                final = x * a**i / (1 - a) - y * b**i / (1 - b)
                sums += [final, whole - final]
    return calc.maximum(*sums)


def fading_divergence(calc: Arithmetic, losses: list[Number], factor: Number) -> Number:
    """The largest divergence between c and c−1 members when c carries noise of loss losses[c], the last one for all
    larger c, at factor·losses[c]. With equal losses and factor ≥ 1 it is 0, so the list is the whole supremum."""
    ratios = [calc.exp(-loss) for loss in losses]
    return calc.maximum(
        calc.number(0),
        *(
            step_divergence(calc, here, before, calc.exp(factor * loss))
            for before, here, loss in zip(ratios, ratios[1:], losses[1:], strict=False)
        ),
    )


def appears(ratio: Number, show_from: int) -> Number:
    """P[1 + Y ≥ show_from]: the probability that someone who is alone in a cell makes it appear."""
    return ratio ** (show_from - 1) / (1 + ratio)


def threshold_divergences(calc: Arithmetic, ratio: Number, show_from: int, growth: Number) -> tuple[Number, Number]:
    """Return both divergences at growth = α ≥ 1 for the worst cell that is shown from a threshold t on, never if empty.

    A cell of x ≥ 1 people is shown as x + Y, Y discrete Laplace with ratio a = e^{−ε₀}, where that is at least t. With
    q = P[1 + Y ≥ t] = a^(t−1)/(1 + a), t ≥ 1, the two divergences between x and x − 1 people are

        x = 1   up(α) = q, down(α) = (1 − α(1 − q))₊                    for α ≥ 1
        x ≥ 2   up(α), down(α) ≤ (1 − αa)₊/(1 + a), with equality for x ≥ t

    since the second is post-processing of the noisy count (docs/proofs.md#threshold).
    """
    alone, among = appears(ratio, show_from), calc.nonnegative(1 - growth * ratio) / (1 + ratio)
    return calc.maximum(alone, among), calc.maximum(calc.nonnegative(1 - growth * (1 - alone)), among)
