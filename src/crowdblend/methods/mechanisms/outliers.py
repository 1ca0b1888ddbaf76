"""Counts with noise that fades as the bin grows (NOTES 3, mechanism Out_h; rule outlier.histogram).

A bin of size j carries discrete Laplace noise of loss ε(j) = tε/(K − j) for j < K − t, and ε from there on: the fewer
people, the more noise. Every cell of the declared domain takes part and is shown, negative values included. Where there
are too many, those are shown whose noisy value reaches `show_from`, whatever is in them; for empty cells, all of which
have the loss tε/K, the number and the places of those that reach it are then drawn from the exact distribution.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.estimates.laws import OutlierNoise
from crowdblend.methods.mechanisms.histograms import (
    cell_codes,
    cell_numbers,
    check_show_from,
    empty_cells,
    false_cells,
    mean_noise,
    shown_in_order,
)
from crowdblend.methods.mechanisms.mechanism import Crowd, Mechanism, PublishedClasses, SampledClasses
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms
from crowdblend.trusted.randomness import ReleaseKey, discrete_laplace


class OutlierHistogram(Mechanism, frozen=True, tag="noisy-by-size"):
    """Noise of loss ε(j) on bins of size j; `transition` is t, `limit` is K, and show_from None shows every bin.

    Members of bins of j people are guaranteed `factor`·ε(j), except with the δ that goes with the factor.
    """

    usual_factor: ClassVar[float] = 2.0

    epsilon: Loss
    transition: Crowd
    limit: Crowd
    show_from: int | None = 1
    factor: Annotated[float, msgspec.Meta(gt=0)] = usual_factor

    def __post_init__(self) -> None:
        check_show_from(self.show_from)

    def loss(self, size: int) -> Fraction:
        """ε(size), exactly."""
        exact = Fraction(self.epsilon)
        return exact if size >= self.limit - self.transition else exact * self.transition / (self.limit - size)

    def publish(self, sample: SampledClasses, key: ReleaseKey) -> PublishedClasses:
        """Noise on every bin, by its size; the same key gives the same publication."""
        cells = cell_numbers(sample)
        empty, appeared = empty_cells(sample.cells, cells, self.loss(0), self.show_from, key)
        cells = np.concatenate([cells, empty])
        values = np.concatenate([self._add_noise(sample.counts, key), appeared])
        order = shown_in_order(cells, values, self.show_from)
        return PublishedClasses(sample.columns, sample.labels, cell_codes(cells[order], sample.labels), values[order])

    def claim(self) -> Derivation:
        """factor·ε(j) to members of bins of j people, except with the δ that goes with the factor."""
        return mechanisms.outlier_histogram(
            epsilon=self.epsilon, transition=self.transition, limit=self.limit, factor=self.factor
        )

    @property
    def law(self) -> OutlierNoise:
        return OutlierNoise(self.epsilon, self.transition, self.limit, self.show_from)

    def _add_noise(self, counts: NDArray[np.int64], key: ReleaseKey) -> NDArray[np.int64]:
        """Bins of one size after the other, each size with a stream of its own."""
        sizes = np.minimum(counts, self.limit - self.transition)
        values = counts.copy()
        for size in np.unique(sizes).tolist():
            bins = np.flatnonzero(sizes == size)
            source = key.source(b"noise on bins of size %d" % size)
            values[bins] += discrete_laplace(len(bins), self.loss(size), source)
        return values

    def expected_error(self, size: int) -> float:
        """The mean absolute error of a bin of that size."""
        return mean_noise(self.loss(size))

    def expected_false_cells(self, cells: int) -> float:
        """Return about the number of empty cells that show up although nobody is in them."""
        return false_cells(cells, self.loss(0), self.show_from)
