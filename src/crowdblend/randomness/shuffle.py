"""Uniformly random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdblend.randomness.source import Source


def permutation(n: int, source: Source) -> NDArray[np.int64]:
    """The numbers 0, …, n − 1 in an order that is exactly uniform among all n! of them.

    Sort by independent uniform reals: they differ with probability 1, and any renaming of the numbers leaves their
    law as it is, so every order is equally likely. Sixty-four bits of each real settle all but a few; numbers whose
    bits agree are ordered by their further bits, which is a uniform permutation of those few.

    >>> from crowdblend.randomness.source import SeededSource
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
