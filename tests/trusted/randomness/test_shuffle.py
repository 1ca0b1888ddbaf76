import itertools
from collections import Counter

import numpy as np
import pytest

from crowdblend.trusted.randomness import SeededSource, permutation

from .goodness import fits
from .tape import EndOfTapeError, Tape


@pytest.mark.parametrize(("n", "length"), [(2, 6), (3, 9)])
def test_orders_are_exactly_uniform_through_ties(n, length):
    """Keys of one bit tie most of the time; over all scripts that suffice, every order comes equally often."""
    found: Counter[object] = Counter()
    for script in itertools.product((5, 9), repeat=length):
        try:
            found[tuple(permutation(n, Tape.of_words(script)).tolist())] += 1
        except EndOfTapeError:
            continue
    assert set(found) == set(itertools.permutations(range(n)))
    assert len(set(found.values())) == 1


def test_orders_fit_the_uniform_law():
    source = SeededSource(1)
    found = Counter(tuple(permutation(4, source).tolist()) for _ in range(24_000))
    assert fits([found[order] for order in itertools.permutations(range(4))], np.full(24, 1 / 24))


def test_places_fit_the_uniform_law():
    order = permutation(1_000_000, SeededSource(2))
    assert (np.sort(order) == np.arange(1_000_000)).all()
    assert fits(np.bincount(10 * (order // 100_000) + np.arange(1_000_000) // 100_000), np.full(100, 0.01))


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_shuffle(n):
    assert permutation(n, SeededSource(1)).tolist() == list(range(n))
