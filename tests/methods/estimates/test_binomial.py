"""Binomial probabilities keep their digits for any number of people, and noise is added without losing any."""

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.acceptance import binomial_weights, log_binomial
from crowdblend.methods.estimates.estimator import Estimator
from crowdblend.methods.estimates.laws import ExactCounts, Law, NoiseBelowK, NoiseOnEveryCell
from tests.cases import for_each


def reference(people: int, sampled: int, rate: float) -> float:
    before, ctx.prec = ctx.prec, 300
    try:
        left = people - sampled
        ways = arb(people + 1).lgamma() - arb(sampled + 1).lgamma() - arb(left + 1).lgamma()
        return float(ways + sampled * arb(rate).log() + left * (1 - arb(rate)).log())
    finally:
        ctx.prec = before


@for_each(("people", "rate"), [(1, 0.3), (40, 0.5), (64, 0.999), (10**6, 0.25), (10**9, 1e-7), (10**14, 1e-12)])
def test_probabilities_keep_their_digits(people: int, rate: float) -> None:
    mean, deviation = people * rate, (people * rate * (1 - rate)) ** 0.5
    values = sorted({int(min(max(mean + q * deviation, 0), people)) for q in (-9, -3, -1, 0, 2, 6)})
    found = log_binomial(np.array([people]), np.array(values), rate)[0]
    expected = [reference(people, value, rate) for value in values]
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


def test_impossible_numbers_have_no_probability() -> None:
    found = log_binomial(np.array([0, 1, 5]), np.arange(7), 0.4)
    assert np.exp(found) == pytest.approx(binom.pmf(np.arange(7), np.array([[0], [1], [5]]), 0.4))
    assert (log_binomial(np.array([3]), np.arange(5), 1.0)[0] == [-np.inf, -np.inf, -np.inf, 0, -np.inf]).all()


@for_each(
    ("people", "first", "last", "rate"),
    [
        ([0, 1, 40], 0, 60, 0.3),
        ([50, 63, 90], 50, 95, 0.02),
        ([900, 950, 1000], 300, 700, 0.5),
        ([40, 70, 103], 10, 103, 0.999),
        ([40, 70, 103], 10, 103, 1 - 1e-9),
        ([10**6, 10**6 + 50], 240_000, 260_000, 0.25),
        ([10**14], 10, 300, 1e-12),
        ([3, 4], 2, 5, 1.0),
    ],
)
def test_consecutive_numbers_have_the_same_probabilities(people: list[int], first: int, last: int, rate: float) -> None:
    sampled = np.arange(first, last + 1)
    weights, scale = binomial_weights(np.array(people), sampled, rate)
    expected = np.exp(log_binomial(np.array(people), sampled, rate) - scale[:, None])
    assert weights == pytest.approx(expected, rel=1e-9, abs=1e-290)


@for_each(
    "law", [NoiseOnEveryCell(0.7), NoiseOnEveryCell(20.0), NoiseBelowK(12, 0.4), NoiseBelowK(12, 0.4, None, True)]
)
def test_noise_is_added_as_the_definition_says(law: Law) -> None:
    weights = np.random.default_rng(3).random((4, 30)) * np.exp(-np.arange(30.0) * 9)
    for start, low, high in ((0, -60, 90), (5, 3, 200), (20, 10, 12)):
        sampled, places = np.arange(start, start + 30), np.arange(low, high)
        found = law.spread(weights, sampled, places)
        assert found == pytest.approx(weights @ law.kernel(sampled, places), rel=1e-12, abs=1e-290)


@pytest.mark.slow
@pytest.mark.parametrize("law", [ExactCounts(10**6), NoiseBelowK(10**5, 9.0)], ids=str)
def test_large_crowds_are_covered(law: ExactCounts | NoiseBelowK) -> None:
    """By enumeration: the interval of every value from k on that a cell can have."""
    for people in (2 * law.k, 2 * law.k + 3_000, 2 * law.k + 9_000):
        values = np.arange(people // 2 - 6_000, people // 2 + 6_000)
        masses = binom.pmf(values, people, 0.5)
        shown = values >= (law.k if law.noiseless else 0)
        found = Estimator(law, Stratum.at_rate(0.5)).cells(values[shown])
        holds = (found.low <= people) & (people <= found.high)
        assert masses[shown][holds].sum() / masses[shown].sum() >= 0.95 - 1e-6
