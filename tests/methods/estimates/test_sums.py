"""Sums of cells: what is shown is a lower end, what is hidden has an upper end, and noise adds up."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates import laws
from crowdblend.methods.estimates.cells import CellLaws, sum_strata, total_intervals
from crowdblend.methods.estimates.estimator import Estimator, Intervals
from crowdblend.methods.estimates.laws import (
    ExactCounts,
    GaussianOnEveryCell,
    Law,
    NoiseBelowK,
    NoiseOnEveryCell,
    OutlierNoise,
    sum_reach,
)
from tests.cases import for_each
from tests.methods.estimates.outputs import shown_sums

RUNS = 4_000
# P[Bin(4000, 0.95) < 3730] < 1e-6
LEAST = 3730


def draws(rng: np.random.Generator, people: list[int], rate: float) -> np.ndarray:
    return rng.binomial(people, rate, (RUNS, len(people)))


@for_each(("k", "rate"), [(35, 0.5), (8, 0.1), (3, 0.3), (4, 0.9)])
@for_each("cells", [[1.0], [0.5, 0.5], [0.9, 0.1], [0.4, 0.3, 0.3], [0.2] * 5], daily=3)
def test_a_sum_covers_among_the_sums_that_are_shown(k: int, rate: float, cells: list[float]) -> None:
    """By enumeration, where a sum is shown because one of its cells is, however improbable that was."""
    estimator = Estimator(ExactCounts(k), Stratum.at_rate(rate))
    for size in sorted({*range(k, k + 6), *np.geomspace(k + 6, 6 * k / rate, 14).astype(int).tolist()}):
        people = [round(size * share) for share in cells]
        if max(people) < k:
            continue
        totals, shown, masses = shown_sums(k, rate, people)
        for hidden in (len(people) - shown, np.full(len(shown), len(people) - 1)):  # which are shown may not be known
            found = estimator.sums(totals, shown, hidden)
            holds = (found.low <= sum(people)) & (sum(people) <= found.high)
            assert masses[holds].sum() / masses.sum() >= 0.95 - 1e-9, people
            # A cell is missing exactly where nothing is estimated.
            assert (np.isnan(found.estimate) == (hidden > 0)).all()
    # One cell alone is covered by its own law, and a sum of one loses little against it.
    alone, summed = (
        estimator.cells(np.array([20 * k])),
        estimator.sums(np.array([20 * k]), np.ones(1, int), np.zeros(1, int)),
    )
    assert alone.low[0] - summed.low[0] <= k * (1 / rate - 1) + 1


def test_a_sum_of_a_biased_sample_covers_among_those_shown() -> None:
    k, lost = 12, 3
    estimator = Estimator(ExactCounts(k), Stratum(0.1, 0.08, 0.12, lost))
    for people in (16, 20, 40, 100, 400):
        x = np.arange(k, min(people, 200) + 1)
        for rate, surely in ((0.08, 0), (0.12, lost)):
            masses = binom.pmf(x - surely, people - lost, rate)
            found = estimator.sums(x, np.ones(len(x), int), np.full(len(x), 4))
            holds = (found.low <= people) & (people <= found.high)
            assert masses[holds].sum() / masses.sum() >= 0.95 - 1e-9
    # k people and the exceptions may be in the sample for certain, and the others at the largest rate.
    plain = Estimator(ExactCounts(0), Stratum.at_rate(0.12)).cells(np.array([100 - k - lost]))
    found = estimator.sums(np.array([100, k + 1]), np.ones(2, int), np.zeros(2, int))
    assert found.low.tolist() == [k + lost + int(plain.low[0]), k + 1]
    # None of the exceptions may be in it, and the others at the smallest rate.
    plain = Estimator(ExactCounts(0), Stratum.at_rate(0.08)).cells(np.array([100 + 4 * (k - 1)]))
    found = estimator.sums(np.array([100]), np.ones(1, int), np.full(1, 4))
    assert found.high[0] == lost + plain.high[0]


def test_a_row_of_points_is_one_class_that_is_shown_and_others_that_may_not_be() -> None:
    """Of points without their block: at most k − 1 people of every other block are missing."""
    k, blocks = 20, 5
    row = CellLaws(Estimator(ExactCounts(k), Stratum.at_rate(0.5)), blocks=blocks)
    plain = Estimator(ExactCounts(0), Stratum.at_rate(0.5))
    (high,) = row.intervals(np.array([k])).high
    assert high == plain.cells(np.array([k + (blocks - 1) * (k - 1)])).high[0]


def noise_masses(law: Law, far: int) -> np.ndarray:
    """The masses of the noise of one cell from −far to far, from its definition."""
    if isinstance(law, GaussianOnEveryCell):
        weights = [math.exp(-((y / law.sigma) ** 2) / 2) for y in range(-far, far + 1)]
    else:
        weights = [math.exp(-law.widest_loss * abs(y)) for y in range(-far, far + 1)]
    return np.array(weights) / sum(weights)


@for_each("law", [GaussianOnEveryCell(0.7), GaussianOnEveryCell(4.0), NoiseOnEveryCell(0.5), NoiseOnEveryCell(2.0)])
@for_each("cells", [1, 2, 7, 40])
def test_a_sum_of_noise_is_beyond_its_reach_on_both_sides_together_as_often_as_stated(law: Law, cells: int) -> None:
    """Against the convolution of the masses; with all of the level on one side it would be beyond twice as often."""
    masses = noise_masses(law, 60 if isinstance(law, GaussianOnEveryCell) else 90)
    whole = np.ones(1)
    for _ in range(cells):
        whole = np.convolve(whole, masses)
    middle = len(whole) // 2
    for level in (0.3, 0.05, 1e-3, 1e-6):
        reach = law.sum_reach(cells, level)
        assert 1 - whole[middle - reach : middle + reach + 1].sum() <= level + 1e-12
        near = reach - 2
        assert near < 0 or 1 - whole[middle - near : middle + near + 1].sum() > level - 1e-12


@for_each("people", [[0] * 50, [3] * 30, [10, 60, 75, 400], [2000] * 3])
def test_a_margin_over_noisy_cells_covers(people: list[int]) -> None:
    k, rate, loss = 28, 0.5, 1.49
    rng = np.random.default_rng(4)
    sampled = draws(rng, people, rate)
    p = 1 - np.exp(-loss)
    noise = rng.geometric(p, sampled.shape) - rng.geometric(p, sampled.shape)
    values = np.where(sampled >= k, sampled, sampled + noise)
    estimator = Estimator(NoiseBelowK(k, loss), Stratum.at_rate(rate))
    noisy = np.array([estimator.noisy_cells(row).sum() for row in values])
    found = estimator.sums(values.sum(axis=1), noisy, None)
    assert ((found.low <= sum(people)) & (sum(people) <= found.high)).sum() >= LEAST
    assert not np.isnan(found.estimate).any()
    # Unbiased: six standard errors.
    assert abs(found.estimate.mean() - sum(people)) <= 6 * found.estimate.std() / np.sqrt(RUNS) + 0.05


@for_each(("cells", "rate"), [(1, 0.5), (2, 0.1), (40, 0.5), (7, 1.0)])
def test_noise_and_draw_of_a_sum_each_have_half_of_the_level(cells: int, rate: float) -> None:
    """What is proved is that both hold together; a sum may cover more often than its proof says."""
    total, loss = 900, 0.4
    found = Estimator(NoiseOnEveryCell(loss), Stratum.at_rate(rate)).sums(np.array([total]), np.array([cells]), None)
    reach = sum_reach(cells, loss, 0.025 if rate < 1 else 0.05)
    plain = Estimator(ExactCounts(0), Stratum.at_rate(rate)).cells(
        np.array([total - reach, total + reach]), confidence=0.975
    )
    assert (found.low[0], found.high[0]) == (plain.low[0], plain.high[1])


def test_nobody_knows_the_end_of_an_open_domain() -> None:
    found = Estimator(ExactCounts(35), Stratum.at_rate(0.5)).sums(np.array([90]), np.array([2]), None)
    assert found.high[0] == -1
    assert np.isnan(found.estimate[0])
    assert 90 <= found.low[0] < 180


@for_each(("cells", "loss"), [(1, 0.3), (2, 1.0), (7, 1.5), (40, 0.2)])
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


@for_each(("cells", "loss"), [(1, 1.0), (1, 1e-7), (2, 0.3), (40, 0.2), (1000, 0.02)])
def test_the_bound_for_long_transforms_is_above_them(cells: int, loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = sum_reach.__wrapped__(cells, loss, 0.05) if loss > 1e-3 else int(np.log(2 / 0.05 / 2) / loss)
    monkeypatch.setattr(laws, "_LONGEST", 0)
    bound = sum_reach.__wrapped__(cells, loss, 0.05)
    assert exact <= bound <= 2 * exact + 2
    if cells > 1:  # Chernoff's bound for both tails, at the best of other places
        moments = [
            (t, 2 * np.log(-np.expm1(-loss)) - np.log1p(-np.exp(t - loss)) - np.log1p(-np.exp(-t - loss)))
            for t in loss * np.linspace(0.0005, 0.9995, 1999)
        ]
        assert bound >= min((cells * moment + np.log(2 / 0.05)) / t for t, moment in moments)


@for_each(
    ("law", "rate"), [(NoiseOnEveryCell(0.001), 1.0), (NoiseOnEveryCell(1e-9), 1.0), (NoiseBelowK(50, 0.002), 0.5)]
)
@for_each("people", [0, 40, 5000])
def test_faint_noise_is_covered_without_listing_its_law(law: Law, rate: float, people: int) -> None:
    rng = np.random.default_rng(6)
    sampled = draws(rng, [people], rate)[:, 0]
    # Geometric numbers of so small a parameter are exponential ones, rounded.
    noise = np.round(rng.laplace(0, 1 / law.widest_loss, RUNS)).astype(np.int64)
    values = sampled + np.where(sampled >= (law.exact_from or 1 << 60), 0, noise)
    found = Estimator(law, Stratum.at_rate(rate)).cells(values)
    assert ((found.low <= people) & (people <= found.high)).sum() >= LEAST


def test_a_cell_that_faint_noise_leaves_out_has_an_end() -> None:
    estimator = Estimator(OutlierNoise(0.5, 1, 1000, 20), Stratum.at_rate(1.0))
    found = estimator.cells(np.array([30]))
    assert np.isnan(found.estimate[0])
    assert (found.low[0], found.high[0]) == (-1, -1)
    # P[a cell of N people is below 20] = 0.025 where the noise of 0.0005 is below 20 − N.
    assert 5_900 < estimator.largest_unpublished() < 7_500


def test_totals_of_noise_that_nothing_bounds_say_nothing() -> None:
    found = total_intervals([1e-300, 1.0], np.array([5, 5]))
    assert np.isnan(found.estimate[0])
    assert (found.low[0], found.high[0]) == (-1, -1)
    assert found.low[1] <= 5 <= found.high[1]


def test_strata_share_the_level_of_what_is_added_over_them() -> None:
    own = Estimator(ExactCounts(20), Stratum.at_rate(0.5))
    assert CellLaws(None, stratum="region", strata={"north": own, "south": own}).level(0.95) == pytest.approx(0.975)
    assert CellLaws(own).level(0.95) == pytest.approx(0.95)


def test_a_sum_over_strata_knows_no_more_than_its_parts() -> None:
    """An end that one stratum does not have the sum does not have, whichever stratum that is."""
    rows = np.array([0, 0, 1, 1, 2, 2])
    low, high = np.array([1, 10, 2, -1, -1, 4]), np.array([100, 200, -1, 300, 300, -1])
    found = sum_strata(Intervals(np.array([10.0, 20.0, 5.0, 7.0, np.nan, 3.0]), low, high), rows, 3)
    assert found.low.tolist() == [11, -1, -1]
    assert found.high.tolist() == [300, -1, -1]
    assert found.estimate[:2].tolist() == [30.0, 12.0]
    assert np.isnan(found.estimate[2])


@for_each("strata", [1, 2, 10])
def test_strata_cover_together_as_often_as_stated(strata: int) -> None:
    """By Boole's inequality, each may miss in an equal share of the cases."""
    each = dict.fromkeys(map(str, range(strata)), Estimator(ExactCounts(5), Stratum.at_rate(0.5)))
    assert (1 - CellLaws(None, {}, "region", each).level(0.95)) * strata == pytest.approx(0.05)
