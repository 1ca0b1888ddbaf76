"""Exact binomial thinning: keep each of n people with the same probability, knowing only n.

Theorem. `thin` turns counts n_1, n_2, … into independent Binomial(n_c, rate) variables, exactly.

Proof. Let 0.b₁b₂…b_m be the binary expansion of the rate below 1, finite for a double and perhaps without end for a
fraction, and give every person an own uniform real U = 0.u₁u₂…; keep the person if U < rate, which has probability
rate. The first i with u_i ≠ b_i decides: u_i = 0, b_i = 1 means U < rate (kept), u_i = 1, b_i = 0 means U ≥ rate
(dropped). Anyone who agrees with all m digits has U ≥ rate and is dropped; nobody agrees with digits without end, but
with probability 0. Given that the first i−1 digits of exactly r people of a class agree, the next
digits of those r people are r fair independent bits, and which r people they are does not matter for the count. So
going digit by digit with r fresh bits of the stream for r undecided people, and counting the zeros among them, gives
the number of people kept in each class; different classes use different bits. ∎

Half of the undecided people leave at each digit, so everything takes 2 bits a person on average.

The order in which bits are used is part of the definition, so that a key gives the same counts for ever. Classes are
taken in groups of GROUP in the order given; in a group the digits follow each other from b₁ to the last digit that is
1; for one digit the undecided people of the group take one bit each, class after class, from the low end of each
word, and the next digit starts at a fresh word. CHUNK bounds memory and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.source import Source

Counts = NDArray[np.int64]
# Classes that advance together. Part of the definition of the stream: never change it.
GROUP = 1 << 15
# Words held at a time: half a megabyte of random bits, whatever the size of a class.
CHUNK = 1 << 16
# In one class, so that the sum over a group stays exact in 64 bits.
MOST_PEOPLE = 1 << 47
EVERY_BIT_BUT_THE_FIRST = np.uint64(2**64 - 2)


def thin(counts: ArrayLike, rate: float | Fraction, source: Source, *, chunk: int = CHUNK) -> Counts:
    """Independent Binomial(count, rate) draws, for the exact value of `rate`.

    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> thin([0, 1000, 1000], 0.5, SeededSource(1)).tolist()
    [0, 474, 477]
    """
    people = _counts(counts)
    if not 0 <= rate <= 1:
        message = f"rate must be between 0 and 1, got {rate}. Pass the share of people kept."
        raise InvalidInput(message, where="rate", code="randomness.rate")
    if rate in (0, 1):
        return people.copy() if rate else np.zeros_like(people)
    kept = np.zeros_like(people)
    for start in range(0, len(people), GROUP):
        _thin_group(people[start : start + GROUP], _digits(rate), source, chunk, kept[start : start + GROUP])
    return kept


def _thin_group(people: Counts, digits: Iterator[bool], source: Source, chunk: int, counts: Counts) -> None:
    active = np.flatnonzero(people)
    undecided = people[active]
    for digit in digits:
        if not len(active):
            return
        ones = _ones(undecided, source, chunk)
        if digit:
            counts[active] += undecided - ones
            undecided = ones
        else:
            undecided = undecided - ones
        left = np.flatnonzero(undecided)
        active, undecided = active[left], undecided[left]


def _ones(sizes: Counts, source: Source, chunk: int) -> Counts:
    """Return the number of ones in each of several consecutive, non-empty runs of fresh bits."""
    last = np.cumsum(sizes) - 1
    upto = np.zeros(len(sizes) + 1, dtype=np.int64)
    needed = (int(last[-1]) >> 6) + 1
    counted = seen = 0
    for first in range(0, needed, chunk):
        words = source.words(min(chunk, needed - first))
        through = np.cumsum(np.bitwise_count(words), dtype=np.int64)
        # The runs whose last bit is in these words. Up to it there are the ones of all earlier words and its own,
        # without those of its own word that lie above it.
        stop = int(np.searchsorted(last, 64 * (first + len(words))))
        bit = last[counted:stop] - 64 * first
        word = bit >> 6
        above = np.bitwise_count(words[word] & (EVERY_BIT_BUT_THE_FIRST << (bit & 63).astype(np.uint64)))
        upto[counted + 1 : stop + 1] = seen + through[word] - above
        counted, seen = stop, seen + int(through[-1])
    return np.diff(upto)


def _digits(rate: float | Fraction) -> Iterator[bool]:
    """Yield the binary expansion of the rate from its first place to its last 1, or without end."""
    top, bottom = rate.as_integer_ratio()
    while top:
        top *= 2
        yield top >= bottom
        top %= bottom


def _counts(counts: ArrayLike) -> Counts:
    given = np.asarray(counts)
    if given.ndim != 1 or np.ma.is_masked(counts) or (given.dtype.kind not in "iu" and len(given)):
        message = "counts must be a list of whole numbers; pass how many people each class has."
        raise InvalidInput(message, where="counts", code="randomness.counts")
    if len(given) and (given.min() < 0 or given.max() > MOST_PEOPLE):
        message = f"counts must be between 0 and {MOST_PEOPLE}; pass how many people each class has."
        raise InvalidInput(message, where="counts", code="randomness.counts")
    return given.astype(np.int64)
