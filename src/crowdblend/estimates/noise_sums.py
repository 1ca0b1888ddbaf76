"""How far the noise of many cells adds up."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from crowdblend.estimates.laws import laplace_cumulants

# A longer transform takes seconds and more memory than it is worth.
_LONGEST = 1 << 22


@lru_cache(maxsize=4096)
def sum_reach(cells: int, loss: float, level: float) -> int:
    """The smallest r with P[|sum of the noise of so many cells| > r] ≤ level, for discrete Laplace noise of that loss.

    The sum's distribution is the inverse Fourier transform of a power. Fewer noisy cells reach less far: adding a
    symmetric unimodal number spreads a symmetric unimodal one. Where the transform would be very long, the answer is
    Chernoff's bound, which is larger.

    >>> sum_reach(1, 1.0, 0.05), sum_reach(100, 1.0, 0.05)
    (3, 27)
    """
    if cells == 0:
        return 0
    variance, _ = laplace_cumulants(loss)
    wide = 12 * math.sqrt(cells * variance) + 60 / loss
    size = 1 << max(6, math.ceil(math.log2(2 * wide)))
    if size > _LONGEST:
        return _bound(cells, loss, level)
    a = math.exp(-loss)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    transform = (1 - a) ** 2 / (1 - 2 * a * np.cos(angles) + a * a)
    masses = np.fft.irfft(transform**cells, size)[: size // 2]
    # Beyond r there are two tails; rounding of the transform is far below any level.
    beyond = 1 - (masses[0] + 2 * (np.cumsum(masses) - masses[0]))
    return int(np.argmax(beyond <= level))


def _bound(cells: int, loss: float, level: float) -> int:
    """An r that the sum exceeds, in either direction, with probability at most level.

    Of one cell P[|Y| > r] = 2a^(r+1)/(1+a) is below 2e^(−εr). Of several, P[|S| > r] ≤ 2e^(−tr)·M(t)^cells for every t
    below ε, with M(t) = (1−a)²/((1−a)² − 4a·sinh²(t/2)), the moments of one.
    """
    if cells == 1:
        return math.ceil(math.log(2 / level) / loss)
    a, gap = math.exp(-loss), -math.expm1(-loss)
    t = loss * np.linspace(0.001, 0.999, 999)
    moments = -np.log1p(-4 * a * np.sinh(t / 2) ** 2 / gap**2)
    return math.ceil(float(np.min((cells * moments + math.log(2 / level)) / t)))
