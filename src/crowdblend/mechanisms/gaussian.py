"""Discrete Gaussian noise on every cell, for many tables of the same people (rule histogram.gaussian).

Many losses of Gaussian noise add up to less than as many of Laplace noise with the same error. Every cell of the
declared domain is published, the empty ones and the negative ones too.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms
from crowdblend.estimates.laws import GaussianOnEveryCell
from crowdblend.mechanisms.classes import PublishedClasses, SampledClasses
from crowdblend.mechanisms.mechanism import Mechanism
from crowdblend.mechanisms.noisy import cell_codes, cell_numbers
from crowdblend.randomness import ReleaseKey, discrete_gaussian

# At this many times 1/σ what is left beyond ε is below 10^−18.
FAR = 9.0


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
