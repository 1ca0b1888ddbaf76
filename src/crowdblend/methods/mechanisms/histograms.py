"""Counts that are exact from k on; smaller ones are not shown, or carry discrete Laplace noise (CBP 3.1).

Without noise (rule histogram.suppressed) microdata by safe generalization are the same publication written out: after
recoding all rows of a class are equal, so the histogram of the published classes and the list of the published rows say
the same.

With noise (rule histogram.noisy) every cell of the declared domain takes part, the empty ones too: showing only cells
in which someone is would say who is there. All of them are shown, negative values included, so that sums of cells are
unbiased. Where there are too many cells for that, those are shown whose published value reaches `show_from`, whether
exact or noisy, so that a cell that is missing says no more than its value would. For empty cells the number and the
places of those that reach it are then drawn from the exact distribution, which gives the same publication without
visiting the others.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.estimates.laws import ExactCounts, NoiseBelowK
from crowdblend.methods.mechanisms.mechanism import Crowd, Mechanism, PublishedClasses, SampledClasses
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms, programme, sampling
from crowdblend.trusted.randomness import ReleaseKey, discrete_laplace, successes
from crowdblend.trusted.randomness.noise import geometric, reaches

MOST_CELLS = 2**62
# Where not every cell is shown, about this many empty cells may show up with a positive value.
EXPECTED_FALSE = 1_000


class NoisyHistogram(Mechanism, frozen=True, tag="noisy-below-k"):
    """Exact from k on, noisy below with loss noise_epsilon, shown from show_from on; None shows every cell."""

    k: Crowd
    noise_epsilon: Loss
    show_from: int | None = 1
    flag: bool = False

    def __post_init__(self) -> None:
        check_show_from(self.show_from)

    def publish(self, sample: SampledClasses, key: ReleaseKey) -> PublishedClasses:
        """Noise the small cells, keep the large ones; the same key gives the same publication."""
        small = sample.counts < self.k
        values = sample.counts.copy()
        values[small] += discrete_laplace(int(small.sum()), self.noise_epsilon, key.source(b"noise below k"))
        cells = cell_numbers(sample)
        empty, appeared = empty_cells(sample.cells, cells, self.noise_epsilon, self.show_from, key)
        cells = np.concatenate([cells, empty])
        values = np.concatenate([values, appeared])
        exact = np.concatenate([~small, np.zeros(len(empty), np.bool_)])
        order = shown_in_order(cells, values, self.show_from)
        return PublishedClasses(
            sample.columns,
            sample.labels,
            cell_codes(cells[order], sample.labels),
            values[order],
            exact[order] if self.flag else None,
        )

    def claim(self) -> Derivation:
        """Members of one class are interchangeable, and below k the noise hides one person."""
        return mechanisms.histogram_noisy(k=self.k, noise_epsilon=self.noise_epsilon)

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation:
        """Return the exact divergence of sampling and this histogram, with or without the flag."""
        return sampling.noisy_histogram_sampled(
            k=self.k, noise_epsilon=self.noise_epsilon, rate=rate, epsilon=epsilon, flag=self.flag
        )

    def claim_in_a_part(self, *, share: float) -> Derivation:
        """Return the exact divergence of this histogram on a part of a sample."""
        return programme.noise_below_k_in_a_part(
            k=self.k, noise_epsilon=self.noise_epsilon, flag=self.flag, share=share
        )

    @property
    def law(self) -> NoiseBelowK:
        return NoiseBelowK(self.k, self.noise_epsilon, self.show_from, self.flag)

    def expected_false_cells(self, cells: int) -> float:
        """Return about the number of empty cells that show up although nobody is in them."""
        return false_cells(cells, self.noise_epsilon, self.show_from)

    def expected_error(self) -> float:
        """The mean absolute error of a small cell."""
        return mean_noise(self.noise_epsilon)


def mean_noise(loss: float | Fraction) -> float:
    """The mean absolute value of discrete Laplace noise of some loss per step."""
    a = math.exp(-loss)
    return 2 * a / (1 - a * a)


def false_cells(cells: int, loss: float | Fraction, show_from: int | None) -> float:
    """Return about the number of empty cells that show up although nobody is in them."""
    a = math.exp(-loss)
    return cells if show_from is None else cells * a**show_from / (1 + a)


def check_show_from(show_from: int | None) -> None:
    """Refuse a threshold that empty cells without noise would reach."""
    if show_from is not None and show_from < 1:
        message = f"show_from must be at least 1, got {show_from}."
        raise InvalidInput(message, remedy="Cells not shown read as 0.", where="show_from", code="mechanism.show-from")


def natural_threshold(cells: int, noise_epsilon: float) -> int:
    """Return the smallest show_from at which about a thousand empty cells show up; depends on the domain alone."""
    a = math.exp(-noise_epsilon)
    return max(1, math.ceil(math.log(EXPECTED_FALSE * (1 + a) / cells) / -noise_epsilon))


def threshold_for(show_from: int | None, cells: int, noise_epsilon: float) -> int | None:
    """Return the value from which cells are shown: the one set, else all that can be listed."""
    return show_from or (None if cells <= MOST_CELLS_LISTED else natural_threshold(cells, noise_epsilon))


def shown_in_order(cells: NDArray[np.int64], values: NDArray[np.int64], show_from: int | None) -> NDArray[np.int64]:
    """Return the places of the cells that are shown, sorted as cells are."""
    shown = np.arange(len(values)) if show_from is None else np.flatnonzero(values >= show_from)
    order: NDArray[np.int64] = shown[np.argsort(cells[shown], kind="stable")]
    return order


def empty_cells(
    cells: int, taken_cells: NDArray[np.int64], noise_epsilon: float | Fraction, show_from: int | None, key: ReleaseKey
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the empty cells that reach show_from, and their values; without it, all of them."""
    if show_from is None:
        everywhere = np.ones(cells, np.bool_)
        everywhere[taken_cells] = False
        numbers = np.flatnonzero(everywhere)
        return numbers, discrete_laplace(len(numbers), noise_epsilon, key.source(b"empty cells: noise"))
    shows = reaches(show_from, noise_epsilon)
    places = successes(cells - len(taken_cells), shows, key.source(b"empty cells: places"))
    # The i-th empty cell lies behind as many taken cells as have at most i empty ones before them.
    empty_before = taken_cells - np.arange(len(taken_cells))
    numbers = places + np.searchsorted(empty_before, places, side="right")
    # Beyond the threshold the noise is memoryless.
    beyond = geometric(len(places), noise_epsilon, key.source(b"empty cells: values"))
    return numbers, show_from + beyond


