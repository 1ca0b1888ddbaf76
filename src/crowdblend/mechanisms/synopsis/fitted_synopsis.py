"""The practical synopsis: noisy counts of all tables of the class, and synthetic rows fitted to them.

Rules synopsis.counts and synopsis.fitted-useful. Privacy comes from the noise on the measured counts alone; fitting a
distribution to them and drawing rows from it reads nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import mechanisms
from crowdblend.designs import Claims
from crowdblend.frozen import dataclass
from crowdblend.mechanisms.synopsis.queries import QueryClass, Table, Vector
from crowdblend.mechanisms.synopsis.rows import Cells, fit, rows_like
from crowdblend.randomness import Source, discrete_laplace


@dataclass(frozen=True)
class Synopsis:
    """The published cells, one for each synthetic row, and their fit to the noisy answers.

    `misfit` is the largest difference between a share among the rows and its noisy answer; None where there are none.
    """

    cells: Cells
    misfit: float | None = None


@dataclass(frozen=True)
class FittedSynopsis(Claims):
    """Discrete Laplace noise of loss noise_epsilon on every measured count, then a fit, then rows.

    `noise`, `slack` and `rounding` are the parts of the planned error: what the noisy answers keep to, what the fit may
    add, and what the rows may add.
    """

    queries: QueryClass
    noise_epsilon: float
    rows: int
    noise: float
    slack: float
    rounding: float

    def noisy(self, sample: Table, source: Source) -> NDArray[np.int64]:
        """The measured counts of a sample with their noise: all that the rest of the release sees."""
        return self.add_noise(self.queries.counts(sample), source)

    def add_noise(self, counts: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Counts of one sample, or of several one after the other, each with noise of its own."""
        return counts + discrete_laplace(len(counts), self.noise_epsilon, source)

    def publish(self, sample: Table, people: int, source: Source) -> Synopsis:
        """Synthetic rows about a sample of that many people, given as counts of the cells of the universe."""
        noisy = self.noisy(sample, source) / people
        return self.rows_from(self.fit(noisy, people), noisy, source)

    def claim(self) -> Derivation:
        """The noise hides one replaced person; the fit and the rows are post-processing."""
        return mechanisms.noisy_counts(noise_epsilon=self.noise_epsilon, sensitivity=float(self.queries.sensitivity))

    def fit(self, noisy: Vector, people: int) -> Table:
        """Return the distribution that noisy shares lead to."""
        variance = 2 / (self.noise_epsilon * people) ** 2
        return fit(self.queries, noisy, variance=variance, noise=self.noise, slack=self.slack)

    def rows_from(self, p: Table, noisy: Vector, source: Source) -> Synopsis:
        """Random rows of the fitted distribution, and how well they answer as the noisy shares do."""
        cells, answered = rows_like(self.queries, p, self.rows, source, within=self.rounding)
        return Synopsis(cells, float(np.abs(answered - self.queries.answers(noisy)).max()))
