"""Goodness of fit with a false-alarm rate of one in a billion per test.

Seeds are fixed, so a test either always passes or always fails; the rate is that of an unlucky seed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, chi2

FALSE_ALARM = 1e-9
# Fewer expected values than this are pooled with their neighbours towards the tail.
LEAST_EXPECTED = 5


def fits(observed: ArrayLike, probabilities: ArrayLike) -> bool:
    """Whether counts of outcomes agree with their probabilities, which must sum to 1."""
    seen, law = np.asarray(observed, dtype=float), np.asarray(probabilities, dtype=float)
    assert abs(law.sum() - 1) < 1e-9
    expected = law * seen.sum()
    common = expected >= LEAST_EXPECTED
    cells = [(seen[common], expected[common]), (seen[~common].sum()[None], expected[~common].sum()[None])]
    both = np.concatenate([np.stack(cell) for cell in cells], axis=1)
    both = both[:, both[1] > 0]
    statistic = ((both[0] - both[1]) ** 2 / both[1]).sum()
    return bool(chi2.sf(statistic, both.shape[1] - 1) > FALSE_ALARM)


def fits_whole_numbers(values: ArrayLike, law: Sequence[float], first: int) -> bool:
    """Whether draws agree with a law on first, first+1, … whose missing mass is everything outside."""
    drawn = np.asarray(values) - first
    inside = drawn[(drawn >= 0) & (drawn < len(law))]
    counts = np.bincount(inside, minlength=len(law))
    return fits([*counts, len(drawn) - len(inside)], [*law, max(0.0, 1 - sum(law))])


def fits_share(heads: int, flips: int, share: float) -> bool:
    """Whether a number of heads agrees with a probability (exact binomial test)."""
    return bool(binomtest(heads, flips, share).pvalue > FALSE_ALARM)
