"""What is published of a cell, given how many sampled people are in it: the laws that intervals invert.

A cell of N people has X ~ Bin(N, rate) sampled ones. A law says with which probability the published value is y when
X = x, and which values are shown at all. Values that are ordered apart, because a flag says which are exact, get
places of their own on the axis (`place`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Noise beyond so many scales has a probability of e^-40.
SCALES = 40.0
# e to minus so much is below all doubles.
_NOTHING = 745.0


@dataclass(frozen=True)
class Law(ABC):
    """The law of a published value; only values from `shown_from` on are shown, all of them where it is None."""

    @property
    @abstractmethod
    def shown_from(self) -> int | None:
        """The smallest value that is shown."""

    @abstractmethod
    def kernel(self, sampled: Whole, places: Whole) -> Floats:
        """P[the value is at the place | so many are sampled], a row for every number of sampled people."""

    def spread(self, weights: Floats, sampled: Whole, places: Whole) -> Floats:
        """The law of the place for every row of weights of numbers of sampled people."""
        masses: Floats = weights @ self.kernel(sampled, places)
        return masses

    @abstractmethod
    def reach(self, least: int, most: int) -> tuple[int, int]:
        """The places that a value can have when between `least` and `most` people are sampled; the rest is nothing."""

    @property
    @abstractmethod
    def settled(self) -> int:
        """From so many sampled people on the noise no longer depends on their number."""

    @property
    @abstractmethod
    def exact_from(self) -> int | None:
        """From so many sampled people on the value is their number; None where it is always noisy."""

    @property
    def noise(self) -> tuple[float, float]:
        """Variance and fourth cumulant of the noise on many sampled people."""
        return 0.0, 0.0

    @property
    def widest_loss(self) -> float:
        """The loss of the strongest noise on a cell; infinite where there is none."""
        return math.inf

    @property
    def noiseless(self) -> bool:
        """Whether values are the sampled people themselves, so that N is never below what is shown."""
        return math.isinf(self.widest_loss)

    def place(self, values: Whole, exact: NDArray[np.bool_] | None = None) -> Whole:
        """Where values lie on the axis."""
        del exact
        return values


@dataclass(frozen=True)
class ExactCounts(Law):
    """The number of sampled people itself, shown from k on; k = 0 shows every cell."""

    k: int

    @property
    def shown_from(self) -> int | None:
        return self.k or None

    @property
    def settled(self) -> int:
        return self.k

    @property
    def exact_from(self) -> int | None:
        return 0

    def kernel(self, sampled: Whole, places: Whole) -> Floats:
        same: Floats = (sampled[:, None] == places[None, :]).astype(np.float64)
        return same

    def reach(self, least: int, most: int) -> tuple[int, int]:
        return least, most


@dataclass(frozen=True)
class NoiseBelowK(Law):
    """Exact from k on, discrete Laplace noise of loss noise_epsilon below; shown from show_from on, or everywhere.

    Where cells say whether they are exact, noisy values come first and exact ones after them: an order of all
    outcomes in which larger cells come later.
    """

    k: int
    noise_epsilon: float
    show_from: int | None = None
    flag: bool = False

    @property
    def shown_from(self) -> int | None:
        return self.show_from

    @property
    def settled(self) -> int:
        return self.k

    @property
    def exact_from(self) -> int | None:
        return self.k

    @property
    def widest_loss(self) -> float:
        return self.noise_epsilon

    @cached_property
    def _apart(self) -> int:
        """How far exact values lie behind noisy ones."""
        return math.ceil(SCALES / self.noise_epsilon) if self.flag else 0

    def kernel(self, sampled: Whole, places: Whole) -> Floats:
        exact = sampled[:, None] + self._apart == places[None, :]
        noisy = laplace(places[None, :] - sampled[:, None], self.noise_epsilon)
        return np.where(sampled[:, None] >= self.k, exact, noisy)

    def spread(self, weights: Floats, sampled: Whole, places: Whole) -> Floats:
        small = sampled < self.k
        masses = with_laplace(weights[:, small], sampled[small], places, self.noise_epsilon)
        at = sampled[~small] + self._apart - places[0]
        there = (at >= 0) & (at < len(places))
        masses[:, at[there]] += weights[:, ~small][:, there]
        return masses

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = math.ceil(SCALES / self.noise_epsilon) if least < self.k else 0
        return (least - far if far else least + self._apart), max(most + self._apart, min(most, self.k - 1) + far)

    def place(self, values: Whole, exact: NDArray[np.bool_] | None = None) -> Whole:
        return values if exact is None else values + np.where(exact, self._apart, 0)


@dataclass(frozen=True)
class OutlierNoise(Law):
    """Noise of loss ε(j) = tε/(K − j) on j people, ε from K − t on; shown from show_from on, or everywhere."""

    epsilon: float
    transition: int
    limit: int
    show_from: int | None = None

    @property
    def shown_from(self) -> int | None:
        return self.show_from

    @property
    def settled(self) -> int:
        return max(self.limit - self.transition, 0)

    @property
    def exact_from(self) -> int | None:
        return None

    @property
    def widest_loss(self) -> float:
        return float(self._losses(np.zeros(1, np.int64))[0])

    @property
    def noise(self) -> tuple[float, float]:
        return laplace_cumulants(self.epsilon)

    def _losses(self, sampled: Whole) -> Floats:
        left = np.maximum(self.limit - sampled, self.transition)
        return np.where(left > self.transition, self.epsilon * self.transition / left, self.epsilon)

    def kernel(self, sampled: Whole, places: Whole) -> Floats:
        return laplace(places[None, :] - sampled[:, None], self._losses(sampled)[:, None])

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = SCALES / self._losses(np.array([least, most]))
        return least - math.ceil(far[0]), most + math.ceil(max(far[1], far[0] - (most - least)))


@dataclass(frozen=True)
class NoiseOnEveryCell(Law):
    """Discrete Laplace noise of one loss on every cell, and every cell shown."""

    noise_epsilon: float

    @property
    def shown_from(self) -> int | None:
        return None

    @property
    def settled(self) -> int:
        return 0

    @property
    def exact_from(self) -> int | None:
        return None

    @property
    def widest_loss(self) -> float:
        return self.noise_epsilon

    @property
    def noise(self) -> tuple[float, float]:
        return laplace_cumulants(self.noise_epsilon)

    def kernel(self, sampled: Whole, places: Whole) -> Floats:
        return laplace(places[None, :] - sampled[:, None], self.noise_epsilon)

    def spread(self, weights: Floats, sampled: Whole, places: Whole) -> Floats:
        return with_laplace(weights, sampled, places, self.noise_epsilon)

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = math.ceil(SCALES / self.noise_epsilon)
        return least - far, most + far


def laplace(distance: Whole, loss: float | Floats) -> Floats:
    """P[discrete Laplace noise of that loss = distance]."""
    a = np.exp(-np.asarray(loss, np.float64))
    masses: Floats = (1 - a) / (1 + a) * np.exp(-np.abs(distance) * loss)
    return masses


def with_laplace(weights: Floats, sampled: Whole, places: Whole, loss: float) -> Floats:
    """Weights of consecutive numbers with discrete Laplace noise added, at consecutive places.

    The noise is a geometric number to either side, and sums over these are doubled in length step by step: only
    positive numbers are added, so that small probabilities keep their digits.
    """
    if not len(sampled):
        return np.zeros((len(weights), len(places)))
    first, last = min(int(places[0]), int(sampled[0])), max(int(places[-1]), int(sampled[-1]))
    rows = np.zeros((len(weights), last - first + 1))
    rows[:, int(sampled[0]) - first : int(sampled[-1]) + 1 - first] = weights
    upwards, downwards = _geometric_sums(rows, loss), _geometric_sums(rows[:, ::-1], loss)[:, ::-1]
    a = math.exp(-loss)
    upwards[:, :-1] += a * downwards[:, 1:]
    start = int(places[0]) - first
    masses: Floats = (1 - a) / (1 + a) * upwards[:, start : start + len(places)]
    return masses


def _geometric_sums(rows: Floats, loss: float) -> Floats:
    """Σ e^(−loss·(i − j))·x_j over j ≤ i, for every row."""
    sums, length = rows.copy(), 1
    while length < rows.shape[1] and loss * length < _NOTHING:
        sums[:, length:] += math.exp(-loss * length) * sums[:, :-length]
        length *= 2
    return sums


def laplace_cumulants(loss: float) -> tuple[float, float]:
    """Variance and fourth cumulant: it is the difference of two geometric numbers with ratio a."""
    a, b = math.exp(-loss), -math.expm1(-loss)
    return 2 * a / b**2, 2 * (6 * a * a + b * b * a) / b**4
