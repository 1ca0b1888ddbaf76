"""Binomial probabilities in doubles, for any number of people and any rate.

Factorials of many people have logarithms so large that their differences have no digits left. As in Loader, Fast and
accurate computation of binomial probabilities (2000), the probability is written by how far x is from its mean:

    log P = e(N) − e(x) − e(N − x) − N·rate·f(t) − N(1 − rate)·f(u) + ½·log(N / (2π·x·(N − x))),   0 < x < N

with e(n) the error of Stirling's formula for n!, f(t) = (1 + t)·log(1 + t) − t, t = (x − N·rate) / (N·rate) and
u = −(x − N·rate) / (N(1 − rate)). The error of N·rate·f(t) is about |x − N·rate| units in the last place.

Of consecutive x only the first one needs it: P(x + 1) / P(x) = (N − x)·rate / ((x + 1)(1 − rate)).
"""

from __future__ import annotations

import math

import numpy as np

from crowdblend.estimates.laws import Floats, Whole

_FEW = 64
_ERRORS = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, _FEW)]
)
# Up to this rate the product of 64 ratios, where nearly everybody is drawn, is far from the largest double.
_HIGH = 0.999


def binomial_weights(people: Whole, sample_sizes: Whole, rate: float) -> tuple[Floats, Floats]:
    """P[Bin(N, rate) = x] for consecutive x, a row for every N: up to a factor, and its logarithm."""
    if rate > _HIGH:
        logs = log_binomial(people, sample_sizes, rate)
        scale: Floats = np.max(logs, axis=1)
        return np.exp(logs - scale[:, None]), scale
    weights = np.empty((len(people), len(sample_sizes)))
    weights[:, 0] = 1.0
    before = sample_sizes[:-1].astype(np.float64)
    np.subtract(people[:, None], before, out=weights[:, 1:])
    np.maximum(weights, 0.0, out=weights)  # nobody is left beyond N
    weights[:, 1:] *= rate / (1 - rate) / (before + 1)
    return np.cumprod(weights, axis=1, out=weights), log_binomial(people, sample_sizes[:1], rate)[:, 0]


def log_binomial(people: Whole, sample_sizes: Whole, rate: float) -> Floats:
    """log P[Bin(N, rate) = x], a row for every N."""
    n, x = people[:, None].astype(np.float64), sample_sizes[None, :].astype(np.float64)
    if rate >= 1:
        return np.where(n == x, 0.0, -np.inf)
    left = n - x
    inside = (x > 0) & (left > 0)
    # Where x is 0 or N, and beyond, any numbers do here.
    some, least = np.where(x > 0, x, 1.0), np.where(left > 0, left, 1.0)
    some_people = np.maximum(n, 1.0)
    mean, others, away = some_people * rate, some_people * (1 - rate), x - n * rate
    logs = _stirling_error(people)[:, None] - _stirling_error(sample_sizes)[None, :] - _stirling_error(least)
    logs = logs - mean * _deviance(away / mean) - others * _deviance(-away / others)
    logs = logs + 0.5 * (np.log(some_people) - np.log(2 * math.pi * some) - np.log(least))
    logs = np.where(inside, logs, -np.inf)
    logs = np.where(x == 0, n * math.log1p(-rate), logs)
    return np.where((left == 0) & (x > 0), n * math.log(rate), logs)


def _deviance(t: Floats) -> Floats:
    """(1 + t)·log(1 + t) − t."""
    t = np.maximum(t, np.nextafter(-1.0, 0.0))
    found: Floats = (1 + t) * np.log1p(t) - t
    return found


def _stirling_error(numbers: Whole | Floats) -> Floats:
    """log n! less Stirling's formula; from 64 on by its series, whose first term left out is below 1e-12."""
    large = np.maximum(numbers, _FEW).astype(np.float64)
    series = (1 - 1 / (30 * large**2)) / (12 * large)
    return np.where(numbers < _FEW, _ERRORS[np.minimum(numbers, _FEW - 1).astype(np.int64)], series)
