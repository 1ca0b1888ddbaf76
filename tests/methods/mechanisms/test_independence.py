"""Noise that must be independent is not the same noise twice. Fixed keys; false-alarm rate 1e-6 per test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms import NoisyHistogram, NoisyPoints, OutlierHistogram
from crowdblend.methods.recoding.blocks import Grid

from .test_histograms import FALSE_ALARM, key, one_column
from .test_points import sample

DRAWS = 2_000


def agreement(losses: tuple[float | Fraction, float | Fraction]) -> float:
    """How often two independent discrete Laplace variables are equal: Σ P[X = y]·P[Y = y]."""
    a, b = (math.exp(-loss) for loss in losses)
    scale = (1 - a) / (1 + a) * (1 - b) / (1 + b)
    return scale * (1 + 2 * a * b / (1 - a * b))


def assert_independent(one: np.ndarray, other: np.ndarray, *losses: float | Fraction) -> None:
    """The same stream would make nearly all of them equal, or opposite."""
    most = binom.isf(FALSE_ALARM / 2, len(one), agreement((losses[0], losses[-1])))
    assert int((one == other).sum()) <= most
    assert int((one == -other).sum()) <= most


@pytest.mark.parametrize("size", [5, 8])
def test_the_axes_of_points_move_independently(size: int) -> None:
    mechanism = NoisyPoints(5, 2.0, Grid((size, size), (2, 2)), (2 * size, 2 * size))
    published = mechanism.publish(sample([(2, 2)] * DRAWS, axes=(2 * size, 2 * size)), key(1))
    first, second = (cells - 2 for cells in published.one_by_one().cells)
    assert_independent(first, second, mechanism.moved_points.loss(size, 2))


def test_bins_of_neighbouring_sizes_get_independent_noise() -> None:
    mechanism = OutlierHistogram(0.5, 20, 2_000)
    sizes = [1_000] * DRAWS + [1_001] * DRAWS
    published = mechanism.publish(one_column(sizes), key(3))
    assert len(published.counts) == 2 * DRAWS
    noise = published.counts - np.array(sizes)
    assert_independent(noise[:DRAWS], noise[DRAWS:], mechanism.loss(1_000), mechanism.loss(1_001))


def test_small_and_empty_cells_get_independent_noise() -> None:
    """Cells of one person, and as many empty ones that are shown from 1 on."""
    mechanism = NoisyHistogram(k=5, noise_epsilon=0.2)
    published = mechanism.publish(one_column([4] * DRAWS, 4 * DRAWS), key(4))
    place = np.array([int(published.labels[0][code].split()[-1]) for code in published.codes[:, 0]])
    small, empty = published.counts[place < DRAWS] - 4, published.counts[place >= DRAWS]
    many = min(len(small), len(empty))
    assert many > 1_000
    # Given that it is shown, an empty cell shows 1 + a geometric number: at most as alike as two of these.
    a = math.exp(-0.2)
    most = binom.isf(FALSE_ALARM, many, (1 - a) / (1 + a) * 2)
    assert int((np.abs(small[:many]) == empty[:many]).sum()) <= most


def test_the_same_key_never_gives_a_mechanism_two_publications() -> None:
    """Other counts with the same noise would show their difference."""
    used, crowd = key(5), one_column([3] * 10)
    NoisyHistogram(k=5, noise_epsilon=0.2).publish(crowd, used)
    with pytest.raises(InvalidInput, match="already in use"):
        NoisyHistogram(k=5, noise_epsilon=0.2).publish(crowd, used)
