"""How far the noise of many cells adds up."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from crowdblend.estimates.laws import laplace_cumulants

# Wider sums are bounded instead of transformed.
LARGEST_TRANSFORM = 1 << 20


@lru_cache(maxsize=4096)
def sum_reach(cells: int, loss: float, level: float) -> int:
    """The smallest r with P[|sum of the noise of so many cells| > r] ≤ level, for discrete Laplace noise of that loss.

    The sum's distribution is the inverse Fourier transform of a power. Fewer noisy cells reach less far: adding a
    symmetric unimodal number spreads a symmetric unimodal one.

    >>> sum_reach(1, 1.0, 0.05), sum_reach(100, 1.0, 0.05)
    (3, 27)
    """
    if cells == 0:
        return 0
    variance, _ = laplace_cumulants(loss)
    wide = 12 * math.sqrt(cells * variance) + 60 / loss
    size = 1 << max(6, math.ceil(math.log2(2 * wide)))
    a = math.exp(-loss)
    if size > LARGEST_TRANSFORM:
        return _bounded(cells, loss, level)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    transform = (1 - a) ** 2 / (1 - 2 * a * np.cos(angles) + a * a)
    masses = np.fft.irfft(transform**cells, size)[: size // 2]
    # Beyond r there are two tails; rounding of the transform is far below any level.
    beyond = 1 - (masses[0] + 2 * (np.cumsum(masses) - masses[0]))
    return int(np.argmax(beyond <= level))


def _bounded(cells: int, loss: float, level: float) -> int:
    """Chernoff's bound, P[|sum| ≥ r] ≤ 2·E[e^{tY}]^cells·e^{−tr}, at the best of many t; never too small."""
    t = loss * np.linspace(1e-4, 0.9999, 20_000)
    # E[e^{tY}] = (1 − a)²/((1 − ae^t)(1 − ae^{−t})), written without cancellation.
    log_moment = 2 * math.log(-math.expm1(-loss)) - np.log(-np.expm1(t - loss)) - np.log(-np.expm1(-t - loss))
    return math.ceil(float(np.min((cells * log_moment + math.log(2 / level)) / t)))
