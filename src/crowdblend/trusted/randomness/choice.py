"""Uniform whole numbers, uniform subsets of a range too large to list, and uniform orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.source import Source

LARGEST_RANGE = 1 << 62


def uniform(n: int, size: int, source: Source) -> NDArray[np.int64]:
    """n independent numbers, each equally likely to be any of 0, …, size − 1.

    The high bits of a word are uniform below the next power of two; those not below `size` are drawn again, so what
    stays is uniform and nothing is folded over.
    """
    _check_range(size)
    values = np.zeros(n, dtype=np.int64)
    bits = (size - 1).bit_length()
    have = n if bits == 0 else 0
    while have < n:
        drawn = (source.words(n - have) >> np.uint64(64 - bits)).astype(np.int64)
        fits = drawn[drawn < size]
        values[have : have + len(fits)] = fits
        have += len(fits)
    return values


def distinct(n: int, size: int, source: Source) -> NDArray[np.int64]:
    """Return a set of n different places among 0, …, size − 1, every such set equally likely, in rising order.

    Uniform places are drawn until n different ones have been seen. Renaming the places does not change the law of
    that process, so all sets of n are equally likely. It never draws more at once than are still missing, hence
    never past the n-th. When more than half of the range is wanted, the places left out are drawn instead.

    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> distinct(3, 10**9, SeededSource(1)).tolist()
    [866096787, 898418213, 913233536]
    """
    _check_range(size)
    if not 0 <= n <= size:
        message = f"The number of different places must be between 0 and {size}, got {n}."
        raise InvalidInput(message, where="n", code="randomness.places")
    if 2 * n > size:
        left = np.ones(size, dtype=np.bool_)
        left[distinct(size - n, size, source)] = False
        return np.flatnonzero(left)
    return _complete(np.empty(0, dtype=np.int64), n, size, source)


def distinct_rows(times: int, n: int, size: int, source: Source) -> NDArray[np.int64]:
    """Return independent sets of n different places, drawn as by `distinct`, one per row."""
    if 2 * n > size:
        left = np.ones((times, size), dtype=np.bool_)
        left[np.arange(times)[:, np.newaxis], distinct_rows(times, size - n, size, source)] = False
        return np.nonzero(left)[1].reshape(times, n)
    drawn = np.sort(uniform(times * n, size, source).reshape(times, n), axis=1)
    for row in np.flatnonzero((np.diff(drawn, axis=1) == 0).any(axis=1)):
        drawn[row] = _complete(np.unique(drawn[row]), n, size, source)
    return drawn


def _complete(places: NDArray[np.int64], n: int, size: int, source: Source) -> NDArray[np.int64]:
    """Different places with as many more as are missing."""
    while len(places) < n:
        drawn = np.sort(np.concatenate([places, uniform(n - len(places), size, source)]))
        places = drawn[np.diff(drawn, prepend=-1) > 0]
    return places


def _check_range(size: int) -> None:
    if not 1 <= size <= LARGEST_RANGE:
        raise InvalidInput(
            f"The size of a range must be between 1 and 2^62, got {size}.", where="size", code="randomness.size"
        )


def permutation(n: int, source: Source) -> NDArray[np.int64]:
    """Return the numbers 0, …, n − 1 in an order that is exactly uniform among all n! of them.

    Sort by independent uniform reals: they differ with probability 1, and any renaming of the numbers leaves their
    law as it is, so every order is equally likely. Sixty-four bits of each real settle all but a few; numbers whose
    bits agree are ordered by their further bits, which is a uniform permutation of those few.

    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> permutation(5, SeededSource(1)).tolist()
    [3, 4, 2, 0, 1]
    """
    keys = source.words(n)
    order: NDArray[np.int64] = np.argsort(keys).astype(np.int64, copy=False)
    ranked = keys[order]
    new = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1], [True]]))
    if len(new) <= n:
        for run in np.flatnonzero(np.diff(new) > 1):
            # Sorted first, because the order that argsort leaves equal keys in may differ between machines.
            tied = np.sort(order[new[run] : new[run + 1]])
            order[new[run] : new[run + 1]] = tied[permutation(len(tied), source)]
    return order
