"""Noise on the cells that occur, shown from a threshold on: labels need not be known beforehand (histogram.threshold).

Cells in which nobody is take no part, so a cell that appears says that someone is there. The threshold is so high that
a person who is alone makes their cell appear with probability δ at most; which cells are shown is covered by the
guarantee as their numbers are.
"""

from __future__ import annotations

import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms, sampling
from crowdblend.estimates.laws import NoiseFromThreshold
from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.mechanism import Crowd, Loss, Mechanism
from crowdblend.mechanisms.noisy import mean_noise
from crowdblend.randomness import ReleaseKey, discrete_laplace


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
        del epsilon
        return sampling.sampling_amplifies(self.claim(), rate=rate)

    @property
    def law(self) -> NoiseFromThreshold:
        return NoiseFromThreshold(self.noise_epsilon, self.show_from)

    def expected_error(self) -> float:
        """The mean absolute error of a cell, whether it is shown or not."""
        return mean_noise(self.noise_epsilon)
