"""Laplace or Gaussian noise for tables that share one budget: whichever makes the smaller error, before any data.

Noise of loss ε on one table adds to the loss of all of them about what normal noise of standard deviation ε would, so
that by curves the squares of losses share μ², the largest with which a normal loss keeps to the budget; by sums the
losses share ε. Gaussian noise shares μ² alone, with √(2/π) of the mean error of Laplace noise at the same share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from crowdblend.numerics.mechanism_curves import LARGEST_SIGMA, SMALLEST_SIGMA

_NORMAL = NormalDist()
_HALVINGS = 60
# Beyond, noise is hardly ever anything but 0, and normal losses say nothing of it.
_LARGEST_EPSILON = 50.0


def gaussian_sigmas(
    cells: Sequence[int], weights: Sequence[float], *, epsilon: float, delta: float, rate: float, releases: int = 1
) -> tuple[float, ...] | None:
    """Return standard deviations of Gaussian noise on tables with this many cells, about as small as the budget allows.

    None where Laplace noise is surely no worse: what is taken for its losses is less than curves allow it. The mean
    error of all cells is smallest where losses of Laplace noise grow as the square root, and one over the standard
    deviations of Gaussian noise as the third root, of the number of cells.

    >>> [gaussian_sigmas([100] * k, [1.0] * k, epsilon=1.0, delta=1e-6, rate=1.0) is None for k in (5, 10, 15, 36)]
    [True, True, False, False]
    """
    if epsilon > _LARGEST_EPSILON:
        return None
    loss = math.log1p(math.expm1(epsilon) / rate) / releases
    most = largest_deviation(loss * releases, min(delta / rate, 0.5)) / math.sqrt(releases)
    thirds = [weight * size ** (1 / 3) for weight, size in zip(weights, cells, strict=True)]
    roots = [weight * math.sqrt(size) for weight, size in zip(weights, cells, strict=True)]
    whole = math.sqrt(math.fsum(part**2 for part in thirds))
    sigmas = tuple(whole / (most * part) for part in thirds)
    laplace = max(loss / math.fsum(roots), most / math.sqrt(math.fsum(part**2 for part in roots)))
    errors = math.fsum(size / (laplace * part) for size, part in zip(cells, roots, strict=True))
    ours = math.fsum(size * math.sqrt(2 / math.pi) * sigma for size, sigma in zip(cells, sigmas, strict=True))
    drawn = all(2 * SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA / 2 for sigma in sigmas)
    return sigmas if drawn and ours < errors else None


def largest_deviation(epsilon: float, delta: float) -> float:
    """Return about the largest μ whose normal loss, of mean μ²/2 and deviation μ, keeps to this ε and δ."""
    low, high = 0.0, 2 * epsilon + 10
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near, far = middle / 2 - epsilon / middle, -middle / 2 - epsilon / middle
        beyond = _NORMAL.cdf(near) - math.exp(epsilon) * _NORMAL.cdf(far)
        low, high = (middle, high) if beyond <= delta else (low, middle)
    return low