def cell_numbers(sample: SampledClasses) -> NDArray[np.int64]:
    """Return each class by its place in the table of all cells, which sorts like the codes."""
    if sample.cells > MOST_CELLS:
        message = "The table has more than 2^62 cells."
        raise InvalidInput(message, remedy="Publish fewer columns.", where="columns", code="mechanism.cells")
    numbers = np.zeros(len(sample.counts), np.int64)
    for place, labels in enumerate(sample.labels):
        numbers = numbers * len(labels) + sample.codes[:, place]
    return numbers


def cell_codes(numbers: NDArray[np.int64], labels: tuple[tuple[str, ...], ...]) -> NDArray[np.int32]:
    """Return the codes of cells, from their places in the table of all cells."""
    codes = np.empty((len(numbers), len(labels)), np.int32)
    for place in range(len(labels) - 1, -1, -1):
        numbers, codes[:, place] = np.divmod(numbers, len(labels[place]))
    return codes


class SuppressedHistogram(Mechanism, frozen=True, tag="suppressed"):
    """Shows a class if and only if at least k sampled people are in it."""

    k: Crowd

    def publish(self, sample: SampledClasses, key: ReleaseKey | None = None) -> PublishedClasses:
        """Return the crowds of the sample; nothing of it is random."""
        crowd = sample.counts >= self.k
        return PublishedClasses(sample.columns, sample.labels, sample.codes[crowd], sample.counts[crowd])

    def claim(self) -> Derivation:
        """Members of one class are interchangeable, and a class below k is not shown: (k, 0)-crowd-blending."""
        return mechanisms.histogram_suppressed(k=self.k)

    @property
    def law(self) -> ExactCounts:
        return ExactCounts(self.k)


class SuppressedRecords(SuppressedHistogram, frozen=True, tag="suppressed-records"):
    """Shows a recoded record if and only if at least k sampled people have it; published as classes with counts."""

    def claim(self) -> Derivation:
        """Equal records are interchangeable, and rare ones are not shown: (k, 0)-crowd-blending."""
        return mechanisms.generalization_suppressed(k=self.k)
