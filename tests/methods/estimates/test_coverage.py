"""Intervals cover what they say, by exact enumeration of everything that can be published about a cell."""

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.acceptance import hidden_with, largest_hidden
from crowdblend.methods.estimates.cells import estimator_of
from crowdblend.methods.estimates.estimator import Estimator
from crowdblend.methods.estimates.laws import (
    ExactCounts,
    GaussianOnEveryCell,
    Law,
    NoiseBelowK,
    NoiseFromThreshold,
    NoiseOnEveryCell,
    OutlierNoise,
    laplace,
    laplace_cumulants,
    sum_reach,
)
from tests import cases
from tests.cases import for_each
from tests.methods.estimates.outputs import published

LAWS: list[tuple[Law, float, int]] = [
    (ExactCounts(35), 0.5, 35),
    (ExactCounts(8), 0.1, 8),
    (ExactCounts(4), 0.05, 4),
    (ExactCounts(60), 0.9, 60),
    (NoiseBelowK(28, 1.49), 0.5, 28),
    (NoiseBelowK(6, 2.9), 0.1, 6),
    (NoiseBelowK(35, 1.49, flag=True), 0.5, 35),
    (NoiseBelowK(6, 2.9, shown_from=2), 0.1, 6),
    (NoiseFromThreshold(0.5, 29), 1.0, 29),
    (NoiseFromThreshold(1.49, 10), 0.5, 10),
    (NoiseFromThreshold(2.9, 5), 0.1, 5),
    (GaussianOnEveryCell(4.0), 0.5, 10),
    (GaussianOnEveryCell(25.0), 0.1, 10),
    (OutlierNoise(0.5, 50, 100), 1.0, 10),
    (OutlierNoise(0.5, 50, 100), 0.5, 10),
    (OutlierNoise(0.5, 20, 60, shown_from=5), 0.5, 10),
]


def coverage(law: Law, rate: float, people: int, confidence: float = 0.95) -> float:
    """The probability that the interval holds the truth, given that the cell is shown."""
    values, masses, exact = published(law, rate, people)
    found = Estimator(law, Stratum.at_rate(rate)).cells(values, exact, confidence=confidence)
    holds = (found.low <= people) & (people <= found.high)
    return float(masses[holds].sum() / masses.sum())


def sizes(law: Law, rate: float, k: int) -> list[int]:
    """From nobody, or from k people where fewer are never shown, to 100 times k expected sampled people."""
    first = k if isinstance(law, ExactCounts) else law.least_people
    near, far = (50, 25) if cases.THOROUGH else (20, 10)
    small, large = np.linspace(first, 3 * k / rate, near), np.geomspace(3 * k / rate, 100 * k / rate, far)
    return sorted(set(np.concatenate([small, large]).astype(int).tolist()))


@pytest.mark.parametrize(("law", "rate", "k"), cases.some_daily(LAWS, 8), ids=str)
def test_intervals_cover_19_times_in_20_and_are_no_wider_than_that(law: Law, rate: float, k: int) -> None:
    for people in sizes(law, rate, k):
        covered = coverage(law, rate, people)
        assert covered >= 0.95 - 1e-6, people
        # Below that, hardly more than one value is ever shown, and no interval covers between 95 % and 99 % of it.
        if people * rate >= k:
            assert covered <= 0.99, people


@for_each("confidence", [0.5, 0.8, 0.99, 0.999])
def test_other_confidences_cover_too(confidence: float) -> None:
    for people in (16, 40, 90, 300, 3000):
        for law in (ExactCounts(8), NoiseBelowK(8, 1.0)):
            assert coverage(law, 0.5, people, confidence) >= confidence - 1e-6


def test_crowds_are_estimated_up_to_the_sizes_that_take_no_minutes() -> None:
    inclusion = Stratum.at_rate(0.5)
    for kind, largest in ((ExactCounts, 10**6), (lambda k: NoiseBelowK(k, 1.0), 10**5)):
        assert estimator_of(kind(largest), inclusion) is not None
        assert estimator_of(kind(largest + 1), inclusion) is None


@for_each("people", [400, 600, 850])
def test_noise_below_a_large_k_is_covered(people: int) -> None:
    assert coverage(NoiseBelowK(400, 0.3), 0.5, people) >= 0.95 - 1e-6


def test_the_plain_binomial_interval_would_not_cover() -> None:
    """Inverting the binomial as if cells below k were shown too is wrong near k: what the truncation is for."""
    people, k, rate = 50, 35, 0.5
    values, masses, _ = published(ExactCounts(k), rate, people)
    plain = Estimator(ExactCounts(0), Stratum.at_rate(rate)).cells(values)
    assert masses[(plain.low <= people) & (people <= plain.high)].sum() / masses.sum() < 0.5


@for_each(("k", "rate"), [(35, 0.5), (8, 0.1), (4, 0.01), (200, 0.3)])
def test_the_upper_end_of_a_cell_that_is_not_published(k: int, rate: float) -> None:
    most = Estimator(ExactCounts(k), Stratum.at_rate(rate)).largest_unpublished()
    assert binom.cdf(k - 1, most + 1, rate) < 0.05 + 1e-9
    sizes = np.arange(k, 10 * int(k / rate))
    assert most <= 1.06 * sizes[binom.cdf(k - 1, sizes, rate) >= 0.05].max()


def test_where_nearly_everybody_is_sampled_a_cell_that_is_not_published_is_smaller_than_k() -> None:
    assert Estimator(ExactCounts(3), Stratum.at_rate(0.99)).largest_unpublished() == 2


