"""blending.sharp before its suprema IS the linear program behind CBP Lemmas 14 and 15, and after them bounds it."""

from fractions import Fraction
from itertools import product

import pytest

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from tests.cases import for_each

from . import fractions_arithmetic as exact
from .distributions import epsilon_above
from .linear_programs import best_leak

CASES = [
    (k, rate, blend, growth)
    for k in (1, 2, 3, 5)
    for rate in (Fraction(1, 10), Fraction(1, 3), Fraction(4, 5))
    for blend in (Fraction(1), Fraction(6, 5), Fraction(2))
    for growth in (1 + rate * (blend - 1), 1 + rate * (blend - 1) + Fraction(1, 10), 2 * blend)
]


def gap(n: int, least: int, rate: Fraction, factor: Fraction, more: bool) -> Fraction:
    """max over j ≥ least of P[X = j] − (factor − 1)·P[X beyond j], cut at 0."""
    counts = [exact.pmf(n, j, rate) for j in range(n + 1)]
    beyond = (lambda j: sum(counts[j + 1 :])) if more else (lambda j: sum(counts[:j]))
    return max([counts[j] - (factor - 1) * beyond(j) for j in range(least, n + 1)], default=Fraction(0))


def bound_at(n: int, k: int, rate: Fraction, blend: Fraction, growth: Fraction) -> Fraction:
    """What `crowd_divergence` takes suprema of: two corners upwards, two corners downwards."""

    def corners(factor: Fraction, more: bool) -> Fraction:
        near = max(gap(n, k - 1, rate, factor, more), Fraction(0))
        far = max(gap(n, k - 1, rate, factor * blend**2, more), Fraction(0))
        return (blend * near + far) / (blend + 1)

    up = rate * corners((growth - 1 + rate) / (rate * blend), more=True)
    gain = 1 - growth * (1 - rate)
    return up if gain <= 0 else max(up, gain * corners(growth * rate / (gain * blend), more=False))


@for_each("case", CASES, daily=12)
def test_the_bound_at_each_class_size_is_the_optimum(case: tuple[int, Fraction, Fraction, Fraction]) -> None:
    k, rate, blend, growth = case
    supremum = crowd_divergence(exact, k, rate, blend, growth)
    for n in (0, 1, 2, 4, 7, 12):
        optimum = best_leak(n, k, float(rate), float(blend), float(growth))
        assert float(bound_at(n, k, rate, blend, growth)) == pytest.approx(optimum, abs=1e-9)
        assert float(supremum) >= optimum - 1e-9


def test_a_larger_k_or_a_smaller_blend_is_too_optimistic() -> None:
    """The program tells a crowd of k from a crowd of k + 1, and e^ε from a little less."""
    k, rate, blend, growth, n = 3, Fraction(1, 4), Fraction(6, 5), Fraction(2), 4
    optimum = best_leak(n, k, float(rate), float(blend), float(growth))
    assert float(bound_at(n, k + 1, rate, blend, growth)) < optimum - 1e-3
    assert float(bound_at(n, k, rate, blend * Fraction(99, 100), growth)) < optimum - 1e-5


@for_each(("blend", "rate"), product([Fraction(11, 10), Fraction(3, 2)], [0.1, 0.25, 0.5]), daily=2)
def test_the_sharp_rule_is_below_the_papers_and_above_the_program(rate: float, blend: Fraction) -> None:
    premise = CrowdBlending(4, epsilon_above(blend))
    closed = RULES["blending.closed-form"].conclude(premise, rate=rate)
    targets = [epsilon_above(growth) for growth in (1 + Fraction(rate) * blend, 2 * blend)]
    for epsilon in [*targets, closed.epsilon]:
        sharp = RULES["blending.sharp"].conclude(premise, rate=rate, epsilon=epsilon)
        explicit = RULES["blending.explicit"].conclude(premise, rate=rate, epsilon=epsilon)
        growth = 2.718281828459045**epsilon
        worst = max(best_leak(n, 4, rate, float(blend), growth) for n in range(0, 30, 2))
        assert worst - 1e-9 <= sharp.delta <= explicit.delta
    assert closed.delta >= sharp.delta
