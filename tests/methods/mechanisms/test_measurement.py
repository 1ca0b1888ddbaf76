"""Any OpenDP measurement on random samples: its promise read off the privacy map, its law, and what is refused."""

import math
import warnings
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2

import crowdblend
from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms.measurement import SampledMeasurement, sample_and_sanitize
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.randomness import SeededSource
from tests.cases import for_each

dp.enable_features("contrib")

SCALE = 2.0


def counting(scale: float = SCALE):
    """The number of ones, with discrete Laplace noise; a person more or less moves it by one."""
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 1))), dp.symmetric_distance()
    return space >> dp.t.then_sum() >> dp.m.then_laplace(scale=scale)


def sized(metric, size: int = 3):
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 1)), size=size), metric
    bounded = space >> dp.t.then_metric_unbounded() if "ChangeOne" in str(metric) else space
    return bounded >> dp.t.then_sum() >> dp.m.then_laplace(scale=SCALE)


def gaussian():
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return space >> dp.t.then_count() >> dp.m.then_gaussian(scale=3.0)


def test_the_promise_is_that_of_the_replaced_row_amplified() -> None:
    measurement = counting()
    mechanism = SampledMeasurement(measurement, 10, 100)
    zero_knowledge, differential = mechanism.claim().conclusion, mechanism.claim_replaced().conclusion
    # A person more or less costs 1/2, a replaced one 1; a tenth of the people are drawn.
    assert measurement.map(1) == pytest.approx(0.5)
    expected = math.log1p(0.1 * math.expm1(measurement.map(2)))
    assert expected <= zero_knowledge.epsilon < expected * (1 + 1e-12)
    assert zero_knowledge == ZeroKnowledge(zero_knowledge.epsilon, 0.0, RandomSamples(10, 100), Relation.CONCEAL)
    assert differential == Differential(zero_knowledge.epsilon, 0.0, Relation.REPLACE, samplings=1)


def test_a_metric_that_counts_changes_is_read_at_one_change() -> None:
    measurement = sized(dp.change_one_distance())
    leaf = SampledMeasurement(measurement, 3, 3).claim().premises[0]
    assert leaf.conclusion.epsilon == measurement.map(1)


@for_each(
    ("metric", "changes"),
    [
        (dp.symmetric_distance, 2),
        (dp.insert_delete_distance, 2),
        (dp.change_one_distance, 1),
        (dp.hamming_distance, 1),
    ],
)
def test_every_metric_is_read_at_the_distance_of_one_replaced_row(metric, changes) -> None:
    """A measurement that loses 1/4 for each unit of its metric; a row that is replaced leaves and comes."""
    dp.enable_features("honest-but-curious")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    made = dp.m.make_user_measurement(domain, metric(), dp.max_divergence(), lambda _: 0.0, lambda far: far / 4)
    assert SampledMeasurement(made, 3, 10).privacy_map.conclusion.epsilon == changes / 4


@for_each("how", ["concentrated", "smoothed", "fixed"])
def test_approximate_promises_are_converted_by_opendp(how: str) -> None:
    made, delta = gaussian(), 1e-7
    converted = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), delta)
    given = {"concentrated": made, "smoothed": dp.c.make_zCDP_to_approxDP(made), "fixed": converted}[how]
    derived = SampledMeasurement(given, 5, 50, None if how == "fixed" else delta).claim()
    assert (derived.premises[0].conclusion.epsilon, derived.premises[0].conclusion.delta) == converted.map(2)
    assert delta / 10 <= derived.conclusion.delta < delta / 9.99


def test_the_certificate_names_the_measurement_and_verifies() -> None:
    made = crowdblend.sample_and_sanitize([0, 1] * 50, 10, counting())
    again = crowdblend.verify(made.certificate.to_json())
    assert again.guarantees == made.certificate.guarantees
    assert again.facts["measurement"]["metric"] == "SymmetricDistance()"
    assert again.facts["private_randomness"] is True
    assert any(made.assumption is Assumption.STATED_MAP for made in again.assumptions())
    assert isinstance(made.value, int)


def law(table: tuple[int, ...], k: int, value: int) -> float:
    """The probability of a value: the mixture over all draws of k rows of exact discrete Laplace laws."""
    a = math.exp(-1 / SCALE)
    spread = [(1 - a) / (1 + a) * a ** abs(value - sum(chosen)) for chosen in combinations(table, k)]
    return sum(spread) / comb(len(table), k)


