import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import SeededSource, distinct, uniform
from crowdblend.trusted.randomness.choice import distinct_rows
from tests.cases import for_each

from .goodness import fits
from .tape import EndOfTapeError, Tape


def outcomes(draw, words, length):
    """What every script of the given words leads to, scripts that are too short left out."""
    found: Counter[object] = Counter()
    for script in itertools.product(words, repeat=length):
        try:
            found[tuple(draw(Tape.of_words(script)).tolist())] += 1
        except EndOfTapeError:
            continue
    return found


@for_each("size", [2, 3, 4])
def test_small_ranges_are_exactly_uniform(size):
    bits = (size - 1).bit_length()
    words = [(high << 64 - bits) + 12_345 for high in range(2**bits)]
    found = outcomes(lambda tape: uniform(2, size, tape), words, 5)
    assert len(found) == size**2
    assert len(set(found.values())) == 1


@for_each(("n", "size"), [(1, 3), (2, 3), (2, 4), (3, 4)])
def test_small_subsets_are_exactly_uniform(n, size):
    words = [high << 62 for high in range(4)]
    found = outcomes(lambda tape: distinct(n, size, tape), words, 5)
    assert len(found) == comb(size, n)
    assert len(set(found.values())) == 1


@pytest.mark.parametrize(("n", "size"), [(2, 3), (2, 4)])
def test_several_subsets_are_exactly_uniform_and_independent(n, size):
    words = [high << 62 for high in range(4)]
    found = outcomes(lambda tape: distinct_rows(2, n, size, tape).ravel(), words, 6)
    assert len(found) == comb(size, n) ** 2
    assert len(set(found.values())) == 1


@for_each(("n", "size"), [(2, 6), (3, 6), (4, 6), (5, 6)], daily=2)
def test_subsets_fit_the_uniform_law(n, size):
    source = SeededSource(1)
    found = Counter(tuple(distinct(n, size, source).tolist()) for _ in range(3_000))
    assert fits(list(found.values()), np.full(comb(size, n), 1 / comb(size, n)))


def test_uniform_numbers_fit():
    assert fits(np.bincount(uniform(1_000_000, 1000, SeededSource(2)), minlength=1000), np.full(1000, 1e-3))
    huge = uniform(1_000_000, 3 * 2**60, SeededSource(2))
    assert huge.max() < 3 * 2**60
    assert fits(np.bincount(huge >> 60, minlength=3), np.full(3, 1 / 3))


@for_each("size", [10**9, 2**62, 400_000, 200_001])
def test_places_are_different_sorted_and_inside(size):
    places = distinct(200_000, size, SeededSource(3))
    assert len(places) == 200_000
    assert (np.diff(places) > 0).all()
    assert places[0] >= 0
    assert places[-1] < size


def test_edges():
    source = SeededSource(4)
    assert distinct(0, 10**9, source).tolist() == []
    assert distinct(7, 7, source).tolist() == list(range(7))
    assert uniform(3, 1, Tape(b"")).tolist() == [0, 0, 0]
    assert uniform(0, 5, Tape(b"")).tolist() == []


@for_each(("n", "size"), [(-1, 5), (6, 5), (1, 0), (1, 2**62 + 1)])
def test_impossible_subsets_are_refused(n, size):
    with pytest.raises(InvalidInput, match="must be between"):
        distinct(n, size, SeededSource(1))
