"""Noise on every cell, for registers: pure ε, no sample, no threshold (rules histogram.laplace and register.rows).

Every cell of the declared domain is published, the empty ones and the negative ones too, so that sums of cells are
unbiased and a cell that is missing says nothing.
"""

from __future__ import annotations

import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms, registers
from crowdblend.estimates.laws import NoiseOnEveryCell
from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.mechanism import Crowd, Loss, Mechanism
from crowdblend.mechanisms.noisy import cell_codes, cell_numbers, mean_noise
from crowdblend.randomness import ReleaseKey, discrete_laplace


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
