"""Exact discrete Gaussian noise on the whole numbers: P[Y = y] ∝ e^{−y²/(2σ²)}, for the exact value of σ.

Theorem. What is drawn here has exactly this law; nothing is rounded and no tail is cut off.

Proof (Canonne, Kamath and Steinke 2020, Algorithm 3). With t = ⌊σ⌋ + 1, a candidate y is discrete Laplace with ratio
e^{−1/t}, and is accepted by a coin of probability e^{−(|y| − σ²/t)²/(2σ²)}, else another one is drawn. Both together
have the weight e^{−|y|/t − (|y| − σ²/t)²/(2σ²)} = e^{−y²/(2σ²)}·e^{−σ²/(2t²)}. Candidates and coins are exact. ∎

Values are drawn in blocks of BLOCK, in order: in a block the candidates of all that are open, then their coins by
rising |y|, and again for those that were not accepted. That order is fixed: a key gives the same noise for ever.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.noise import BLOCK, Whole, discrete_laplace
from crowdblend.trusted.randomness.probability import Bounds, enclose, flips
from crowdblend.trusted.randomness.source import Source

SMALLEST_SIGMA, LARGEST_SIGMA = 0.5, 20_000.0


def discrete_gaussian(n: int, sigma: float, source: Source) -> Whole:
    """n independent discrete Gaussian variables.

    >>> from crowdblend.trusted.randomness.source import SeededSource
    >>> discrete_gaussian(8, 3.0, SeededSource(1)).tolist()
    [0, 5, 3, -1, 0, 1, 3, 1]
    """
    if not SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA:
        message = f"sigma must be between {SMALLEST_SIGMA:g} and {LARGEST_SIGMA:,.0f}, got {sigma}."
        raise InvalidInput(message, where="sigma", code="randomness.sigma")
    values = np.empty(n, dtype=np.int64)
    for start in range(0, n, BLOCK):
        values[start : start + BLOCK] = _block(min(BLOCK, n - start), sigma, source)
    return values


def _block(n: int, sigma: float, source: Source) -> Whole:
    values, waiting = np.zeros(n, dtype=np.int64), np.arange(n)
    scale = Fraction(1, int(sigma) + 1)
    while len(waiting):
        candidates = discrete_laplace(len(waiting), scale, source)
        sizes, kept = np.abs(candidates), np.zeros(len(waiting), np.bool_)
        for size in np.unique(sizes).tolist():
            here = np.flatnonzero(sizes == size)
            kept[here] = flips(len(here), _accepts(sigma, size), source)
        values[waiting[kept]] = candidates[kept]
        waiting = waiting[~kept]
    return values


@lru_cache(maxsize=1 << 14)
def _accepts(sigma: float, size: int) -> Bounds:
    """Return the probability that a candidate of this size is kept."""
    variance = Fraction(sigma) ** 2
    exponent = (size - variance / (int(sigma) + 1)) ** 2 / (2 * variance)
    exact = -fmpq(exponent.numerator, exponent.denominator)
    return enclose(lambda: arb(exact).exp())
