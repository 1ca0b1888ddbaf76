"""The discrete Gaussian sampler: its law, its weights in exact arithmetic, and a stream that stays.

Statistical tests use fixed seeds; their thresholds have a false-alarm rate of 1e-6 each.
"""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import SeededSource, discrete_gaussian
from crowdblend.trusted.randomness.gaussian import _accepts
from crowdblend.trusted.randomness.noise import BLOCK
from tests.cases import for_each

FALSE_ALARM = 1e-6


@for_each("sigma", [0.5, 1.3, 4.0, 21.7])
def test_values_have_the_law(sigma: float) -> None:
    n, far = 60_000, int(4 * sigma) + 1
    values = discrete_gaussian(n, sigma, SeededSource(int(10 * sigma)))
    seen = np.arange(-far, far + 1)
    every = np.arange(-20 * far, 20 * far + 1)
    law = np.exp(-(seen**2) / (2 * sigma**2)) / np.exp(-(every**2) / (2 * sigma**2)).sum()
    counted = [(values == value).sum() for value in seen]
    assert stats.chisquare([*counted, n - sum(counted)], [*law * n, n * (1 - law.sum())]).pvalue > FALSE_ALARM


@for_each("sigma", [0.5, 1.0, 3.3, 250.0])
def test_candidate_and_coin_together_have_the_weight_of_the_law(sigma: float) -> None:
    """e^{−|y|/t} times the coin, over the same at 0, is e^{−y²/(2σ²)}: enclosed to 200 bits."""
    variance, t = Fraction(sigma) ** 2, int(sigma) + 1
    for y in (1, 2, 3, int(sigma), int(3 * sigma) + 1):
        weights = []
        for size in (0, y):
            low, high = _accepts(sigma, size)(400)
            assert 0 <= high - low <= 2
            with ctx.workprec(500):
                coin = arb(low).union(arb(high)) / arb(2) ** 400
                weights.append(coin * (-arb(fmpq(size, t))).exp())
        with ctx.workprec(500):
            wanted = -Fraction(y * y) / (2 * variance)
            assert (weights[1] / weights[0]).overlaps(arb(fmpq(wanted.numerator, wanted.denominator)).exp())
            assert (weights[1] / weights[0]).rel_accuracy_bits() > 200


def test_the_stream_stays_and_blocks_follow_each_other() -> None:
    assert discrete_gaussian(8, 3.0, SeededSource(1)).tolist() == [0, 5, 3, -1, 0, 1, 3, 1]
    long = discrete_gaussian(BLOCK + 3, 1.0, SeededSource(2))
    assert long[:BLOCK].tolist() == discrete_gaussian(BLOCK, 1.0, SeededSource(2)).tolist()
    assert len(discrete_gaussian(0, 1.0, SeededSource(3))) == 0


@for_each("sigma", [0.0, 0.4, -1.0, 30_000.0, float("nan"), float("inf")])
def test_what_cannot_be_drawn_is_refused(sigma: float) -> None:
    with pytest.raises(InvalidInput, match="sigma"):
        discrete_gaussian(1, sigma, SeededSource(1))
