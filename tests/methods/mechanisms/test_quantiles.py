"""What is published of totals and quantiles is what the rules speak of: the loss of noise, of choices, and of sizes.

Statistical tests use fixed seeds; their false-alarm rate is 1e-6 each over the choice of those.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.methods.mechanisms.statistics import NoisyStatistics, choose_quantiles
from crowdblend.methods.planning.statistics.accuracy import QuantileShape, Shape
from crowdblend.trusted.randomness import SeededSource
from tests.trusted.randomness.goodness import fits_whole_numbers

from .test_independence import assert_independent

FALSE_ALARM = 1e-6
DRAWS = 4_000


def chosen(epsilon: float, counts: list[int], groups: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Steps and noisy sizes of groups that are all alike: a row for every release."""
    shape = QuantileShape(Fraction(1, 2), len(counts), groups, whole=False)
    ranks = np.array([counts] * (groups * DRAWS), np.int64)
    found = choose_quantiles(shape, epsilon, ranks, 0, SeededSource(7))
    return tuple(np.array(some).reshape(DRAWS, groups) for some in (found.steps, found.sizes))  # type: ignore[return-value]


@pytest.mark.parametrize("epsilon", [0.2, 0.6])
def test_the_worse_of_two_steps_is_chosen_as_often_as_its_loss_says(epsilon: float) -> None:
    """Of 3 and 1 people the losses are −2 and 2: heads of e^(−4·ε/2), and then either is chosen equally often."""
    steps, _ = chosen(epsilon, [3, 1])
    expected = math.exp(-4 * epsilon / 2) / 2
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], DRAWS, expected)
    for group in range(2):
        assert low <= int(steps[:, group].sum()) <= high


def test_the_error_of_a_quantile_of_everybody_is_that_of_its_choice() -> None:
    shape = QuantileShape(Fraction(1, 2), 100, 1, whole=True)
    assert shape.error(0.01, 5_000, 5_000, 0.05) == pytest.approx(shape.rank_error(0.01, 0.05) / 5_000)


def test_every_group_s_size_has_noise_of_its_own_with_the_certified_loss() -> None:
    epsilon = 1.0
    shape = QuantileShape(Fraction(1, 2), 2, 2, whole=False)
    loss = shape.size_epsilon(epsilon)
    _, sizes = chosen(epsilon, [30, 10])
    noise = sizes - 40
    assert_independent(noise[:, 0], noise[:, 1], loss)
    a = math.exp(-loss)
    for group in range(2):
        low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], DRAWS, (1 - a) / (1 + a))
        assert low <= int((noise[:, group] == 0).sum()) <= high
        far = math.ceil(1 / loss)
        low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], DRAWS, 2 * a ** (far + 1) / (1 + a))
        assert low <= int((np.abs(noise[:, group]) > far).sum()) <= high
    assert shape.claims(epsilon), "the claim is about this very shape and loss"


def test_published_totals_are_the_totals_plus_discrete_laplace_noise() -> None:
    exact = [np.full(DRAWS, 70), np.tile([3, 0, 9], DRAWS)]
    published: Any = NoisyStatistics((Shape(1), Shape(1, 2)), (0.5, 0.2)).publish(exact, SeededSource(1))
    one, bins = published
    for noise, loss in ((one - 70, 0.5), *((bins[place::3] - total, 0.2) for place, total in enumerate([3, 0, 9]))):
        a = math.exp(-loss)
        assert fits_whole_numbers(noise, [(1 - a) / (1 + a) * a ** abs(y) for y in range(-30, 31)], -30)
