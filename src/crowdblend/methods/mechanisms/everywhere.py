"""Noise on every cell, whatever its size, for registers and samples.

On every cell of the declared domain, the empty ones and the negative ones too, so that sums of cells are unbiased and a
cell that is missing says nothing: Laplace noise for pure ε (rules histogram.laplace and register.rows), or Gaussian
noise for many tables of the same people, since many losses of it add up to less than as many of Laplace noise with the
same error (rule histogram.gaussian).

Or on the cells that occur, shown from a threshold on: labels need not be known beforehand (rule histogram.threshold).
Cells in which nobody is take no part, so a cell that appears says that someone is there. The threshold is so high that
a person who is alone makes their cell appear with probability δ at most; which cells are shown is covered by the
guarantee as their numbers are.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
import numpy as np

from crowdblend.methods.estimates.laws import GaussianOnEveryCell, NoiseFromThreshold, NoiseOnEveryCell
from crowdblend.methods.mechanisms.histograms import cell_codes, cell_numbers, mean_noise
from crowdblend.methods.mechanisms.mechanism import Crowd, Mechanism, PublishedClasses, SampledClasses
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms, registers, sampling
from crowdblend.trusted.randomness import ReleaseKey, discrete_gaussian, discrete_laplace

# At this many times 1/σ what is left beyond ε is below 10^−18.
FAR = 9.0


class NoiseEverywhere(Mechanism, frozen=True, tag="noisy-cells"):
    """Discrete Laplace noise of loss `noise_epsilon` per row on every cell; a person has at most this many rows."""

    noise_epsilon: Loss
    rows_per_person: Crowd | None = None

    def publish(self, classes: SampledClasses, key: ReleaseKey) -> PublishedClasses:
        """Every cell with its noisy count; the same key gives the same publication."""
        values = discrete_laplace(classes.cells, self.noise_epsilon, key.source(b"noise on every cell"))
        values[cell_numbers(classes)] += classes.counts
        codes = cell_codes(np.arange(classes.cells), classes.labels)
        return PublishedClasses(classes.columns, classes.labels, codes, values)

    def claim(self) -> Derivation:
        """One person's rows move the counts by one each."""
        if self.rows_per_person is None:
            return mechanisms.histogram_laplace(noise_epsilon=self.noise_epsilon)
        return registers.rows_with_noise(noise_epsilon=self.noise_epsilon, rows_per_person=self.rows_per_person)

    @property
    def law(self) -> NoiseOnEveryCell:
        return NoiseOnEveryCell(self.noise_epsilon)

    def expected_error(self) -> float:
        """The mean absolute error of a cell."""
        return mean_noise(self.noise_epsilon)


class NoisyTotal(Mechanism, frozen=True, tag="noisy-total"):
    """A number to which each person adds at most `rows_per_person`, with discrete Laplace noise."""

    name: str
    noise_epsilon: Loss
    rows_per_person: Crowd

    def publish(self, total: int, key: ReleaseKey) -> int:
        """Return the number with noise."""
        return total + int(discrete_laplace(1, self.noise_epsilon, key.source(f"noise on {self.name}".encode()))[0])

    def claim(self) -> Derivation:
        """One person moves it by at most as many."""
        return registers.total_with_noise(noise_epsilon=self.noise_epsilon, rows_per_person=self.rows_per_person)

    @property
    def law(self) -> NoiseOnEveryCell:
        return NoiseOnEveryCell(self.noise_epsilon)


class GaussianEverywhere(Mechanism, frozen=True, tag="gaussian-cells"):
    """Discrete Gaussian noise of standard deviation `sigma`, about, on every cell."""

    sigma: Annotated[float, msgspec.Meta(ge=0.5, le=20_000.0)]

    def publish(self, classes: SampledClasses, key: ReleaseKey) -> PublishedClasses:
        """Every cell with its noisy count; the same key gives the same publication."""
        values = discrete_gaussian(classes.cells, self.sigma, key.source(b"Gaussian noise on every cell"))
        values[cell_numbers(classes)] += classes.counts
        codes = cell_codes(np.arange(classes.cells), classes.labels)
        return PublishedClasses(classes.columns, classes.labels, codes, values)

    def claim(self) -> Derivation:
        """One person moves one count by one; what that comes to is known at every ε, here far out."""
        return mechanisms.histogram_gaussian(sigma=self.sigma, epsilon=FAR / self.sigma)

    @property
    def law(self) -> GaussianOnEveryCell:
        return GaussianOnEveryCell(self.sigma)

    def expected_error(self) -> float:
        """The mean absolute error of a cell, about."""
        return math.sqrt(2 / math.pi) * self.sigma


class ThresholdHistogram(Mechanism, frozen=True, tag="noisy-from-threshold"):
    """Discrete Laplace noise of loss `noise_epsilon` on every cell that occurs, shown where it reaches `show_from`."""

    noise_epsilon: Loss
    show_from: Crowd

    def publish(self, classes: SampledClasses, key: ReleaseKey) -> PublishedClasses:
        """Return the cells whose noisy count reaches the threshold; the same key gives the same publication."""
        occurs = classes.where(classes.counts > 0)
        source = key.source(b"noise on cells that occur")
        values = occurs.counts + discrete_laplace(len(occurs.counts), self.noise_epsilon, source)
        shown = np.flatnonzero(values >= self.show_from)
        return PublishedClasses(occurs.columns, occurs.labels, occurs.codes[shown], values[shown])

    def claim(self) -> Derivation:
        """Return a person who is alone makes a cell appear with probability δ; the noise hides the others."""
        return mechanisms.histogram_threshold(noise_epsilon=self.noise_epsilon, show_from=self.show_from)

    def claim_under_sampling(self, *, rate: float, epsilon: float) -> Derivation:
        """Sampling amplifies it as it does any noise."""
        return sampling.sampling_amplifies(self.claim(), rate=rate)

    @property
    def law(self) -> NoiseFromThreshold:
        return NoiseFromThreshold(self.noise_epsilon, self.show_from)

    def expected_error(self) -> float:
        """The mean absolute error of a cell, whether it is shown or not."""
        return mean_noise(self.noise_epsilon)