@for_each("confidence", [0.95, 0.6, 0.4, 0.1])
@for_each("law", [NoiseBelowK(10, 0.02, 20), NoiseBelowK(10, 0.3, 1), NoiseBelowK(30, 0.02, 60), ExactCounts(4)])
def test_the_largest_hidden_cell_is_the_largest_of_all(law: Law, confidence: float) -> None:
    """Below a confidence of one half, noise may show a smaller cell more often than a larger one."""
    hidden = [size for size in range(400) if hidden_with(law, 0.97, size) >= 1 - confidence]
    assert largest_hidden(law, 0.97, 1 - confidence) == max(hidden, default=0)


def test_the_upper_end_of_an_unpublished_cell_of_a_biased_sample_counts_the_exceptions() -> None:
    """Who has any probability may never be sampled: of a larger cell the others are still enough."""
    k, lost, least = 12, 3, 0.08
    biased = Estimator(ExactCounts(k), Stratum(0.1, least, 0.12, lost))
    plain, most = Estimator(ExactCounts(k), Stratum.at_rate(least)), biased.largest_unpublished()
    assert binom.cdf(k - 1, most + 1 - lost, least) < 0.05 + 1e-9
    assert most == lost + plain.largest_unpublished()
    shown = np.array([k, 2 * k, 400])
    assert (biased.cells(shown).high == lost + plain.cells(shown).high).all()


def test_the_upper_end_of_a_noisy_cell_that_is_cut_off() -> None:
    noisy = NoiseBelowK(6, 2.9, shown_from=3)
    hidden = Estimator(noisy, Stratum.at_rate(0.1)).largest_unpublished()
    for people in (hidden + 1, hidden + 20, 5 * hidden):
        assert 1 - published(noisy, 0.1, people)[1].sum() < 0.05 + 1e-9


def test_a_biased_sample_is_covered_at_both_ends_of_its_rates() -> None:
    """Everybody at the lowest or at the highest probability, exceptions never or always in the sample."""
    k, lost = 12, 3
    estimator = Estimator(ExactCounts(k), Stratum(0.1, 0.08, 0.12, lost))
    for people in (40, 100, 150, 400, 2000):
        for rate, surely in ((0.08, 0), (0.12, lost)):
            x = np.arange(k, min(people, 600) + 1)
            masses = binom.pmf(x - surely, people - lost, rate)
            found = estimator.cells(x)
            holds = (found.low <= people) & (people <= found.high)
            assert masses[holds].sum() / masses.sum() >= 0.95 - 1e-6


@for_each("law", [NoiseOnEveryCell(0.5), NoiseOnEveryCell(2.0), GaussianOnEveryCell(2.0)])
def test_a_noisy_cell_of_a_biased_sample_may_hold_some_of_the_exceptions_alone(law: Law) -> None:
    """Then all of its people were sampled for certain, or none of them could be."""
    lost = 3
    estimator = Estimator(law, Stratum(0.1, 0.08, 0.12, lost))
    values = np.arange(-60, 61)
    found = estimator.cells(values)
    for people in range(lost + 1):
        for sampled in (0, people):
            masses = law.kernel(np.array([sampled]), values)[0]
            holds = (found.low <= people) & (people <= found.high)
            assert masses[holds].sum() >= 0.95 - 1e-9, (people, sampled)


@for_each(("rate", "value"), [(0.01, 400), (0.01, 2_000), (0.1, 400), (0.9, 400)])
def test_ends_of_large_cells_are_those_of_the_binomial(rate: float, value: int) -> None:
    """Four cumulants give every end that inverting the exact distribution gives, to within two people."""
    found = Estimator(ExactCounts(0), Stratum.at_rate(rate)).cells(np.array([value]))
    people = np.arange(value, int(2 * value / rate))
    assert abs(found.low[0] - people[binom.sf(value - 1, people, rate) > 0.025].min()) <= 2
    assert abs(found.high[0] - people[binom.cdf(value, people, rate) > 0.025].max()) <= 2


@for_each("loss", [0.02, 0.1, 0.5, 2.0])
def test_noise_alone_reaches_as_far_around_large_numbers_as_around_small_ones(loss: float) -> None:
    found = Estimator(NoiseOnEveryCell(loss), Stratum.at_rate(1.0)).cells(np.array([100_000]))
    wide, reach = int(found.high[0] - found.low[0]), sum_reach(1, loss, 0.05)
    assert 2 * reach <= wide <= 2.08 * reach + 3


@for_each("loss", [0.05, 0.5, 2.0])
def test_variance_and_fourth_cumulant_of_noise_are_those_of_its_masses(loss: float) -> None:
    distance = np.arange(-2_000, 2_001)
    masses = laplace(distance, loss)
    variance = (masses * distance**2).sum()
    fourth = (masses * distance**4.0).sum() - 3 * variance**2
    assert laplace_cumulants(loss) == pytest.approx((variance, fourth), rel=1e-9)
    assert NoiseBelowK(7, loss).variances(np.array([6, 7])) == pytest.approx([variance, 0], rel=1e-9)
    # Outliers have noise of a smaller loss, the empty cell the most of it.
    found = OutlierNoise(2 * loss, 5, 10).variances(np.array([-4, -1, 0, 7]))
    assert found == pytest.approx([variance] * 3 + [laplace_cumulants(2 * loss)[0]], rel=1e-9)


def test_100_000_cells_take_no_time() -> None:
    values = np.random.default_rng(1).integers(35, 100_000, 100_000)
    found = Estimator(ExactCounts(35), Stratum.at_rate(0.5)).cells(values)
    assert (found.low < values / 0.5).all()
    assert (found.high >= values / 0.5).all()
    order = np.argsort(values)
    assert (np.diff(found.low[order]) >= 0).all()
    assert (np.diff(found.high[order]) >= 0).all()
