"""Divergences at many factors at once never fall below what balls of any width and size allow."""

from flint import arb

from crowdblend.trusted.numerics.balls import precision
from crowdblend.trusted.numerics.noise_below_k import _one_way
from tests.cases import for_each

FACTORS = (1.0, 1.2, 1.4)


@for_each(
    ("p", "q"),
    [
        (arb(0.1, 0.05), arb(0.1)),
        (arb(0.14), arb(0.1, 0.05)),
        (arb(3) / 2**1076, arb(2) / 2**1076),
        (arb(1) / 2**1100, arb(1) / 2**1200),
        (arb(0.3), arb(0)),
        (arb(0.139), arb(0.1)),
    ],
)
def test_no_outcome_counts_too_little(p: arb, q: arb) -> None:
    with precision(128):
        factors = [arb(factor) for factor in FACTORS]
        for factor, found in zip(factors, _one_way([(p, q)], factors), strict=True):
            most = p.upper() - factor * q.lower()
            assert found.upper() >= max(most.lower(), arb(0), key=float)
