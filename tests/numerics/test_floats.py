"""Fast floats agree with the rigorous balls."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx

from crowdblend.numerics import balls, floats
from crowdblend.numerics.crowd_divergence import crowd_divergence

GRID = [
    (n, p, spread)
    for n in (1, 2, 10, 31, 1000, 10**6, 10**8)
    for p in (1e-4, 0.1, 0.5, 0.9)
    for spread in (-6.0, 0.0, 6.0)
]


def _count(n: int, p: float, spread: float) -> int:
    return min(n, max(0, round(n * p + spread * (n * p * (1 - p)) ** 0.5)))


@pytest.mark.parametrize(("n", "p", "spread"), GRID)
def test_pmf_agrees_to_nine_digits(n: int, p: float, spread: float) -> None:
    j = _count(n, p, spread)
    with ctx.workprec(128):
        reference = float(balls.pmf(n, j, arb(p)))
    assert float(floats.pmf(floats.number(n), floats.number(j), floats.number(p))) == pytest.approx(reference, rel=1e-9)


@pytest.mark.parametrize(("n", "p", "spread"), [case for case in GRID if case[2] >= 0])
def test_mills_ratios_agree_to_nine_digits(n: int, p: float, spread: float) -> None:
    above, below = _count(n, p, spread), _count(n, p, -spread)
    with ctx.workprec(128):
        references = float(balls.above(n, above, arb(p))), float(balls.below(n, below, arb(p)))
    made = floats.above(n, above, p), floats.below(n, below, p)
    assert [float(value) for value in made] == pytest.approx(references, rel=1e-9)


def test_a_whole_vector_is_its_parts() -> None:
    sizes, counts = np.array([5.0, 50.0, 500.0]), np.array([0.0, 7.0, 500.0])
    together = floats.pmf(sizes, counts, floats.number(0.2))
    assert together.tolist() == [
        float(floats.pmf(n, j, floats.number(0.2))) for n, j in zip(sizes, counts, strict=True)
    ]


def test_no_mass_outside_the_range() -> None:
    assert floats.pmf(np.array([5.0, 5.0]), np.array([-1.0, 6.0]), floats.number(0.3)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("k", "rate", "blend", "epsilon"),
    [(20, 0.1, 0.0, 0.5), (20, 0.2, 0.0, 0.1), (500, 0.05, 0.0, 0.3), (20, 0.1, 0.5, 1.0), (3, 0.6, 0.0, 0.05)],
)
def test_divergences_agree_to_nine_digits(k: int, rate: float, blend: float, epsilon: float) -> None:
    fast = crowd_divergence(
        floats, floats.number(k), floats.number(rate), np.exp(floats.number(blend)), np.exp(floats.number(epsilon))
    )
    with ctx.workprec(128):
        sure = crowd_divergence(balls, k, arb(rate), arb(blend).exp(), arb(epsilon).exp())
    assert float(fast) == pytest.approx(float(sure), rel=1e-9)


def test_limits_that_are_no_numbers_count_as_nothing() -> None:
    assert floats.nonnegative(np.array([np.nan, -1.0, 0.0, 2.0])).tolist() == [0.0, 0.0, 0.0, 2.0]
    assert floats.ceil(np.array([np.nan, np.inf, 1.5, 2.0])).tolist() == [floats.largest, floats.largest, 2.0, 2.0]
    assert floats.pmf(np.array([5.0]), np.array([2.0]), np.array([np.nan])).tolist() == [0.0]


def test_comparisons_hold_everywhere_or_not_at_all() -> None:
    assert floats.surely(np.array([True, True]))
    assert not floats.surely(np.array([True, False]))
    assert floats.at_most(np.array([3.0])).tolist() == [3.0]
