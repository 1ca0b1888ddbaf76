"""One more and one fewer: the single n that is evaluated is the worst of all, in exact fractions."""

from fractions import Fraction
from itertools import accumulate

from flint import arb

from crowdblend.trusted.numerics import balls, crowd_divergence
from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.numerics.crowd_divergence import CrowdGaps
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

CASES = [
    (k, Fraction(p), Fraction(factor))
    for k in (1, 2, 3, 6)
    for p in ("1/10", "1/2", "4/5")
    for factor in ("1", "11/10", "3/2", "4")
]


@for_each(("k", "p", "factor"), CASES, daily=12)
def test_one_more_and_one_fewer_are_suprema(k: int, p: Fraction, factor: Fraction) -> None:
    more = fewer = Fraction(0)
    for n in range(50):
        at_most = [Fraction(0), *accumulate(exact.pmf(n, j, p) for j in range(n + 1))]
        for j in range(k - 1, n + 1):
            mass = at_most[j + 1] - at_most[j]
            more = max(more, mass - (factor - 1) * (1 - at_most[j + 1]))
            fewer = max(fewer, mass - (factor - 1) * at_most[j])
    found_more, found_fewer = (
        crowd_divergence.one_more(exact, k, p, factor),
        crowd_divergence.one_fewer(exact, k, p, factor),
    )
    assert found_more >= more
    assert found_fewer >= fewer
    # For a rare p the worst n may lie beyond the scan, which is then only a lower bound.
    if (k - 1) * (1 - p) / (factor * p) < 40:
        assert found_more == more
    if (k - 1) * (1 - p) * factor / p < 40:
        assert found_fewer == fewer


@for_each("k", [12, 1_200, 5_000])
def test_gaps_of_large_crowds_are_as_small_as_they_are(k: int) -> None:
    """From one table over crowd sizes: never below the divergence, and not above it by more than is negligible."""
    with precision(128):
        gaps, rate = CrowdGaps(k, arb(0.8)), arb(0.8)
        for factor in map(arb, (1.1, 1.3, 2.0, 50.0)):
            true = crowd_divergence.one_fewer(balls, k, rate, factor)
            assert float(true.lower()) <= float(gaps.fewer(factor).upper()) <= float(true.upper()) * (1 + 1e-9) + 1e-25
