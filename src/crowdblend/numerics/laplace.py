"""Divergence between two discrete Laplace variables a step apart, with different scales.

A value c + Y, Y discrete Laplace with ratio a = e^{−1/scale}, has P[Y = y] = (1−a)/(1+a)·a^|y|. Compared are a
variable at c with ratio a and one at c−1 with ratio b. On either side of the two centres both fall
geometrically, so their difference changes sign at most once there, and Σ(difference)₊ is the largest of the sums
over an initial or a final run.
"""

from __future__ import annotations

from crowdblend.numerics.arithmetic import Arithmetic, Number


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
