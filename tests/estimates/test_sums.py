"""Sums of cells: what is shown is a lower end, what is hidden has an upper end, and noise adds up."""

from __future__ import annotations

import numpy as np
import pytest

from crowdblend.estimates import Design, Estimator, ExactCounts, NoiseBelowK, OutlierNoise
from crowdblend.estimates.noise_sums import _bounded, sum_reach

# Each test below looks at one proportion; at its bound of 95 % it fails with this probability.
FALSE_ALARM = 1e-6
RUNS = 4_000
# P[Bin(4000, 0.95) < 3730] < 1e-6
LEAST = 3730


def draws(rng: np.random.Generator, people: list[int], rate: float) -> np.ndarray:
    return rng.binomial(people, rate, (RUNS, len(people)))


@pytest.mark.parametrize("people", [[0, 10, 60, 75, 400], [5] * 40, [72] * 12, [1000, 2000]])
def test_a_margin_over_suppressed_cells_covers(people: list[int]) -> None:
    k, rate = 35, 0.5
    sampled = draws(np.random.default_rng(3), people, rate)
    shown = sampled >= k
    totals, published = np.where(shown, sampled, 0).sum(axis=1), shown.sum(axis=1)
    found = Estimator(ExactCounts(k), Design.at_rate(rate)).sums(totals, published, len(people) - published)
    assert ((found.low <= sum(people)) & (sum(people) <= found.high)).sum() >= LEAST
    # A cell is missing exactly where nothing is estimated.
    assert (np.isnan(found.estimate) == (published < len(people))).all()


@pytest.mark.parametrize("people", [[0] * 50, [3] * 30, [10, 60, 75, 400], [2000] * 3])
def test_a_margin_over_noisy_cells_covers(people: list[int]) -> None:
    k, rate, loss = 28, 0.5, 1.49
    rng = np.random.default_rng(4)
    sampled = draws(rng, people, rate)
    p = 1 - np.exp(-loss)
    noise = rng.geometric(p, sampled.shape) - rng.geometric(p, sampled.shape)
    values = np.where(sampled >= k, sampled, sampled + noise)
    estimator = Estimator(NoiseBelowK(k, loss), Design.at_rate(rate))
    noisy = np.array([estimator.noisy_cells(row).sum() for row in values])
    found = estimator.sums(values.sum(axis=1), noisy, None)
    assert ((found.low <= sum(people)) & (sum(people) <= found.high)).sum() >= LEAST
    assert not np.isnan(found.estimate).any()
    # Unbiased: six standard errors.
    assert abs(found.estimate.mean() - sum(people)) <= 6 * found.estimate.std() / np.sqrt(RUNS) + 0.05


def test_nobody_knows_the_end_of_an_open_domain() -> None:
    found = Estimator(ExactCounts(35), Design.at_rate(0.5)).sums(np.array([90]), np.array([2]), None)
    assert found.high[0] == -1
    assert np.isnan(found.estimate[0])
    assert 90 <= found.low[0] < 180


@pytest.mark.parametrize(("cells", "loss"), [(1, 0.3), (2, 1.0), (7, 1.5), (40, 0.2)])
def test_noise_adds_up_as_its_exact_convolution(cells: int, loss: float) -> None:
    a, far = np.exp(-loss), int(80 / loss)
    one = (1 - a) / (1 + a) * a ** np.abs(np.arange(-far, far + 1))
    many = np.ones(1)
    for _ in range(cells):
        many = np.convolve(many, one)
    distance = np.abs(np.arange(len(many)) - len(many) // 2)
    for level in (0.05, 1e-6):
        reach = sum_reach(cells, loss, level)
        assert many[distance > reach].sum() <= level * (1 + 1e-6)
        assert many[distance > reach - 1].sum() > level


def test_wide_noise_is_bounded_and_never_too_small() -> None:
    """Chernoff's bound beside the transform, and noise that nobody could list."""
    for cells, loss in ((1, 0.5), (30, 0.5), (400, 1.5)):
        exact = sum_reach(cells, loss, 0.05)
        assert exact <= _bounded(cells, loss, 0.05) <= 2.5 * exact
    reach = sum_reach(1_000_000, 1e-6, 0.05)
    assert 2e9 < reach < 6e9
    values = np.array([-5_000, 0, 70_000])
    found = Estimator(OutlierNoise(0.001, 5, 2_000), Design.at_rate(0.5)).cells(values)
    # P[|noise of loss 2.5e-6| > r] = 2.5 % at r = 1.48 million.
    assert found.low.tolist() == [0, 0, 0]
    assert (found.high > 2_900_000).all()
    cut = Estimator(OutlierNoise(0.001, 5, 2_000, show_from=100), Design.at_rate(0.5))
    assert cut.unpublished() > 2_900_000
