"""Tests of published values against N people, for every N on a grid, and their intervals.

The test of N refuses a value whose tail is too small. Where even the smallest possible values are not rare, a lower
tail would never refuse anything that a smaller N explains better; the whole level then goes to the upper tail:

    one-sided   P_N[value ≤ first] > level/2: N is refused when P_N[value ≥ y] ≤ level
    two-sided   otherwise: N is refused when P_N[value ≥ y] ≤ level/2 or P_N[value ≤ y] ≤ level/2

`first` is the smallest value that is shown, or the value that an empty cell falls below with probability level/2.
Either way a true N is refused with probability at most `level`, so the set of all N that are not refused covers it
with probability at least 1 − level, given that the cell is shown. Intervals are the hull of that set, rounded outwards
to the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from crowdblend.methods.estimates.laws import Floats, Law, Whole

# Deviations beyond which the binomial distribution is left out, and grid points per deviation.
DEVIATIONS, FINENESS, COARSEST = 8.0, 20.0, 4.0
# Above this many people the grid is coarser: intervals are a little wider, and no work is done in vain.
FINE = 20_000
# Beyond this many expected people quantiles come from four cumulants; their error is then below that of the grid.
LARGE = 250.0
ROWS = 64
_FEW = 64
_ERRORS = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, _FEW)]
)
# Up to this rate the product of 64 ratios, where nearly everybody is drawn, is far from the largest double.
_HIGH = 0.999


@dataclass(frozen=True)
class Acceptance:
    """The smallest and the largest value that fit each N of a grid."""

    people: Whole
    lowest: Whole
    highest: Whole

    def low(self, places: Whole) -> Whole:
        """Return the smallest N that fits; for places up to `last_tested`."""
        first = np.searchsorted(np.maximum.accumulate(self.highest), places)
        before = self.people[np.minimum(first, len(self.people) - 1) - 1] + 1
        ends: Whole = np.where(first == 0, self.people[0], before)
        return ends

    def high(self, places: Whole) -> Whole:
        """Return the largest N that fits; for places up to `last_tested`."""
        falling = np.minimum.accumulate(self.lowest[::-1])[::-1]
        after = np.searchsorted(falling, places, side="right")
        ends: Whole = self.people[np.minimum(after, len(self.people) - 1)] - 1
        return ends


# A release of many strata has two tests for each, at two levels.
@lru_cache(maxsize=512)
def acceptance(law: Law, rate: float, level: float) -> Acceptance:
    """Return the tests of every N up to where four cumulants tell the tails."""
    switch = _switch(law)
    people = _grid(law, rate, switch)
    first = _first(law, rate, level)
    parts = [_rows(law, rate, level, people[at : at + ROWS], first) for at in range(0, len(people), ROWS)]
    lowest, highest = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Acceptance(people, lowest, highest)


@lru_cache(maxsize=512)
def largest_hidden(law: Law, rate: float, level: float) -> int:
    """Return the largest N that stays hidden with probability `level` or more; 0 if none does.

    A larger one is hidden less often up to a level of one half: noise takes a count below k across a threshold above it
    less often than that. Beyond it noise may show smaller ones more often, and all are looked at.
    """
    people, known = _grid(law, rate, _switch(law)), 0
    for start in range(0, len(people), ROWS):
        hidden = _masses(law, rate, people[start : start + ROWS])[2] >= level
        known = start + int(np.flatnonzero(hidden)[-1]) + 1 if hidden.any() else known
        if level <= 0.5 and not hidden[-1]:
            break
    return max(0, int(people[min(known, len(people) - 1)]) - 1)


def hidden_with(law: Law, rate: float, people: int) -> float:
    """Return the probability that nothing is shown of a cell of this many people."""
    return float(_masses(law, rate, np.array([people]))[2][0])


def last_tested(law: Law) -> int:
    """Return the last place that `acceptance` has tests for."""
    return int(law.place(np.array([_switch(law)]), np.array([True]))[0])


def _switch(law: Law) -> int:
    base = max(law.settled_from, law.shown_from or 0)
    return math.ceil(max(LARGE, base + 12 * math.sqrt(base + 1) + 12 * _deviation(law) + 50))


def large_intervals(law: Law, rate: float, level: float, values: Whole) -> tuple[Whole, Whole]:
    """The ends for values beyond the switch, from the Cornish-Fisher quantiles of binomial and noise together."""
    q = NormalDist().inv_cdf(1 - level / 2)
    middle = values.astype(np.float64)
    ends = [_solve(law, rate, middle - 0.5, q), _solve(law, rate, middle + 0.5, -q)]
    return np.floor(ends[0]).astype(np.int64), np.ceil(ends[1]).astype(np.int64)


def _grid(law: Law, rate: float, switch: int) -> Whole:
    """Numbers of people, each one where cells are small, further apart as the deviation grows."""
    top = switch + DEVIATIONS * math.sqrt(switch + _deviation(law) ** 2) + 50
    fineness = max(COARSEST, FINENESS * math.sqrt(min(1.0, FINE / switch)))
    people = [law.least_people]
    while people[-1] * rate < top:
        deviation = math.sqrt(people[-1] * rate * (1 - rate) + law.noise[0]) / rate
        people.append(people[-1] + max(1, int(deviation / fineness)))
    return np.array(people, np.int64)


def _deviation(law: Law) -> float:
    return 0.0 if law.noiseless else math.sqrt(2) / law.widest_loss


def _first(law: Law, rate: float, level: float) -> int:
    """Return the place below which values say no more about N."""
    if law.shown_from is not None:
        return law.shown_from
    places, masses, _ = _masses(law, rate, np.zeros(1, np.int64))
    return int(places[np.argmax(np.cumsum(masses[0]) > level / 2)])


def _rows(law: Law, rate: float, level: float, people: Whole, first: int) -> tuple[Whole, Whole]:
    places, masses, _ = _masses(law, rate, people)
    from_below = np.cumsum(masses, axis=1)
    from_above = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
    rest = from_below[:, min(max(first - int(places[0]), 0), len(places) - 1)] if first >= places[0] else 0.0
    one_sided = np.broadcast_to(rest > level / 2, len(people))
    fits_above = from_above > np.where(one_sided, level, level / 2)[:, None]
    highest = places[len(places) - 1 - np.argmax(fits_above[:, ::-1], axis=1)]
    lowest = np.where(one_sided, np.iinfo(np.int64).min, places[np.argmax(from_below > level / 2, axis=1)])
    return lowest, highest


def _masses(law: Law, rate: float, people: Whole) -> tuple[Whole, Floats, Floats]:
    """Return the shown places, the law of the shown value for every N, and the probability that nothing is shown."""
    cut = law.shown_from
    spread = DEVIATIONS * np.sqrt(people[[0, -1]] * rate * (1 - rate)) + 30 * (rate < 1)
    least = max(0, math.floor(people[0] * rate - spread[0]))
    if law.noiseless:
        least = min(max(least, cut or 0), int(people[-1]))
    most = min(int(people[-1]), math.ceil(max(people[-1] * rate, cut or 0) + spread[1]))
    sampled = np.arange(least, max(most, least) + 1)
    # Where showing a cell is improbable, only ratios matter; P itself would be below all doubles.
    weights, scale = binomial_weights(people, sampled, rate)
    if law.exact_from is not None and least >= law.exact_from:
        values = law.place(sampled, np.ones(len(sampled), np.bool_))
        kept = np.searchsorted(values, cut or values[0])
        places, masses = values[kept:], weights[:, kept:]
    else:
        low, high = law.reach(least, most)
        places = np.arange(low if cut is None else max(low, cut), max(high, cut or high) + 1)
        masses = law.spread(weights, sampled, places)
    total = masses.sum(axis=1, keepdims=True)
    hidden = np.zeros(len(people)) if cut is None else 1 - np.exp(scale) * total[:, 0]
    return places, masses / total, hidden


def _quantile(law: Law, rate: float, people: Floats, q: float) -> Floats:
    """The deviation from the mean that a value exceeds with the probability of q standard deviations."""
    binomial = people * rate * (1 - rate)
    variance = np.maximum(binomial + law.noise[0], 1e-12)
    skew = binomial * (1 - 2 * rate) / variance**1.5
    excess = (binomial * (1 - 6 * rate * (1 - rate)) + law.noise[1]) / variance**2
    w = q + (q * q - 1) * skew / 6 + (q**3 - 3 * q) * excess / 24 - (2 * q**3 - 5 * q) * skew**2 / 36
    deviation: Floats = np.sqrt(variance) * w
    return deviation


def _solve(law: Law, rate: float, target: Floats, q: float) -> Floats:
    """The N whose quantile is the target: quantiles of many people move slowly with N, so this settles at once."""
    people = target / rate
    for _ in range(8):
        people = (target - _quantile(law, rate, people, q)) / rate
    return people


def binomial_weights(people: Whole, sample_sizes: Whole, rate: float) -> tuple[Floats, Floats]:
    """P[Bin(N, rate) = x] for consecutive x, a row for every N: up to a factor, and its logarithm.

    Only the first x needs that logarithm: P(x + 1) / P(x) = (N − x)·rate / ((x + 1)(1 − rate)).
    """
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
    """log P[Bin(N, rate) = x], a row for every N, in doubles, for any number of people and any rate.

    Factorials of many people have logarithms so large that their differences have no digits left. As in Loader, Fast
    and accurate computation of binomial probabilities (2000), the probability is written by how far x is from its mean:

        log P = e(N) − e(x) − e(N − x) − N·rate·f(t) − N(1 − rate)·f(u) + ½·log(N / (2π·x·(N − x))),   0 < x < N

    with e(n) the error of Stirling's formula for n!, f(t) = (1 + t)·log(1 + t) − t, t = (x − N·rate) / (N·rate) and
    u = −(x − N·rate) / (N(1 − rate)). The error of N·rate·f(t) is about |x − N·rate| units in the last place.
    """
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
