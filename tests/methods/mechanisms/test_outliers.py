"""Outlier histograms: the noise of every bin is that of its size. Fixed keys; false-alarm rate 1e-6 per test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms import OutlierHistogram, SampledClasses
from crowdblend.methods.planning.outliers import plan_outliers
from tests.cases import for_each

from .test_histograms import FALSE_ALARM, key, one_column


def same_size(size: int, bins: int) -> SampledClasses:
    return one_column([size] * bins)


@for_each(("size", "transition", "limit"), [(1, 20, 60), (40, 20, 60), (500, 20, 60), (9, 5, 15)])
def test_a_bin_gets_the_noise_of_its_size(size: int, transition: int, limit: int) -> None:
    """Chi-square on 30,000 bins of one size, those that reach show_from; after 9 of 15 the next has a fifth more."""
    mechanism, bins = OutlierHistogram(0.5, transition, limit, show_from=1), 30_000
    published = mechanism.publish(same_size(size, bins), key(size))
    a = math.exp(-mechanism.loss(size))
    law = {y: (1 - a) / (1 + a) * a ** abs(y - size) for y in range(1, size + 600)}
    values, times = np.unique(published.counts, return_counts=True)
    seen = dict(zip(values.tolist(), times.tolist(), strict=True))
    common = [y for y, chance in law.items() if chance * bins >= 10]
    observed = [seen.get(y, 0) for y in common]
    expected = [law[y] * bins for y in common]
    observed.append(bins - sum(observed))
    expected.append(bins - sum(expected))
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM


def test_losses_are_those_of_the_notes() -> None:
    mechanism = OutlierHistogram(0.2, 5, 15)
    assert [mechanism.loss(size) for size in (0, 9, 10, 99)] == [
        Fraction(0.2) * 5 / 15,
        Fraction(0.2) * 5 / 6,
        Fraction(0.2),
        Fraction(0.2),
    ]
    planned = plan_outliers(epsilon=0.2, transition=5, limit=15)
    assert [planned.loss(size) for size in range(20)] == pytest.approx([float(mechanism.loss(j)) for j in range(20)])


def test_empty_bins_take_part() -> None:
    """As many empty bins of a huge domain show up as expected, within the false-alarm rate."""
    mechanism, cells = OutlierHistogram(1.0, 20, 40, show_from=9), 1_000_000
    published = mechanism.publish(one_column([50], cells), key(3))
    expected = mechanism.expected_false_cells(cells)
    assert stats.poisson.cdf(len(published.counts), expected) > FALSE_ALARM
    assert stats.poisson.sf(len(published.counts) - 2, expected) > FALSE_ALARM
    assert published.counts.min() >= 9


def test_planned_transitions_are_the_smallest() -> None:
    for epsilon, limit, delta in [(0.2, 100, 1e-6), (1.0, 60, 1e-9), (0.5, 200, 1e-4)]:
        found = plan_outliers(epsilon=epsilon, limit=limit, delta=delta).transition
        assert plan_outliers(epsilon=epsilon, limit=limit, transition=found).delta <= delta
        assert plan_outliers(epsilon=epsilon, limit=limit, transition=found - 1).delta > delta


def test_too_little_to_solve_for_is_refused() -> None:
    with pytest.raises(InvalidInput, match="solved for"):
        plan_outliers(epsilon=0.2, limit=15)
