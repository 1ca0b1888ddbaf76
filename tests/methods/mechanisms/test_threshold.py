"""Cells that occur, with noise, from a threshold on: what is shown of them, and nothing of the others.

Statistical tests use keys derived from fixed numbers; their thresholds have a false-alarm rate of 1e-6 each.
"""

import math

import numpy as np
import pytest
from scipy import stats

from crowdblend.methods.mechanisms import SampledClasses
from crowdblend.methods.mechanisms.everywhere import ThresholdHistogram
from tests.cases import for_each
from tests.methods.mechanisms.test_histograms import key, one_column

FALSE_ALARM = 1e-6


@for_each(("size", "loss", "show_from"), [(1, 0.5, 4), (3, 1.0, 3), (6, 0.7, 4)])
def test_a_cell_is_shown_as_often_as_its_noise_reaches_the_threshold(size: int, loss: float, show_from: int) -> None:
    cells = 20_000
    shown = ThresholdHistogram(loss, show_from).publish(one_column([size] * cells, cells), key(size)).counts
    a, seen = math.exp(-loss), np.arange(show_from, show_from + 12)
    law = (1 - a) / (1 + a) * a ** np.abs(seen - size)
    beyond = a ** (seen[-1] + 1 - size) / (1 + a)
    counted = [*((shown == value).sum() for value in seen), (shown > seen[-1]).sum(), cells - len(shown)]
    expected = np.array([*law, beyond, 1 - law.sum() - beyond]) * cells
    assert stats.chisquare(counted, expected).pvalue > FALSE_ALARM
    assert shown.min() == show_from


def test_neither_empty_cells_nor_labels_of_hidden_ones_leave() -> None:
    """A label that only few people have is nowhere in what is published, nor is one that nobody has."""
    labels = (("many", "few", "nobody"), ("x", "y"))
    codes = np.array([[0, 0], [0, 1], [1, 1], [2, 0]], np.int32)
    counted = SampledClasses(("a", "b"), labels, codes, np.array([1_000, 900, 1, 0]))
    published = ThresholdHistogram(1.0, 60).publish(counted, key(3))
    assert published.labels == (("many",), ("x", "y"))
    assert published.codes.tolist() == [[0, 0], [0, 1]]
    assert published.exact is None
    # However low the threshold: noise alone shows no cell in which nobody is.
    nobody = SampledClasses(
        ("a",), (tuple(map(str, range(99))),), np.arange(99, dtype=np.int32)[:, None], np.zeros(99, np.int64)
    )
    assert len(ThresholdHistogram(0.1, 1).publish(nobody, key(3)).codes) == 0


def test_what_it_claims_and_expects() -> None:
    made = ThresholdHistogram(1.0, 15)
    claimed = made.claim().conclusion
    assert (claimed.epsilon, claimed.delta) == (1.0, pytest.approx(math.exp(-14) / (1 + math.exp(-1)), rel=1e-9))
    sampled = made.claim_under_sampling(rate=0.1, epsilon=1.0).conclusion
    assert sampled.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(1.0)))
    assert sampled.delta == pytest.approx(claimed.delta / 10)
    assert made.expected_error() == pytest.approx(0.8509, abs=1e-3)
