import itertools
from collections import Counter
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import SeededSource, thin
from crowdblend.trusted.randomness.binomial import GROUP, MOST_PEOPLE
from tests.cases import for_each

from .goodness import fits, fits_share, fits_whole_numbers
from .tape import EndOfTapeError, Tape

# What a database hands over for NULL: a number that must not be used, under a mask.
GAP = np.ma.masked_array([5, 6], mask=[False, True])


def one_person_at_a_time(counts, rate, source):
    """The definition, word for word: the undecided people of a group take one bit each for every digit."""
    kept = [0] * len(counts)
    top, bottom = rate.as_integer_ratio()
    digits = [int(digit) for digit in format(top, f"0{bottom.bit_length() - 1}b")]
    for start in range(0, len(counts), GROUP):
        undecided = [i for i, count in enumerate(counts[start : start + GROUP], start) for _ in range(count)]
        for digit in digits:
            words = source.words(-(-len(undecided) // 64)).tolist()
            bits = [words[j // 64] >> j % 64 & 1 for j in range(len(undecided))]
            for person, bit in zip(undecided, bits, strict=True):
                kept[person] += bit < digit
            undecided = [person for person, bit in zip(undecided, bits, strict=True) if bit == digit]
    return kept


@for_each("counts", [(1,), (2,), (1, 2), (3, 0, 1)])
@for_each("rate", [1 / 2, 1 / 4, 3 / 4, 5 / 8, 1 / 8, 7 / 8], daily=3)
def test_the_law_is_exactly_binomial(counts, rate):
    """Every stream of the bits that can matter, once each: the law in fractions, jointly over the classes."""
    people, digits = sum(counts), rate.as_integer_ratio()[1].bit_length() - 1
    law: Counter[Any] = Counter()
    for bits in itertools.product(range(2**people), repeat=digits):
        # The unused high bits of a word are set, to show that they do not count.
        tape = Tape.of_words(2**64 - 2**people + low for low in bits)
        law[tuple(thin(counts, rate, tape).tolist())] += Fraction(1, 2 ** (people * digits))  # type: ignore[assignment]
    share = Fraction(rate)
    for kept in itertools.product(*(range(count + 1) for count in counts)):
        expected = Fraction(1)
        for n, j in zip(counts, kept, strict=True):
            expected *= comb(n, j) * share**j * (1 - share) ** (n - j)
        assert law.pop(kept, 0) == expected
    assert not law


@for_each("share", [Fraction(1, 3), Fraction(2, 3), Fraction(3, 7)])
def test_a_fraction_without_end_is_met_digit_by_digit(share):
    """The law of one person after m digits is within 2^-m of the share: kept or undecided, never beyond."""
    digits = 8
    kept = undecided = 0
    for stream in range(2**digits):
        tape = Tape.of_words(2**64 - 2 + (stream >> place & 1) for place in range(digits))
        try:
            kept += int(thin([1], share, tape)[0])
        except EndOfTapeError:
            undecided += 1
    assert undecided == 1
    assert Fraction(kept, 2**digits) < share < Fraction(kept + undecided, 2**digits)


def test_a_fraction_that_is_a_double_draws_like_the_double():
    counts = np.arange(1000)
    assert (thin(counts, Fraction(0.3), SeededSource(3)) == thin(counts, 0.3, SeededSource(3))).all()


@for_each("share", [Fraction(1, 3), Fraction(8, 9)])
def test_draws_of_a_fraction_fit_the_law(share):
    draws = thin(np.full(300_000, 6), share, SeededSource(8))
    assert fits_whole_numbers(draws, binom.pmf(np.arange(7), 6, float(share)), 0)


@settings(deadline=None)
@given(st.lists(st.integers(0, 300), max_size=30), st.floats(0.001, 0.999), st.integers(1, 9), st.integers(0, 99))
def test_the_fast_way_is_the_definition(counts, rate, chunk, seed):
    expected = one_person_at_a_time(counts, rate, SeededSource(seed))
    assert thin(counts, rate, SeededSource(seed), chunk=chunk).tolist() == expected


def test_groups_follow_each_other():
    counts = np.arange(2 * GROUP + 5) % 3
    expected = one_person_at_a_time(counts.tolist(), 0.3, SeededSource(1))
    assert thin(counts, 0.3, SeededSource(1)).tolist() == expected


@for_each("chunk", [1, 2, 63, 1000, 10**6])
def test_the_size_of_chunks_changes_nothing(chunk):
    counts = [0, 1, 64, 63, 65, 128, 100_000, 0, 1, 1, 192, 7]
    assert (thin(counts, 0.3, SeededSource(1), chunk=chunk) == thin(counts, 0.3, SeededSource(1))).all()


@for_each(("n", "rate"), [(1, 0.1), (20, 0.1), (64, 0.5), (100, 0.97), (7, 1 / 3)], daily=3)
def test_draws_fit_the_law_to_the_tails(n, rate):
    draws = thin(np.full(1_000_000, n), rate, SeededSource(n))
    assert fits_whole_numbers(draws, binom.pmf(np.arange(n + 1), n, rate), 0)


def test_neighbouring_classes_are_independent():
    draws = thin(np.full(2_000_000, 3), 0.4, SeededSource(5))
    law = binom.pmf(np.arange(4), 3, 0.4)
    pairs = np.bincount(4 * draws[::2] + draws[1::2], minlength=16)
    assert fits(pairs, np.outer(law, law).ravel())


def test_large_classes():
    kept = thin([10**8, 10**7], 0.1, SeededSource(6))
    assert fits_share(int(kept[0]), 10**8, 0.1)
    assert fits_share(int(kept[1]), 10**7, 0.1)


@for_each("rate", [5e-324, 2.0**-100, 1 - 2.0**-53])
def test_extreme_rates(rate):
    kept = thin([1000, 1], rate, SeededSource(1))
    assert kept.tolist() == ([1000, 1] if rate > 0.5 else [0, 0])


def test_nobody_and_everybody():
    assert thin([3, 4], 0.0, SeededSource(1)).tolist() == [0, 0]
    assert thin([3, 4], 1.0, SeededSource(1)).tolist() == [3, 4]
    assert thin([], 0.5, SeededSource(1)).tolist() == []
    assert thin([0, 0], 0.5, Tape(b"")).tolist() == [0, 0]


def test_the_counts_are_not_changed():
    counts = np.array([5, 6])
    thin(counts, 1.0, SeededSource(1))[0] = 99
    thin(counts, 0.5, SeededSource(1))
    assert counts.tolist() == [5, 6]


@for_each("counts", [[-1], [0.5], ["1"], [[1, 2]], [MOST_PEOPLE + 1], 3, [True], GAP])
def test_wrong_counts_are_refused(counts):
    with pytest.raises(InvalidInput, match="counts must be"):
        thin(counts, 0.5, SeededSource(1))


@for_each("rate", [-0.1, 1.5, float("nan")])
def test_wrong_rates_are_refused(rate):
    with pytest.raises(InvalidInput, match="rate must be between 0 and 1"):
        thin([1], rate, SeededSource(1))