def test_mechanism_and_simulator_are_within_the_promise_exactly() -> None:
    """Every table of five people with two drawn; the simulator reads ⊥ as 0, one fixed value of the domain.

    Outside the range of the sums both laws fall by the same factor, so a few values tell everything.
    """
    n, k = 5, 2
    promise = SampledMeasurement(counting(), k, n).claim().conclusion
    worst = 0.0
    for ones in range(1, n + 1):
        table = (1,) * ones + (0,) * (n - ones)
        simulated = (0, *table[1:])
        for value in range(-1, k + 2):
            ratio = law(table, k, value) / law(simulated, k, value)
            worst = max(worst, ratio, 1 / ratio)
    # A sum of ones moves by one where the map must allow two, so the promise is not attained; but it is not vacuous.
    assert 1 + 0.4 * math.expm1(0.5) <= worst * (1 + 1e-12)
    assert worst <= math.exp(promise.epsilon)


def test_what_is_published_follows_the_law_of_drawing_and_measuring() -> None:
    """A chi-squared test of 1,000 releases from six people, two drawn; false alarms below 1e-6."""
    table, k, runs, source = (1, 1, 0, 0, 0, 1), 2, 1_000, SeededSource(11)
    measurement = counting()
    values = np.array([sample_and_sanitize(table, k, measurement, source=source).value for _ in range(runs)])
    inner = list(range(-4, 7))
    expected = [law(table, k, value) * runs for value in inner]
    observed = [int((values == value).sum()) for value in inner]
    expected.append(runs - sum(expected))
    observed.append(runs - sum(observed))
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    assert chi2.sf(statistic, len(expected) - 1) > 1e-6


def test_exactly_k_rows_reach_the_measurement_in_random_order() -> None:
    seen = []

    def remember(rows):
        seen.append(tuple(rows))
        return 0.0

    domain, metric = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    dp.enable_features("honest-but-curious")
    watched = dp.m.make_user_measurement(domain, metric, dp.max_divergence(), remember, float)
    for seed in range(400):
        sample_and_sanitize(list(range(5)), 2, watched, source=SeededSource(seed))
    assert all(len(set(rows)) == 2 for rows in seen)
    counts = [seen.count((a, b)) for a in range(5) for b in range(5) if a != b]
    expected = Fraction(400, 20)
    statistic = sum((count - expected) ** 2 / expected for count in counts)
    assert chi2.sf(float(statistic), 19) > 1e-6


def _interactive():
    domain, metric = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return dp.c.make_adaptive_composition(domain, metric, dp.max_divergence(), d_in=2, d_mids=[1.0])


@for_each(
    ("data", "k", "make", "options", "word"),
    [
        ([0] * 9, 10, counting, {}, "between 1 and the 9 rows"),
        ([0] * 9, 0, counting, {}, "between 1 and the 9 rows"),
        ([0] * 9, True, counting, {}, "whole number"),
        ([7] * 9, 3, counting, {}, "domain"),
        (["secret"] * 9, 3, counting, {}, "domain"),
        (np.arange(9) % 2, 3, counting, {}, "domain"),
        ([0] * 9, 4, lambda: sized(dp.symmetric_distance()), {}, "size be k"),
        ([0] * 9, 3, counting, {"delta": 1e-6}, "left out"),
        ([0] * 9, 3, gaussian, {}, "delta must be"),
        ([0] * 9, 3, gaussian, {"delta": 1.0}, "delta must be"),
        ([0] * 9, 3, _interactive, {}, "waits for queries"),
    ],
)
def test_what_cannot_be_certified_is_refused_without_a_record(data, k, make, options, word) -> None:
    measurement = make()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(InvalidInput, match=word) as caught:
            sample_and_sanitize(data, k, measurement, **options)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert not [one for one in warned if "carrier" in str(one.message)]


def test_other_metrics_and_measures_are_refused() -> None:
    scalar = (dp.atom_domain(T=int), dp.absolute_distance(T=int)) >> dp.m.then_laplace(scale=1.0)
    with pytest.raises(InvalidInput, match="compare datasets"):
        SampledMeasurement(scalar, 1, 2).claim()
    domain, metric = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    dp.enable_features("honest-but-curious")
    renyi = dp.m.make_user_measurement(
        domain, metric, dp.renyi_divergence(), lambda rows: 0.0, lambda d_in: lambda alpha: d_in
    )
    with pytest.raises(InvalidInput, match="OpenDP converts"):
        SampledMeasurement(renyi, 1, 2).claim()
