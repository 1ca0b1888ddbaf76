"""The targets are what their names say: k-anonymous, and recoded by what is in the data."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from crowdblend.lab.attacks.ours import chance_of_more, laplace_reaches, published_law
from crowdblend.lab.attacks.targets import duplicate, is_k_anonymous, mondrian
from tests.cases import for_each


@for_each("seed", range(20))
def test_local_recodings_are_k_anonymous(seed: int) -> None:
    source = np.random.default_rng(seed)
    k, columns = int(source.integers(1, 6)), int(source.integers(1, 4))
    rows = source.integers(0, 12, size=(int(source.integers(0, 60)), columns))
    published = mondrian(rows, k)
    assert sum(size for _, size in published) == (len(rows) if len(rows) >= k else 0)
    assert all(size >= k for _, size in published)
    # Every row lies in a published range, and every end of a range is a value of somebody.
    if published:
        for row in rows:
            assert any(
                all(low <= at <= high for at, (low, high) in zip(row, ranges, strict=True)) for ranges, _ in published
            )
        for ranges, _ in published:
            for column, ends in enumerate(ranges):
                assert set(ends) <= set(rows[:, column].tolist())


def test_mondrian_cuts_whenever_it_can() -> None:
    """With two values it keeps them apart exactly when both have k rows: that is what minimality tells."""
    k = 4
    for zeros, ones in product(range(10), repeat=2):
        rows = np.repeat([0, 1], [zeros, ones]).reshape(-1, 1)
        apart = any(ranges == ((0, 0),) for ranges, _ in mondrian(rows, k))
        assert apart == ((zeros >= k and ones >= k) or (ones == 0 and zeros >= k))


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = np.unique(np.random.default_rng(5).integers(0, 50, size=(40, 2)), axis=0)
    assert mondrian(rows, 3) == mondrian(np.random.default_rng(7).permutation(rows), 3)


def test_copies_are_k_anonymous_and_hide_nothing() -> None:
    rows = ["a", "b", "b"]
    assert is_k_anonymous(duplicate(rows, 5), 5)
    assert set(duplicate(rows, 5)) == set(rows)
    assert not is_k_anonymous(duplicate(rows, 4), 5)


def test_laws_by_enumeration() -> None:
    rate, k = Fraction(1, 3), 2
    first, second = published_law(5, rate, k), published_law(3, rate, k)
    assert sum(first.values()) == 1
    by_hand = {count: Fraction(0) for count in first}
    for coins in product((0, 1), repeat=5):
        chance = Fraction(1)
        for coin in coins:
            chance *= rate if coin else 1 - rate
        by_hand[sum(coins) if sum(coins) >= k else 0] += chance
    assert first == by_hand
    for one, other in ((first, second), (second, first)):
        assert chance_of_more(one, other) == sum(one[x] * other[y] for x in one for y in other if x > y)


@for_each("epsilon", [0.2, 1.0, 3.0])
def test_laplace_adds_up(epsilon: float) -> None:
    chances = {value: math.tanh(epsilon / 2) * math.exp(-epsilon * abs(value)) for value in range(-400, 401)}
    assert sum(chances.values()) == pytest.approx(1)
    for least in range(-3, 5):
        assert laplace_reaches(least, epsilon) == pytest.approx(sum(chances[value] for value in range(least, 401)))
