"""What the mechanisms take at their limits, and the sizes of noise that they state, against sums over its law."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.mechanisms import NoisyHistogram, OutlierHistogram, SampledClasses
from crowdblend.methods.mechanisms.histograms import natural_threshold
from crowdblend.methods.mechanisms.points import AxisNoise, all_within
from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import check_size, check_universe, ranges, vc_bound
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, candidates_of
from crowdblend.methods.mechanisms.synopsis.synopsis_plans import plan_synopsis
from tests.cases import for_each

from .test_histograms import key

LOSSES = [0.05, 0.3, 1.0, 2.5]


def law(loss: float, far: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """The values of discrete Laplace noise and their probabilities."""
    a, values = math.exp(-loss), np.arange(-far, far + 1)
    return values, (1 - a) / (1 + a) * a ** np.abs(values)


@for_each("loss", LOSSES)
def test_stated_sizes_of_noise_are_those_of_its_law(loss: float) -> None:
    values, chances = law(loss)
    mean = float((np.abs(values) * chances).sum())
    assert NoisyHistogram(5, loss).expected_error() == pytest.approx(mean, rel=1e-9)
    assert OutlierHistogram(loss, 5, 15).expected_error(10) == pytest.approx(mean, rel=1e-9)
    assert AxisNoise(loss).mean_distance == pytest.approx(mean, rel=1e-9)
    assert AxisNoise(loss).deviation == pytest.approx(math.sqrt(float((values**2 * chances).sum())), rel=1e-9)


@for_each("loss", LOSSES)
@for_each("failure", [0.5, 0.05, 1e-4])
def test_the_reach_of_noise_is_the_smallest_that_holds(loss: float, failure: float) -> None:
    values, chances = law(loss)
    reach = AxisNoise(loss).reach(failure)
    assert chances[np.abs(values) > reach].sum() <= failure * (1 + 1e-9)
    assert reach == 0 or chances[np.abs(values) > reach - 1].sum() > failure * (1 - 1e-9)
    assert AxisNoise(math.inf).reach(failure) == 0
    assert all_within([AxisNoise(loss), AxisNoise(math.inf)], 7, failure) == [AxisNoise(loss).reach(failure / 7), 0]
    both = [AxisNoise(loss).reach(failure / 14)] * 2
    assert all_within([AxisNoise(loss), AxisNoise(loss)], 7, failure) == both


def test_noise_that_fills_a_block_is_as_large_as_the_block() -> None:
    assert AxisNoise(0.001).within(30).mean_distance == 10
    assert AxisNoise(0.001).within(30).deviation == pytest.approx(30 / math.sqrt(6))
    assert AxisNoise(3.0).within(30).mean_distance == AxisNoise(3.0).mean_distance
    assert AxisNoise(3.0).within(30).deviation == AxisNoise(3.0).deviation


@for_each("loss", LOSSES)
@for_each("cells", [10, 10**5, 10**12])
def test_the_natural_threshold_is_the_smallest_with_a_thousand_false_cells(loss: float, cells: int) -> None:
    threshold = natural_threshold(cells, loss)
    values, chances = law(loss)
    assert NoisyHistogram(5, loss, threshold).expected_false_cells(cells) <= 1000 * (1 + 1e-9)
    assert threshold == 1 or NoisyHistogram(5, loss, threshold - 1).expected_false_cells(cells) > 1000
    shown = float(chances[values >= threshold].sum())
    assert NoisyHistogram(5, loss, threshold).expected_false_cells(cells) == pytest.approx(cells * shown, rel=1e-6)
    outlier = OutlierHistogram(loss, 5, 5, threshold)
    assert outlier.expected_false_cells(cells) == pytest.approx(cells * shown, rel=1e-6)


@pytest.mark.parametrize("mechanism", [NoisyHistogram(5, 1.0), OutlierHistogram(1.0, 5, 9)])
def test_cells_are_shown_from_one_on(mechanism: NoisyHistogram) -> None:
    assert mechanism.show_from == 1
    with pytest.raises(InvalidInput, match="at least 1"):
        replace(mechanism, show_from=0)


@for_each("columns", [62, 63])
@for_each("mechanism", [NoisyHistogram(1, 40.0, 100), OutlierHistogram(40.0, 1, 1, 100)])
def test_a_table_has_at_most_two_to_the_62_cells(columns: int, mechanism: NoisyHistogram) -> None:
    names = tuple(map(str, range(columns)))
    codes = np.ones((1, columns), np.int32)
    sample = SampledClasses(names, (("a", "b"),) * columns, codes, np.array([500]))
    if columns == 62:
        assert abs(int(mechanism.publish(sample, key(1)).counts[0]) - 500) < 5
    else:
        with pytest.raises(InvalidInput, match=r"2\^62"):
            mechanism.publish(sample, key(1))


def test_the_sizes_of_universes_and_classes() -> None:
    check_universe((2000, 2000))
    check_size(1_000_000)
    for refused in (lambda: check_universe((4_000_001,)), lambda: check_size(1_000_001), lambda: ranges(201)):
        with pytest.raises(InvalidInput):
            refused()
    assert ranges(200).size == 200 * 201 // 2
    assert [vc_bound(size) for size in (1, 2, 3, 4, 7, 8)] == [1, 1, 1, 2, 2, 3]


def test_as_many_candidates_as_there_may_be() -> None:
    assert candidates_of(50_000, 1) == 50_000
    assert candidates_of(3, 2) == 6
    assert ExponentialSynopsis(Conjunctions((50_000,), 1), 1.0, 1).rows == 1
    with pytest.raises(InvalidInput, match="candidate"):
        ExponentialSynopsis(Conjunctions((50_001,), 1), 1.0, 1)


@pytest.mark.parametrize(("epsilon", "samples"), [(100.0, 900), (1.0, 900)])
def test_plans_at_their_limits(epsilon: float, samples: int) -> None:
    plan = plan_synopsis(conjunctions((2, 2), 1), samples=samples, population=900, epsilon=epsilon, failure=0.05)
    assert plan.derivations()[0].conclusion.epsilon <= epsilon


def test_one_person_is_a_sample_that_answers_nothing() -> None:
    with pytest.raises(Infeasible, match="at 1 or more it says nothing"):
        plan_synopsis(conjunctions((2,), 1), samples=1, population=1, epsilon=100.0, failure=0.5)
