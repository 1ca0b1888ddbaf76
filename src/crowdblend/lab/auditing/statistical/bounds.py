"""Bounds on ε from counts of an event, except with a stated probability of error.

With p and q the probabilities of the event on both sides, (ε, δ)-closeness says p ≤ e^ε·q + δ. Let X of n and Y of m
runs have the event, x and y of them here, and T = X/n − c·Y/m for some c fixed before the runs were made.

Theorem. Let C be an interval that holds q except with probability γ, made from Y alone, and

    P(ε) = γ + the largest probability of T ≥ x/n − c·y/m, over q in C and p = min(1, e^ε·q + δ).

If closeness holds at ε, then P(ε) ≤ a happens with probability at most a.

Proof. T grows with X, so among all p that closeness allows the largest makes T ≥ t likeliest. Where q is in C, P(ε) is
at least γ plus the true probability of what was seen or more, and that probability is at most a − γ with probability at
most a − γ. Where it is not, which has probability γ, anything may happen. ∎ (Berger and Boos 1994)

P grows with ε, so the largest ε with P(ε) ≤ a is exceeded by the true one except with probability a. Bounding p and q
separately, by Clopper and Pearson, adds their deviations up where they should be added as squares, and needs twice as
many runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from scipy import special

Vector = NDArray[np.float64]

# The part of the error that goes into the interval for q.
_SHARE = 1 / 64
# More than what rounding adds to a sum of probabilities.
_ROUNDED = 1 + 1e-6
# How often an interval is halved at most, and how finely the answer is told: what refutes a guarantee is of interest.
_DEPTH = 8
_FINE, _ROUGH = 1 / 1024, 1 / 128
_LARGEST = 30.0
# Any larger ε multiplies every double above 0 that a bound can be to more than 1, as this one does.
_ENDLESS = 700.0
# Standard deviations beyond which probabilities are not listed one by one.
_LISTED = 9.0


def clopper_pearson(hits: int, trials: int, error: float) -> tuple[float, float]:
    """Return a lower and an upper bound of a probability, each wrong with probability at most `error`.

    >>> lower, upper = clopper_pearson(0, 100, 0.01)
    >>> lower, round(upper, 6) == round(1 - 0.01 ** (1 / 100), 6)
    (0.0, True)
    """
    lower = 0.0 if hits == 0 else float(special.betaincinv(hits, trials - hits + 1, error))
    # The same bound for what did not happen: 1 − error would lose the digits of a small error.
    upper = 1.0 if hits == trials else 1 - float(special.betaincinv(trials - hits, hits + 1, error))
    return lower, upper


def epsilon_lower(
    likely: tuple[int, int], unlikely: tuple[int, int], delta: float, error: float, guarantee: float
) -> float:
    """Return the ε that (ε, δ)-closeness needs at least, given (hits, trials) of one event on both sides.

    Wrong with probability at most `error`. The comparison is sharpest near the ε that was guaranteed; 0 when the event
    says nothing.
    """
    seen = _SeenCounts(likely, unlikely, delta, error, math.exp(min(guarantee, _LARGEST)))
    if not seen.refutes(0.0):
        return 0.0
    if seen.refutes(guarantee):
        # What is refuted is exceeded; the next double is refuted too, since rounding was allowed for.
        low, high, fine = math.nextafter(guarantee, math.inf), 2 * guarantee + 1, _FINE
    else:
        low, high, fine = 0.0, guarantee, _ROUGH
    while seen.refutes(high) and high < _LARGEST:
        low, high = high, 2 * high
    while high - low > fine * (1 + low):
        middle = (low + high) / 2
        low, high = (middle, high) if seen.refutes(middle) else (low, middle)
    return low


def refutes(likely: tuple[int, int], unlikely: tuple[int, int], delta: float, error: float, guarantee: float) -> bool:
    """Return whether these counts refute (guaranteed, δ)-closeness, except with probability `error`."""
    return _SeenCounts(likely, unlikely, delta, error, math.exp(min(guarantee, _LARGEST))).refutes(guarantee)


@dataclass(frozen=True)
class _SeenCounts:
    """Counts of an event on both sides, and the weight of the unlikely side in the comparison."""

    likely: tuple[int, int]
    unlikely: tuple[int, int]
    delta: float
    error: float
    weight: float

    def refutes(self, epsilon: float) -> bool:
        """Return whether P(ε) is at most the error, halving intervals of q until each is decided."""
        growth, allowed = math.exp(min(epsilon, _ENDLESS)), self.error * (1 - _SHARE)
        waiting = [(*self._interval, 0)]
        while waiting:
            start, stop, depth = waiting.pop()
            if self._chance(min(1.0, growth * stop + self.delta), start) <= allowed:
                continue
            middle = (start + stop) / 2
            if depth >= _DEPTH or self._chance(min(1.0, growth * middle + self.delta), middle) > allowed:
                return False
            waiting += [(start, middle, depth + 1), (middle, stop, depth + 1)]
        return True

    @cached_property
    def _interval(self) -> tuple[float, float]:
        return clopper_pearson(*self.unlikely, self.error * _SHARE / 2)

    def _chance(self, p: float, q: float) -> float:
        """Return an upper bound on the probability of a T this large, at these event probabilities."""
        (x, n), (y, m) = self.likely, self.unlikely
        here, there = _Binomial(n, p), _Binomial(m, q)
        others = np.arange(there.first, there.last + 1)
        # A little below the exact threshold: rounding must not drop what was seen itself.
        least = np.ceil(x + self.weight * n * (others - y) / m - 1e-6)
        listed = float(there.probabilities @ here.at_least(least))
        return _ROUNDED * (listed + there.elsewhere)


class _Binomial:
    """The binomial distribution, listed where its probabilities are not negligible."""

    def __init__(self, trials: int, probability: float) -> None:
        mean = trials * probability
        certain = probability in (0.0, 1.0)
        reach = 0.0 if certain else _LISTED * math.sqrt(mean * (1 - probability)) + _LISTED**2
        self.first, self.last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
        self._trials, self._probability = trials, probability

    @cached_property
    def probabilities(self) -> Vector:
        """The probability of each number from the first to the last that is listed."""
        n, p = self._trials, self._probability
        if p in (0.0, 1.0):
            return np.ones(1)
        numbers = np.arange(self.first, self.last + 1)
        logs = _log_factorials(n)
        ways = logs[n] - logs[numbers] - logs[n - numbers]
        values: Vector = np.exp(ways + numbers * math.log(p) + (n - numbers) * math.log1p(-p))
        return values

    @property
    def elsewhere(self) -> float:
        """The probability of a number that is not listed."""
        return self._below(self.first) + self._above(self.last)

    def at_least(self, least: Vector) -> Vector:
        """Return the probability of each of these numbers or a larger one."""
        from_here = np.cumsum(self.probabilities[::-1])[::-1] + self._above(self.last)
        beyond = [self._above(self.last)]
        places = np.clip(least - self.first, 0, self.last - self.first + 1).astype(np.int64)
        values: Vector = np.concatenate([from_here, beyond])[places]
        values[least <= self.first] = 1.0
        return values

    def _below(self, number: int) -> float:
        return float(special.bdtr(number - 1, self._trials, self._probability)) if number > 0 else 0.0

    def _above(self, number: int) -> float:
        return float(special.bdtrc(number, self._trials, self._probability)) if number < self._trials else 0.0


@lru_cache(maxsize=8)
def _log_factorials(most: int) -> Vector:
    """Return the logarithms of 0!, 1!, … up to this number's."""
    values: Vector = special.gammaln(np.arange(1, most + 2))
    return values
