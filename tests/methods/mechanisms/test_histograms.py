"""What the mechanisms publish is what their rules speak of.

Statistical tests use keys derived from fixed numbers, so they are deterministic; their thresholds have a false-alarm
rate of 1e-6 each over the choice of those keys.
"""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from crowdblend.methods.mechanisms import NoisyHistogram, PublishedClasses, SampledClasses, SuppressedHistogram
from crowdblend.trusted.randomness import ReleaseKey

FALSE_ALARM = 1e-6


def key(number: int) -> ReleaseKey:
    return ReleaseKey(hashlib.sha256(number.to_bytes(8, "big")).digest())


def one_column(counts: list[int], cells: int | None = None) -> SampledClasses:
    """Counts of the first cells of a column with so many labels; zeros are left out, as a sample does."""
    places = [place for place, count in enumerate(counts) if count]
    labels = tuple(f"label {place}" for place in range(cells or len(counts)))
    codes = np.array(places, np.int32).reshape(-1, 1)
    return SampledClasses(("column",), (labels,), codes, np.array([counts[place] for place in places], np.int64))


def places_of(published: PublishedClasses) -> list[int]:
    """The published cells by the number in their label."""
    return [int(published.labels[0][code].removeprefix("label ")) for code in published.codes[:, 0]]


def values_of(published: PublishedClasses) -> dict[int, int]:
    return dict(zip(places_of(published), published.counts.tolist(), strict=True))


@settings(deadline=None, derandomize=True)
@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=40), k=st.integers(1, 25))
def test_published_exactly_when_the_crowd_is_large_enough(counts: list[int], k: int) -> None:
    published = SuppressedHistogram(k).publish(one_column(counts))
    assert values_of(published) == {place: count for place, count in enumerate(counts) if count >= k}
    assert published.labels == (tuple(f"label {place}" for place, count in enumerate(counts) if count >= k),)


def test_counts_from_k_on_stay_exact_and_the_flag_says_so() -> None:
    counts = [0, 1, 4, 5, 6, 100]
    for number in range(200):
        published = NoisyHistogram(k=5, noise_epsilon=0.3, flag=True).publish(one_column(counts), key(number))
        exact = dict(zip(places_of(published), published.exact.tolist(), strict=True))
        values = values_of(published)
        assert [values[place] for place in (3, 4, 5)] == [5, 6, 100]
        assert [exact[place] for place in (3, 4, 5)] == [True, True, True]
        assert not any(exact.get(place, False) for place in (0, 1, 2))
        assert min(values.values()) >= 1


def noise_probability(y: int, epsilon: float) -> float:
    a = math.exp(-epsilon)
    return (1 - a) / (1 + a) * a ** abs(y)


@pytest.mark.parametrize("count", [1, 3])
def test_small_cells_follow_the_noise_distribution(count: int) -> None:
    """A chi-square test of the published value of 20,000 equal small cells; unshown values are pooled."""
    cells, epsilon = 20_000, 0.8
    published = NoisyHistogram(k=5, noise_epsilon=epsilon).publish(one_column([count] * cells), key(7))
    top = count + 6
    seen = np.bincount(np.minimum(published.counts, top), minlength=top + 1)[1:]
    expected = [noise_probability(y - count, epsilon) for y in range(1, top)]
    expected.append(1 - sum(noise_probability(y - count, epsilon) for y in range(-60, top)))
    hidden = cells - seen.sum()
    statistic = stats.chisquare([hidden, *seen], [cells * (1 - sum(expected)), *(cells * p for p in expected)])
    assert statistic.pvalue > FALSE_ALARM


def test_empty_cells_show_up_as_theory_says() -> None:
    """Number, places and values of the empty cells that reach the threshold, in a domain that nobody enumerates."""
    cells, epsilon, threshold, runs = 10**9, 2.0, 8, 40
    chance = math.exp(-epsilon * threshold) / (1 + math.exp(-epsilon))
    labels = (tuple(map(str, range(50_000))), tuple(map(str, range(20_000))))
    sample = SampledClasses(("a", "b"), labels, np.array([[0, 0], [7, 9]], np.int32), np.array([50, 60]))
    mechanism = NoisyHistogram(k=5, noise_epsilon=epsilon, show_from=threshold)
    shown = [mechanism.publish(sample, key(number)) for number in range(runs)]
    false = [len(published.counts) - 2 for published in shown]
    assert mechanism.expected_false_cells(cells) == pytest.approx(cells * chance)
    low, high = stats.poisson.interval(1 - FALSE_ALARM, runs * cells * chance)
    assert low <= sum(false) <= high
    places = np.array([int(p.labels[0][code]) for p in shown for code in p.codes[:, 0]], float)
    assert stats.kstest(places / 50_000, "uniform").pvalue > FALSE_ALARM
    values = np.concatenate([p.counts for p in shown])
    beyond = np.minimum(values[values < 50] - threshold, 3)
    a = math.exp(-epsilon)
    expected = [(1 - a) * a**i for i in range(3)] + [a**3]
    observed = np.bincount(beyond, minlength=4)
    assert stats.chisquare(observed, np.array(expected) * observed.sum()).pvalue > FALSE_ALARM


@settings(deadline=None, derandomize=True, max_examples=60)
@given(taken=st.sets(st.integers(0, 29), max_size=30), number=st.integers(0, 2**32))
def test_empty_cells_never_collide_with_taken_ones(taken: set[int], number: int) -> None:
    counts = [40 if place in taken else 0 for place in range(30)]
    published = NoisyHistogram(k=5, noise_epsilon=0.05).publish(one_column(counts), key(number))
    places = places_of(published)
    assert places == sorted(set(places))
    assert taken <= set(places)


def test_the_same_key_gives_the_same_publication() -> None:
    sample = one_column([1, 2, 3, 0, 50])
    mechanism = NoisyHistogram(k=10, noise_epsilon=0.5)
    first, again, other = (mechanism.publish(sample, key(number)) for number in (1, 1, 2))
    assert first.counts.tolist() == again.counts.tolist()
    assert values_of(first) == values_of(again) != values_of(other)


def test_narrowing_sums_what_is_published() -> None:
    labels = (("x", "y"), ("u", "v", "w"))
    codes = np.array([[0, 0], [0, 2], [1, 2]], np.int32)
    published = PublishedClasses(("a", "b"), labels, codes, np.array([5, 7, 11]), np.array([True, False, True]))
    by_b = published.narrow(["b"])
    assert by_b.labels == (("u", "w"),)
    assert by_b.codes.tolist() == [[0], [1]]
    assert by_b.counts.tolist() == [5, 18]
    assert by_b.exact is None
    nothing = PublishedClasses(("a", "b"), labels, codes[:0], np.array([], np.int64)).narrow(["a"])
    assert len(nothing.counts) == 0
