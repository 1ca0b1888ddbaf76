"""The simulators draw what their proofs say, and on larger tables nobody can tell them from the release.

Every test has a fixed seed; an unlucky one makes it fail with a probability below FALSE_ALARM.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from crowdblend.calculus import RULES
from crowdblend.guarantees.privacy import ZeroKnowledge
from crowdblend.mechanisms.statistics import NoisyStatistics
from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.ways import EVERYBODY, SAMPLE, TotalsRequest, Way, plan_statistics
from crowdblend.randomness import SeededSource, discrete_laplace
from tests.cases import for_each
from tests.mechanisms.simulators import EverybodySimulator, RandomRows, SampleSimulator, Simulator, concealed
from tests.randomness.goodness import fits_whole_numbers

FALSE_ALARM = 1e-6
N, K, RUNS = 400, 40, 3_000


def laplace_law(noise_epsilon: float, first: int, last: int) -> list[float]:
    a = math.exp(-noise_epsilon)
    return [(1 - a) / (1 + a) * a ** abs(y) for y in range(first, last + 1)]


def test_published_totals_are_the_totals_plus_discrete_laplace_noise() -> None:
    exact = [np.full(RUNS, 70), np.tile([3, 0, 9], RUNS)]
    published: Any = NoisyStatistics((Shape(1), Shape(1, 2)), (0.5, 0.2)).publish(exact, SeededSource(1))
    one, bins = published
    assert fits_whole_numbers(one - 70, laplace_law(0.5, -20, 20), -20)
    for place, total in enumerate([3, 0, 9]):
        assert fits_whole_numbers(bins[place::3] - total, laplace_law(0.2, -30, 30), -30)


@pytest.mark.parametrize("kind", [EVERYBODY, SAMPLE])
def test_simulators_publish_their_estimates_like_the_release(kind: str) -> None:
    mechanism, bins = NoisyStatistics((Shape(1), Shape(1, 2)), (0.5, 0.2)), (1, 2)
    simulator = EverybodySimulator(mechanism, bins, 9) if kind == EVERYBODY else SampleSimulator(mechanism, bins)
    rows = np.array([[5, 1, 0], [2, 0, 1], [4, 0, 0]])
    made_up = simulator.simulate(rows, SeededSource(4))
    estimated = [33, 3, 3] if kind == EVERYBODY else [11, 1, 1]
    released = mechanism.publish([np.array(estimated[:1]), np.array(estimated[1:])], SeededSource(4))
    assert [numbers.tolist() for numbers in made_up] == [numbers.tolist() for numbers in released]


def test_a_simulator_sees_k_rows_and_never_the_concealed_one() -> None:
    table = np.arange(1, 8)[:, None]
    hidden = concealed(table, 4)
    assert hidden.ravel().tolist() == [1, 2, 3, 4, 0, 6, 7]
    assert table[4] == 5
    source, looked = SeededSource(2), RandomRows(3)
    seen = [looked.look(hidden, source).ravel().tolist() for _ in range(RUNS)]
    assert all(len(set(rows)) == 3 for rows in seen)
    counts = np.bincount(np.concatenate(seen), minlength=8)
    assert counts[5] == 0
    # Every row is seen in 3 of 7 looks; six standard deviations leave room for 1e-9.
    assert np.abs(counts[[0, 1, 2, 3, 4, 6, 7]] - RUNS * 3 / 7).max() < 6 * math.sqrt(RUNS * 12 / 49)


def test_estimates_are_scaled_up_and_rounded_to_the_nearest_whole_number() -> None:
    simulator = EverybodySimulator(NoisyStatistics((Shape(1, 2),), (1.0,)), (2,), population=10)
    assert simulator.estimate(np.array([[1, 0], [1, 0], [0, 1]])).tolist() == [7, 3]
    assert simulator.estimate(np.array([[1, 0], [0, 0], [0, 0], [0, 3]])).tolist() == [3, 8]


def _table(kind: str) -> np.ndarray:
    """A table where one person matters as much as a person can: alone with the largest value, or in a bin."""
    rng = np.random.default_rng(3)
    if kind == "bins":
        return np.eye(3, dtype=np.int64)[[2, *rng.integers(0, 2, N - 1)]]
    return np.array([10, *rng.integers(0, 4, N - 1)])[:, None]


def _world(kind: str, mechanism: str) -> tuple[np.ndarray, Way, Simulator]:
    table = _table(kind)
    bins = table.shape[1]
    shape = Shape(1, bins=bins) if kind == "bins" else Shape(10)
    way = plan_statistics(TotalsRequest((shape,), 0.5, K, N, 0.05)).alternatives[mechanism]  # type: ignore[index]
    assert way is not None
    noisy = NoisyStatistics(way.shapes, way.noise_epsilons)
    simulator = EverybodySimulator(noisy, (bins,), N) if mechanism == EVERYBODY else SampleSimulator(noisy, (bins,))
    return table, way, simulator


def _released(table: np.ndarray, way: Way, source: SeededSource) -> np.ndarray:
    """The release many times over, with all its noise drawn at once."""
    looked = RandomRows(K)
    seen = [table if way.mechanism == EVERYBODY else looked.look(table, source) for _ in range(RUNS)]
    return _noisy([rows.sum(axis=0) for rows in seen], way, source)


def _simulated(table: np.ndarray, way: Way, simulator: Any, source: SeededSource) -> np.ndarray:
    looked = RandomRows(K)
    return _noisy([simulator.estimate(looked.look(table, source)) for _ in range(RUNS)], way, source)


def _noisy(totals: list[np.ndarray], way: Way, source: SeededSource) -> np.ndarray:
    together = np.array(totals)
    return (
        NoisyStatistics(way.shapes, way.noise_epsilons).publish([together.ravel()], source)[0].reshape(together.shape)
    )


@for_each("mechanism", [EVERYBODY, SAMPLE], daily=1)
@for_each("kind", ["value", "bins"])
def test_release_and_simulator_stay_within_the_promise(kind: str, mechanism: str) -> None:
    """Events "this total is at least t": confidence intervals of their probabilities never contradict the factor."""
    table, way, simulator = _world(kind, mechanism)
    promise: ZeroKnowledge = way.derivations()[0].conclusion
    hidden, source = concealed(table, 0), SeededSource(11)
    released, made_up = _released(table, way, source), _simulated(hidden, way, simulator, source)
    events = _tried(released, made_up)
    # Four ends of intervals for each event.
    each = FALSE_ALARM / (4 * len(events))
    for total, threshold in events:
        p, q = (_interval(drawn[:, total] >= threshold, each) for drawn in (released, made_up))
        for one, other in ((p, q), (q, p)):
            assert one[0] <= math.exp(promise.epsilon) * other[1]
            # And the opposite of the event, of probability 1 − p and 1 − q.
            assert 1 - one[1] <= math.exp(promise.epsilon) * (1 - other[0])


def test_the_test_notices_a_simulator_that_knows_nothing() -> None:
    """One that publishes noise around 0 is told apart from the release, so the test above can fail."""
    table, way, _ = _world("value", SAMPLE)
    source = SeededSource(12)
    released = _released(table, way, source)
    blind = discrete_laplace(RUNS, way.noise_epsilons[0], source)[:, None]
    contradicted = [
        _interval(released[:, 0] >= t, FALSE_ALARM)[0] > math.exp(0.5) * _interval(blind[:, 0] >= t, FALSE_ALARM)[1]
        for _, t in _tried(released, blind)
    ]
    assert any(contradicted)


def _tried(one: np.ndarray, other: np.ndarray) -> list[tuple[int, int]]:
    """Thresholds for every total at fixed steps around the two middles: decided by the first quarter of the draws."""
    first = RUNS // 4
    shares = np.linspace(0.02, 0.98, 13)
    return [
        (total, int(threshold))
        for total in range(one.shape[1])
        for drawn in (one[:first], other[:first])
        for threshold in np.unique(np.quantile(drawn[:, total], shares).round())
    ]


def _interval(happened: np.ndarray, failure: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of an event's probability, each end wrong with at most this probability.

    The draws that chose the event do not count.
    """
    fresh = happened[RUNS // 4 :]
    count, runs = int(fresh.sum()), len(fresh)
    low = beta.ppf(failure, count, runs - count + 1) if count else 0.0
    high = beta.isf(failure, count + 1, runs - count) if count < runs else 1.0
    return float(low), float(high)


def test_the_promises_are_those_of_the_rules() -> None:
    for mechanism, rule in ((EVERYBODY, "totals.zero-knowledge"), (SAMPLE, "sample-and-sanitize.sharp")):
        _, way, _ = _world("value", mechanism)
        assert way.derivations()[0].rule is RULES[rule]
