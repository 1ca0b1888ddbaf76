"""Fast arithmetic: NumPy doubles, vectorized, for plots and first guesses. Accurate, but never a proof."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdblend.lazy import lazy

if TYPE_CHECKING:
    from scipy import special
else:
    special = lazy("scipy.special")

Floats = NDArray[np.float64]

largest = 1e15
_HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


def number(value: ArrayLike) -> Floats:
    """The value as an array of doubles."""
    return np.asarray(value, dtype=np.float64)


def quietly() -> np.errstate:
    """A context in which limits such as 0·∞ pass without a warning; they come out as 0 where it matters."""
    return np.errstate(all="ignore")


def aligned(*values: ArrayLike) -> tuple[Floats, ...]:
    """Arrays of one shape."""
    return tuple(np.broadcast_arrays(*map(number, values)))


def ceil(value: Floats) -> Floats:
    """The ceilings, none above the largest size that is evaluated."""
    return np.nan_to_num(np.minimum(np.ceil(value), largest), nan=largest)


def at_least(whole: Floats, least: Floats) -> Floats:
    """The larger of two numbers, place by place."""
    return np.maximum(whole, least)


def maximum(*values: Floats) -> Floats:
    """The largest of several numbers, place by place."""
    return reduce(np.maximum, values)


def minimum(*values: Floats) -> Floats:
    """The smallest of several numbers, place by place."""
    return reduce(np.minimum, values)


def exp(value: Floats) -> Floats:
    """e to a number."""
    return np.exp(value)


def log(value: Floats) -> Floats:
    """The natural logarithm."""
    return np.log(value)


def sqrt(value: Floats) -> Floats:
    """The square root."""
    return np.sqrt(value)


def nonnegative(value: Floats) -> Floats:
    """The number where it is positive, 0 elsewhere."""
    return np.nan_to_num(np.maximum(value, 0.0), nan=0.0)


def at_most(value: Floats) -> Floats:
    """The value itself, the largest number that it allows."""
    return value


def surely(condition: Any) -> bool:
    """Whether a comparison holds at every place."""
    return bool(np.all(condition))


def pmf(n: Floats, j: Floats, p: Floats) -> Floats:
    """P[X = j] for X ~ Bin(n, p); 0 where j is impossible."""
    with np.errstate(invalid="ignore", divide="ignore", under="ignore"):
        return np.nan_to_num(np.where((j >= 0) & (j <= n), np.exp(log_pmf(n, j, p)), 0.0))


def log_pmf(n: Floats, j: Floats, p: Floats) -> Floats:
    """Loader's saddle-point form: no large numbers are subtracted, so all digits survive at any n."""
    n, j, p = np.broadcast_arrays(number(n), number(j), number(p))
    inner = (
        _stirling_error(n)
        - _stirling_error(j)
        - _stirling_error(n - j)
        - _deviance(j, n * p)
        - _deviance(n - j, n * (1 - p))
        + 0.5 * np.log(n / (j * (n - j)))
        - _HALF_LOG_TAU
    )
    return np.where(j == 0, n * np.log1p(-p), np.where(j == n, n * np.log(p), inner))


def _stirling_error(x: Floats) -> Floats:
    """log x! minus Stirling's formula."""
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * x * x)) / (x * x)) / (x * x)) / x
    direct = special.gammaln(x + 1) - (x + 0.5) * np.log(x) + x - _HALF_LOG_TAU
    return np.where(x > 30, series, direct)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x·log(x/mean) + mean − x, without cancellation when x is near the mean."""
    v = (x - mean) / (x + mean)
    odd, power, total = 2 * x * v, v * v, (x - mean) * v
    for i in range(1, 12):
        odd = odd * power
        total = total + odd / (2 * i + 1)
    return np.where(np.abs(v) < 0.1, total, x * np.log(x / mean) + mean - x)


def above(n: Floats, j: Floats, p: Floats) -> Floats:
    """P[X > j] / P[X = j], the upper Mills ratio."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        p = number(p)
        return _falling(number(n) - j, number(j) + 1, p / (1 - p))


def below(n: Floats, j: Floats, p: Floats) -> Floats:
    """P[X < j] / P[X = j], the lower Mills ratio."""
    return above(n, number(n) - j, 1 - number(p))


def _falling(top: Floats, bottom: Floats, odds: Floats) -> Floats:
    """The same series as in `balls`, for all cases side by side."""
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom), np.shape(odds))
    term, total, step = np.ones(shape), np.zeros(shape), 0
    while True:
        ratio = odds * np.maximum(top - step, 0) / (bottom + step)
        term = term * ratio
        total = total + term
        step += 1
        if np.all((term == 0) | ((ratio < 1) & (term * ratio <= 1e-17 * total * (1 - ratio)))):
            return total
