"""Laws of a published cell, given the sampled people in it, which intervals invert.

A cell of N people has X ~ Bin(N, rate) sampled ones. A law says with which probability the published value is y when
X = x, and which values are shown at all. Values that are ordered apart, because a flag says which are exact, get
places of their own on the axis (`place`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# Noise beyond this many scales has a probability of e^-40.
SCALES = 40.0
# Normal noise beyond this many standard deviations has a probability of e^-40.
_DEVIATIONS = 9.0
# e to minus so much is below all doubles.
_NOTHING = 745.0
# A longer transform takes seconds and more memory than it is worth.
_LONGEST = 1 << 22


@dataclass(frozen=True)
class Law(ABC):
    """The law of a published value; only values from `shown_from` on are shown, all of them where it is None."""

    @property
    def shown_from(self) -> int | None:
        """The smallest value that is shown."""
        return None

    @abstractmethod
    def kernel(self, people: Whole, places: Whole) -> Floats:
        """P[the value is at the place | this many are sampled], a row for every number of sampled people."""

    def spread(self, weights: Floats, people: Whole, places: Whole) -> Floats:
        """Return the law of the place for every row of weights of numbers of sampled people."""
        kernel = self.kernel(people, places)
        # Where everybody is counted the number is known; a product would be the same, on threads that wait for more.
        known = np.count_nonzero(weights) == len(weights) and bool((weights.max(axis=1, initial=0.0) == 1.0).all())
        masses: Floats = kernel[weights.argmax(axis=1)] if known else weights @ kernel
        return masses

    @abstractmethod
    def reach(self, least: int, most: int) -> tuple[int, int]:
        """The places that a value can have when between `least` and `most` people are sampled; the rest is nothing."""

    @property
    def least_people(self) -> int:
        """The smallest number of people of whom anything can be shown."""
        return (self.shown_from or 0) if self.noiseless else 0

    @property
    def settled_from(self) -> int:
        """The number of sampled people from which the noise no longer depends on it."""
        return 0

    @property
    def exact_from(self) -> int | None:
        """The number of sampled people from which values are exact; None where always noisy."""
        return None

    @property
    def noise(self) -> tuple[float, float]:
        """Variance and fourth cumulant of the noise on many sampled people."""
        return 0.0, 0.0

    def sum_reach(self, cells: int, level: float) -> int:
        """Return an r that the noise of this many cells together exceeds with probability `level` at most."""
        return sum_reach(cells, self.widest_loss, level)

    @property
    def mean_share(self) -> float:
        """The square of the mean absolute noise, as a share of its variance: that of Laplace noise, about."""
        return 0.5

    def variances(self, values: Whole) -> Floats:
        """Return the variance of the noise on cells with these published values."""
        return np.full(len(values), self.noise[0])

    @property
    def widest_loss(self) -> float:
        """The loss of the strongest noise on a cell; infinite where there is none."""
        return math.inf

    @property
    def noiseless(self) -> bool:
        """True if values are the sampled people themselves, so that N is never below what is shown."""
        return math.isinf(self.widest_loss)

    def place(self, values: Whole, exact: NDArray[np.bool_] | None = None) -> Whole:
        """Return the places of values on the axis."""
        return values


@dataclass(frozen=True)
class ExactCounts(Law):
    """The number of sampled people itself, shown from k on; k = 0 shows every cell."""

    k: int

    @property
    def shown_from(self) -> int | None:
        return self.k or None

    @property
    def settled_from(self) -> int:
        return self.k

    @property
    def exact_from(self) -> int | None:
        return 0

    def kernel(self, people: Whole, places: Whole) -> Floats:
        same: Floats = (people[:, None] == places[None, :]).astype(np.float64)
        return same

    def reach(self, least: int, most: int) -> tuple[int, int]:
        return least, most


@dataclass(frozen=True)
class NoiseBelowK(Law):
    """Exact from k on, discrete Laplace noise of loss noise_epsilon below; shown from shown_from on, or everywhere.

    Where cells say whether they are exact, noisy values come first and exact ones after them: an order of all
    outcomes in which larger cells come later.
    """

    k: int
    noise_epsilon: float
    shown_from: int | None = None
    flag: bool = False

    @property
    def settled_from(self) -> int:
        return self.k

    @property
    def exact_from(self) -> int | None:
        return self.k

    @property
    def widest_loss(self) -> float:
        return self.noise_epsilon

    def variances(self, values: Whole) -> Floats:
        return np.where(values < self.k, laplace_cumulants(self.noise_epsilon)[0], 0.0)

    @cached_property
    def _apart(self) -> int:
        """The distance between noisy and exact values on the axis."""
        return math.ceil(SCALES / self.noise_epsilon) if self.flag else 0

    def kernel(self, people: Whole, places: Whole) -> Floats:
        exact = people[:, None] + self._apart == places[None, :]
        noisy = laplace(places[None, :] - people[:, None], self.noise_epsilon)
        return np.where(people[:, None] >= self.k, exact, noisy)

    def spread(self, weights: Floats, people: Whole, places: Whole) -> Floats:
        small = people < self.k
        masses = with_laplace(weights[:, small], people[small], places, self.noise_epsilon)
        at = people[~small] + self._apart - places[0]
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
    """Noise of loss ε(j) = tε/(K − j) on j people, ε from K − t on; shown from shown_from on, or everywhere."""

    epsilon: float
    transition: int
    limit: int
    shown_from: int | None = None

    @property
    def settled_from(self) -> int:
        return max(self.limit - self.transition, 0)

    @property
    def widest_loss(self) -> float:
        return float(self.losses(np.zeros(1, np.int64))[0])

    @property
    def noise(self) -> tuple[float, float]:
        return laplace_cumulants(self.epsilon)

    def variances(self, values: Whole) -> Floats:
        return np.array([laplace_cumulants(loss)[0] for loss in self.losses(np.maximum(values, 0))])

    def losses(self, people: Whole) -> Floats:
        """Return the loss of the noise on cells of these sizes."""
        left = np.maximum(self.limit - people, self.transition)
        return np.where(left > self.transition, self.epsilon * self.transition / left, self.epsilon)

    def kernel(self, people: Whole, places: Whole) -> Floats:
        return laplace(places[None, :] - people[:, None], self.losses(people)[:, None])

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = SCALES / self.losses(np.array([least, most]))
        return least - math.ceil(far[0]), most + math.ceil(max(far[1], far[0] - (most - least)))


@dataclass(frozen=True)
class NoiseOnEveryCell(Law):
    """Discrete Laplace noise of one loss on every cell, and every cell shown."""

    noise_epsilon: float

    @property
    def widest_loss(self) -> float:
        return self.noise_epsilon

    @property
    def noise(self) -> tuple[float, float]:
        return laplace_cumulants(self.noise_epsilon)

    def kernel(self, people: Whole, places: Whole) -> Floats:
        return laplace(places[None, :] - people[:, None], self.noise_epsilon)

    def spread(self, weights: Floats, people: Whole, places: Whole) -> Floats:
        return with_laplace(weights, people, places, self.noise_epsilon)

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = math.ceil(SCALES / self.noise_epsilon)
        return least - far, most + far


@dataclass(frozen=True)
class NoiseFromThreshold(NoiseOnEveryCell):
    """Discrete Laplace noise on cells in which someone is, shown from shown_from on; an empty one is never shown."""

    shown_from: int = 1

    @property
    def least_people(self) -> int:
        return 1

    @property
    def settled_from(self) -> int:
        return 1

    def kernel(self, people: Whole, places: Whole) -> Floats:
        return np.where(people[:, None] > 0, super().kernel(people, places), 0.0)

    def spread(self, weights: Floats, people: Whole, places: Whole) -> Floats:
        return super().spread(np.where(people > 0, weights, 0.0), people, places)


@dataclass(frozen=True)
class GaussianOnEveryCell(Law):
    """Discrete Gaussian noise on every cell, and every cell shown."""

    sigma: float

    @property
    def widest_loss(self) -> float:
        # The loss of Laplace noise with the same variance, about.
        return math.sqrt(2) / self.sigma

    @property
    def noise(self) -> tuple[float, float]:
        return self.sigma**2, 0.0

    @property
    def mean_share(self) -> float:
        return 2 / math.pi

    def sum_reach(self, cells: int, level: float) -> int:
        # Sums of discrete Gaussian noise are normal up to e^(−2π²σ²), and whole numbers: half a step on either side.
        spread = self.sigma * math.sqrt(cells)
        return math.ceil(spread * NormalDist().inv_cdf(1 - level / 2) + 0.5) if cells else 0

    def kernel(self, people: Whole, places: Whole) -> Floats:
        far = math.ceil(_DEVIATIONS * self.sigma)
        whole = np.exp(-(np.arange(-far, far + 1) ** 2) / (2 * self.sigma**2)).sum()
        masses: Floats = np.exp(-((places[None, :] - people[:, None]) ** 2) / (2 * self.sigma**2)) / whole
        return masses

    def reach(self, least: int, most: int) -> tuple[int, int]:
        far = math.ceil(_DEVIATIONS * self.sigma)
        return least - far, most + far


def laplace(distance: Whole, loss: float | Floats) -> Floats:
    """P[discrete Laplace noise of that loss = distance]."""
    a = np.exp(-np.asarray(loss, np.float64))
    masses: Floats = (1 - a) / (1 + a) * np.exp(-np.abs(distance) * loss)
    return masses


def with_laplace(weights: Floats, people: Whole, places: Whole, loss: float) -> Floats:
    """Weights of consecutive numbers with discrete Laplace noise added, at consecutive places.

    The noise is a geometric number to either side, and sums over these are doubled in length step by step: only
    positive numbers are added, so that small probabilities keep their digits.
    """
    if not len(people):
        return np.zeros((len(weights), len(places)))
    first, last = min(int(places[0]), int(people[0])), max(int(places[-1]), int(people[-1]))
    rows = np.zeros((len(weights), last - first + 1))
    rows[:, int(people[0]) - first : int(people[-1]) + 1 - first] = weights
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


@lru_cache(maxsize=4096)
def sum_reach(cells: int, loss: float, level: float) -> int:
    """Return the smallest r with P[|sum of the noise of the cells| > r] ≤ level, for discrete Laplace noise.

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
    """Return an r that the sum exceeds, in either direction, with probability at most level.

    Of one cell P[|Y| > r] = 2a^(r+1)/(1+a) is below 2e^(−εr). Of several, P[|S| > r] ≤ 2e^(−tr)·M(t)^cells for every t
    below ε, with M(t) = (1−a)²/((1−a)² − 4a·sinh²(t/2)), the moments of one.
    """
    if cells == 1:
        return math.ceil(math.log(2 / level) / loss)
    a, gap = math.exp(-loss), -math.expm1(-loss)
    t = loss * np.linspace(0.001, 0.999, 999)
    moments = -np.log1p(-4 * a * np.sinh(t / 2) ** 2 / gap**2)
    return math.ceil(float(np.min((cells * moments + math.log(2 / level)) / t)))
