"""A sealed key must give the same numbers in every later version: every primitive, across its blocks and branches."""

import hashlib
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import (
    SeededSource,
    discrete_laplace,
    distinct,
    permutation,
    rational,
    successes,
    thin,
    uniform,
)
from crowdblend.trusted.randomness.binomial import MOST_PEOPLE, _counts
from crowdblend.trusted.randomness.noise import geometric
from crowdblend.trusted.randomness.rare import MOST_SUCCESSES, _walk
from tests.cases import for_each

DRAWS: dict[str, tuple[Callable[[SeededSource], NDArray[np.int64]], str]] = {
    "uniform, every bit used": (lambda source: uniform(1000, 1024, source), "c94a6072b907a6c2"),
    "uniform, some drawn again": (lambda source: uniform(1000, 1025, source), "ce68bd2dce4c26c2"),
    "uniform, huge": (lambda source: uniform(1000, 2**61 + 1, source), "539dc2d50ed74e51"),
    "distinct, few": (lambda source: distinct(1000, 10**9, source), "e7a83018f25931b8"),
    "distinct, half": (lambda source: distinct(200, 400, source), "f4e2bdd18ac621e3"),
    "distinct, more than half": (lambda source: distinct(200, 399, source), "1a99a91db1d521f0"),
    "permutation": (lambda source: permutation(1000, source), "fe2bcd74f8b6f220"),
    "successes, across blocks": (lambda source: successes(10**6, rational(0.1), source), "2960f5e75c760fd6"),
    "successes, huge": (lambda source: successes(2**62, rational(2.0**-55), source), "c77941bf61db79e4"),
    "geometric, small steps": (lambda source: geometric(70_000, 0.01, source), "b30dd762956f2f9f"),
    "geometric, large steps": (lambda source: geometric(70_000, 3.0, source), "fab9bea1da5ecdf4"),
    "geometric, a fraction": (lambda source: geometric(1000, Fraction(1, 3), source), "abb5b30e0e368aa8"),
    "discrete Laplace": (lambda source: discrete_laplace(70_000, 0.2, source), "a6de587bdc062893"),
    "thinning": (lambda source: thin(np.arange(40_000) % 7, 0.3, source), "0d2d703452691908"),
}


@for_each("name", DRAWS)
def test_the_numbers_of_a_seed_never_change(name: str) -> None:
    draw, known = DRAWS[name]
    assert hashlib.sha256(draw(SeededSource(11)).astype("<i8").tobytes()).hexdigest()[:16] == known


def test_as_many_successes_as_there_may_be() -> None:
    most = 2 * MOST_SUCCESSES
    assert len(next(_walk(most, rational(0.5), SeededSource(1))))
    with pytest.raises(InvalidInput, match=r"2\^32"):
        next(_walk(most + 2, rational(0.5), SeededSource(1)))


def test_as_many_people_as_there_may_be() -> None:
    assert _counts([0, MOST_PEOPLE]).tolist() == [0, MOST_PEOPLE]
    with pytest.raises(InvalidInput):
        _counts([MOST_PEOPLE + 1])
