"""Gaussian noise on every cell: the whole domain, the spread of the noise, and what is claimed of it."""

import numpy as np
import pytest

from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere
from tests.methods.mechanisms.test_histograms import key, one_column


def test_every_cell_is_published_in_order_with_noise_of_its_own() -> None:
    """Mean and variance of 30,000 values are off by five standard errors with probability below 1e-6."""
    cells, sigma = 30_000, 7.5
    true = np.where(np.arange(cells) % 3 == 0, np.arange(cells), 0)
    published = GaussianEverywhere(sigma).publish(one_column(true.tolist(), cells), key(1))
    assert published.codes[:, 0].tolist() == list(range(cells))
    noise = published.counts - true
    assert abs(noise.mean()) < 5 * sigma / np.sqrt(cells)
    assert abs(noise.var() / sigma**2 - 1) < 5 * np.sqrt(2 / cells)
    assert GaussianEverywhere(sigma).expected_error() == pytest.approx(np.abs(noise).mean(), rel=0.05)
    assert (published.counts < 0).any()


def test_what_it_claims_is_far_out_on_its_curve() -> None:
    claimed = GaussianEverywhere(20.0).claim().conclusion
    assert claimed.epsilon == 0.45
    assert 0 < claimed.delta < 1e-18
