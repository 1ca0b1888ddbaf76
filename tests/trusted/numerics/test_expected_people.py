"""What a further person adds to the expected publication of a class: never beyond the bound, in exact fractions."""

from fractions import Fraction
from itertools import pairwise

import pytest

from crowdblend.errors import NotProved
from crowdblend.trusted.numerics.expected_people import UNITS, largest_step
from tests.cases import for_each
from tests.truth import fractions_arithmetic as exact

CASES = [(k, rate) for k in (1, 2, 3, 7, 12) for rate in (0.125, 0.25, 0.5, 0.75, 0.9375)]


def published(n: int, k: int, rate: Fraction) -> Fraction:
    return sum((j * exact.pmf(n, j, rate) for j in range(k, n + 1)), Fraction(0))


@for_each(("k", "rate"), CASES, daily=8)
def test_no_class_gains_more_and_some_class_gains_that_much(k: int, rate: float) -> None:
    """Sizes up to far beyond the peak at k/β; from there on the gains fall towards β, as the theorem says."""
    values = [published(n, k, Fraction(rate)) for n in range(int(2 * k / rate) + 30)]
    gains = [after - before for before, after in pairwise(values)]
    peak = int(Fraction(k) / Fraction(rate)) - 1
    assert gains.index(max(gains)) <= peak
    assert max(gains) == gains[peak]
    for together in (1, 2, 5, 12):
        most = max(after - before for before, after in zip(values, values[together:], strict=False))
        assert UNITS * most + 1 / 16 < largest_step(k, rate, together) <= UNITS * most + 1 + Fraction(1, 16)


@for_each(("k", "rate"), [(23, 0.5), (100, 0.1), (1000, 0.3)])
def test_larger_crowds_move_about_as_the_root_of_k(k: int, rate: float) -> None:
    """The classical count, n·[n ≥ k], moves by k."""
    assert 0.2 * k**0.5 < largest_step(k, rate, 1) / UNITS / rate < k**0.5


def test_too_many_at_once_are_not_proved() -> None:
    with pytest.raises(NotProved, match="at most 10,000"):
        largest_step(20, 0.5, 10_001)
