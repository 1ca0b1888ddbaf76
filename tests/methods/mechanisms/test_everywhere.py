"""Noise on every cell: the whole domain, the law of the noise, and no bias.

Statistical tests use keys derived from fixed numbers; their thresholds have a false-alarm rate of 1e-6 each.
"""

import math

import numpy as np
import pytest
from scipy import stats

from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere, NoisyTotal
from tests.cases import for_each
from tests.methods.mechanisms.test_histograms import key, one_column

FALSE_ALARM = 1e-6


def test_every_cell_is_published_in_order_with_the_noise_of_the_mechanism() -> None:
    cells, loss = 30_000, 0.7
    true = np.where(np.arange(cells) % 3 == 0, np.arange(cells), 0)
    published = NoiseEverywhere(loss).publish(one_column(true.tolist(), cells), key(1))
    assert published.codes[:, 0].tolist() == list(range(cells))
    assert published.exact is None
    noise = published.counts - true
    a, seen = math.exp(-loss), np.arange(-8, 9)
    law = (1 - a) / (1 + a) * a ** np.abs(seen)
    counted = np.array([(noise == value).sum() for value in seen])
    rest = cells - counted.sum(), cells * (1 - law.sum())
    assert stats.chisquare([*counted, rest[0]], [*law * cells, rest[1]]).pvalue > FALSE_ALARM
    assert NoiseEverywhere(loss).expected_error() == pytest.approx(np.abs(noise).mean(), rel=0.05)
    assert (published.counts < 0).any()


@for_each("counts", [[0] * 50, [0, 0, 0, 1] * 10, [1000] * 40], daily=2)
def test_totals_have_no_bias(counts: list[int]) -> None:
    """The mean error of the sum of all cells over 700 releases is 0 within sampling error."""
    mechanism, runs = NoiseEverywhere(1.0), 700
    sample = one_column(counts)
    errors = [int(mechanism.publish(sample, key(number)).counts.sum()) - sum(counts) for number in range(runs)]
    a = math.exp(-1.0)
    deviation = math.sqrt(len(counts) * 2 * a / (1 - a) ** 2 / runs)
    assert abs(np.mean(errors)) < stats.norm.isf(FALSE_ALARM / 2) * deviation


def test_a_total_has_noise_of_its_own() -> None:
    with_key = key(5)
    rows, people = NoisyTotal("rows", 0.1, 2), NoisyTotal("people", 0.1, 1)
    assert rows.publish(1000, with_key) - 1000 != people.publish(1000, with_key) - 1000
    assert rows.claim().conclusion.epsilon == pytest.approx(0.2)
    assert people.claim().conclusion.epsilon == 0.1
