"""The exact δ of sampling and suppression EQUALS the enumeration of the definition, in fractions."""

from fractions import Fraction
from itertools import pairwise

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from tests.cases import for_each

from . import fractions_arithmetic as exact
from .class_of_people import class_divergence, suppressed_below, unchanged, worst_class
from .distributions import epsilon_above, growth_below

RATES = [
    Fraction(1, 16),
    Fraction(3, 29),
    Fraction(1, 10),
    Fraction(1, 4),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(2, 3),
]
EXTREME_RATES = [Fraction(1, 40), Fraction(9, 10), Fraction(31, 32)]
# 1 is the total variation; 21/20 is below 1/(1 − rate) for every rate above 1/21, so both directions matter.
GROWTHS = [Fraction(1), Fraction(21, 20), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(27, 10), Fraction(8)]
ONE = Fraction(1)


@for_each("rate", RATES + EXTREME_RATES, daily=5)
@for_each("k", range(1, 7))
def test_the_exact_delta_is_the_definition(k: int, rate: Fraction) -> None:
    for growth in GROWTHS:
        assert crowd_divergence(exact, k, rate, ONE, growth) == worst_class(k, rate, growth), growth


@for_each("k", [2, 3, 5])
def test_a_smaller_delta_or_another_k_would_be_caught(k: int) -> None:
    """The comparison above has teeth: an off-by-one in k or a millionth less fails it."""
    rate, growth = Fraction(1, 4), Fraction(3, 2)
    true = worst_class(k, rate, growth)
    assert crowd_divergence(exact, k + 1, rate, ONE, growth) < true < crowd_divergence(exact, k - 1, rate, ONE, growth)
    assert crowd_divergence(exact, k, rate, ONE, growth) * Fraction(999_999, 1_000_000) < true


def test_the_stopping_rule_of_the_scan() -> None:
    """Without a threshold the divergence does not grow with n, and suppression never exceeds it."""
    for rate in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        for growth in (Fraction(1), Fraction(5, 4), Fraction(3)):
            plain = [class_divergence(unchanged, n, rate, growth) for n in range(1, 25)]
            hidden = [class_divergence(suppressed_below(3), n, rate, growth) for n in range(1, 25)]
            assert all(later <= earlier for earlier, later in pairwise(plain))
            assert all(small <= large for small, large in zip(hidden, plain, strict=True))


@for_each("rate", [0.5, 0.25, 0.1, 0.9375])
@for_each("growth", [Fraction(1), Fraction(6, 5), Fraction(2), Fraction(4)])
@for_each("k", [1, 2, 4, 6])
def test_the_rule_rounds_the_exact_delta_upwards_and_hardly(k: int, rate: float, growth: Fraction) -> None:
    epsilon = epsilon_above(growth)
    claimed = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
    true = worst_class(k, Fraction(rate), growth_below(epsilon))
    assert true <= Fraction(claimed.delta) <= true * (1 + Fraction(1, 10**9))


@for_each("rate", [0.5, 0.25, 0.1])
@for_each("k", [1, 3, 6])
def test_the_published_bound_is_above_the_truth(k: int, rate: float) -> None:
    for growth in (1 / (1 - Fraction(rate)), 2 / (1 - Fraction(rate))):
        epsilon = epsilon_above(growth)
        claimed = RULES["suppression.published"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
        assert Fraction(claimed.delta) >= worst_class(k, Fraction(rate), growth_below(epsilon))
