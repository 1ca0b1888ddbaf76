"""Intervals for the number of people in a range, whose published value is a sum of many noisy cells.

The value is T = X + V: of N people X ~ Bin(N, rate) are sampled, and V is a weighted sum of the noise of cells. The
interval has every N for which neither tail of T is rare: P[T ≥ value] and P[T ≤ value] are both above half of the
level. So it does not fail where few people are sampled, as an interval does whose width follows from the value.

The law of V lies between that of one cell, whose noise is discrete Laplace noise, and a normal one. Its tail is taken
as the larger of both with V's variance, which makes intervals wider and not narrower. docs/reading.md says how often
they hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from crowdblend.methods.estimates.acceptance import DEVIATIONS, log_binomial
from crowdblend.methods.estimates.laws import Floats

# The law of who is sampled is added up at this many places at most.
_PLACES = 2_000
# More people than this are not looked for: no table of them fits anywhere.
_MOST = 1 << 60


def range_interval(value: float, variance: float, rate: float, confidence: float) -> tuple[int, int]:
    """Return the ends for a value in sampled people, whose noise has this variance.

    >>> range_interval(0.0, 0.5, 0.01, 0.95)
    (0, 449)
    """
    level = (1 - confidence) / 2
    # The chance of so large a value rises with N, that of so small a one falls.
    low = _first(lambda people: value_or_more(value, variance, rate, people) > level)
    high = _first(lambda people: value_or_less(value, variance, rate, people) <= level) - 1
    return low, max(low, high)


def value_or_more(value: float, variance: float, rate: float, people: int) -> float:
    """Return the probability of this value or a larger one where the range has this many people; rather too large."""
    sampled, masses = _draws(rate, people)
    return float(masses @ noise_tail(value - sampled, variance))


def value_or_less(value: float, variance: float, rate: float, people: int) -> float:
    """Return the probability of this value or a smaller one, rather too large."""
    sampled, masses = _draws(rate, people)
    return float(masses @ noise_tail(sampled - value, variance))


def noise_tail(reach: Floats, variance: float) -> Floats:
    """Return the probability that the noise is this or more: the larger one of discrete Laplace and normal noise.

    With a the ratio of discrete Laplace noise, P[V ≥ r] = a^r/(1 + a) for whole r ≥ 0, and 1 − a^(1 − r)/(1 + a) below.
    Between whole numbers, where weighted sums lie, the curves through these points are above the steps.
    """
    # 2a/(1 − a)² is the variance.
    a = variance / (1 + variance + math.sqrt(1 + 2 * variance))
    distance = np.abs(reach)
    far = np.exp(np.where(reach >= 0, distance, distance + 1) * math.log(a)) / (1 + a)
    laplace = np.where(reach >= 0, far, 1 - far)
    # Whole numbers have half a step to either side.
    normal = _normal_tail((reach - 0.5) / math.sqrt(variance))
    larger: Floats = np.maximum(laplace, normal)
    return larger


def _draws(rate: float, people: int) -> tuple[Floats, Floats]:
    """Return numbers of sampled people with their probabilities; of very many people some numbers for all near them."""
    if rate >= 1:
        return np.array([float(people)]), np.ones(1)
    far = DEVIATIONS * math.sqrt(people * rate * (1 - rate)) + 30
    least, most = max(0, math.floor(people * rate - far)), min(people, math.ceil(people * rate + far))
    sampled = np.unique(np.linspace(least, most, min(_PLACES, most - least + 1)).astype(np.int64))
    logs = log_binomial(np.array([people], np.int64), sampled, rate)[0]
    masses = np.exp(logs - logs.max())
    return sampled.astype(np.float64), masses / masses.sum()


def _normal_tail(deviations: Floats) -> Floats:
    """Return P[a normal number is this many deviations or more above its mean], between places by straight lines."""
    tails: Floats = np.interp(deviations, _DEVIATIONS, _TAILS)
    return tails


_DEVIATIONS = np.linspace(-9, 9, 18_001)
_TAILS = np.array([NormalDist().cdf(-place) for place in _DEVIATIONS.tolist()])


def _first(holds: Callable[[int], bool]) -> int:
    """Return the smallest number that something holds for, which holds for all larger ones."""
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high) and high < _MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
