"""Noise below k and outlier noise: the kernel's divergences EQUAL direct summation, in fractions."""

from fractions import Fraction
from itertools import pairwise

from flint import arb, ctx

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.numerics.laplace import step_divergence
from crowdblend.trusted.numerics.noise_below_k import spliced_divergence
from tests.cases import for_each

from . import fractions_arithmetic as exact
from .distributions import divergence, epsilon_above, growth_below
from .noise_below_k import blurred, published_count, step_by_summation, worst_blurred_class

# Where the noise alone hides a person δ is 0 and the scan over n has no end, so the noise is weak here.
CASES = [
    (Fraction(1, 10), Fraction(3, 2)),
    (Fraction(1, 10), Fraction(2)),
    (Fraction(1, 3), Fraction(5, 2)),
    (Fraction(1, 2), Fraction(2)),
]


@for_each("flag", [False, True])
@for_each("rate", [Fraction(1, 5), Fraction(1, 2), Fraction(5, 6)], daily=2)
@for_each("k", [1, 2, 3])
def test_noise_below_k_is_the_definition(k: int, rate: Fraction, flag: bool) -> None:
    for ratio, growth in CASES:
        claimed = spliced_divergence(exact, k, rate, ratio, growth, flagged=flag)
        assert claimed == worst_blurred_class(k, rate, ratio, growth, flag)


def test_mistaking_k_or_the_flag_would_be_caught() -> None:
    rate, ratio, growth = Fraction(1, 2), Fraction(1, 3), Fraction(2)
    true = worst_blurred_class(3, rate, ratio, growth, flag=True)
    assert spliced_divergence(exact, 4, rate, ratio, growth, flagged=True) < true
    assert spliced_divergence(exact, 3, rate, ratio, growth, flagged=False) < true
    assert spliced_divergence(exact, 3, rate, ratio, growth, flagged=True) * Fraction(999_999, 1_000_000) < true


@for_each("flag", [False, True])
@for_each(("k", "rate", "noise", "epsilon"), [(2, 0.25, 2.0, 1.0), (3, 0.5, 2.0, 1.0)])
def test_the_rule_covers_noise_that_hides_at_least_as_much(
    k: int, rate: float, noise: float, epsilon: float, flag: bool
) -> None:
    # A rational ratio a hair above e^−noise: the same noise to 18 digits.
    ratio = Fraction(int(1 / growth_below(noise) * 10**18) + 1, 10**18)
    claimed = RULES["histogram.noisy-sampled"].conclude(k=k, noise_epsilon=noise, rate=rate, epsilon=epsilon, flag=flag)
    true = worst_blurred_class(k, Fraction(rate), ratio, growth_below(epsilon), flag)
    assert true * (1 - Fraction(1, 10**12)) <= Fraction(claimed.delta) <= true * (1 + Fraction(1, 10**9))


def test_grouping_the_tails_loses_nothing() -> None:
    """A wider window of separate outcomes gives the same divergence."""
    rate, ratio, growth = Fraction(1, 3), Fraction(1, 2), Fraction(3, 2)
    for n in range(1, 6):
        narrow, wide = (
            [published_count(m, 3, rate, ratio, top, False) for m in (n, n - 1)] for top in (max(n, 2), n + 12)
        )
        assert divergence(*narrow, growth) == divergence(*wide, growth)
    assert sum(blurred(2, ratio, 0, 4).values()) == 1


@for_each("a", [Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)])
@for_each("b", [Fraction(1, 5), Fraction(11, 20), Fraction(19, 20)])
def test_a_step_between_two_noises_is_the_sum(a: Fraction, b: Fraction) -> None:
    for growth in (Fraction(1), Fraction(11, 10), Fraction(2), 1 / a, 1 / b, Fraction(30)):
        assert step_divergence(exact, a, b, growth) == step_by_summation(a, b, growth)


@for_each(
    ("epsilon", "transition", "limit", "factor"),
    [(0.2, 5, 15, 2.0), (1.0, 3, 6, 1.5), (0.5, 2, 9, 1.0), (2.0, 1, 2, 3.0)],
)
def test_the_outlier_histogram_by_direct_summation(epsilon: float, transition: int, limit: int, factor: float) -> None:
    claimed = RULES["outlier.histogram"].conclude(epsilon=epsilon, transition=transition, limit=limit, factor=factor)
    with ctx.workprec(200):
        worst = max(
            (_bin_divergence(j, epsilon, transition, limit, factor) for j in range(1, limit + 3)),
            key=lambda value: float(value.mid()),
        )
        assert worst <= arb(claimed.delta)
        assert arb(claimed.delta) * (1 - 1e-9) <= worst


def _bin_divergence(size: int, epsilon: float, transition: int, limit: int, factor: float) -> arb:
    """Σ over outputs of (P − e^{c·ε(j)}Q)₊ between bins of size j and j−1, by the definition."""

    def loss(j: int) -> arb:
        return arb(epsilon) * transition / (limit - j) if j < limit - transition else arb(epsilon)

    def mass(j: int, y: int) -> arb:
        ratio = (-loss(j)).exp()
        return (1 - ratio) / (1 + ratio) * ratio ** abs(y - j)

    growth, up, down = (factor * loss(size)).exp(), arb(0), arb(0)
    # Beyond 60 scales of the wider noise less than e^−60 of either distribution is left.
    reach = int(60 / float(loss(size - 1).mid())) + limit
    for y in range(-reach, reach):
        p, q = mass(size, y), mass(size - 1, y)
        up += (p - growth * q).nonnegative_part()
        down += (q - growth * p).nonnegative_part()
    return up.max(down)


def test_outlier_privacy_is_differential_at_its_largest_loss() -> None:
    """The curve never exceeds c·ε, so δ at c·ε cannot exceed the δ claimed along the curve."""
    made = RULES["outlier.histogram"].conclude(epsilon=1.0, transition=3, limit=6, factor=1.5)
    promise = RULES["outlier.differential"].conclude(made)
    growth = growth_below(promise.epsilon)
    ratios = [1 / growth_below(3 / (6 - j)) for j in range(3)] + [1 / growth_below(1.0)]
    rounded = [Fraction(int(ratio * 10**30), 10**30) for ratio in ratios]
    for before, here in pairwise(rounded):
        assert step_by_summation(here, before, growth) <= Fraction(promise.delta)
    assert epsilon_above(growth) <= promise.epsilon
