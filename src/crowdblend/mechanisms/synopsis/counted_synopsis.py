"""Synthetic rows from the noisy counts of a sample by coins, of which nobody knows how many people it has.

The number of people is measured with noise too, in copies where strata or weights say how many each stands for. Privacy
comes from the noise on the counts alone (rule totals.add-remove); the shares, the fit and the rows read nothing else.
"""

from __future__ import annotations

import math

import numpy as np

from crowdblend.calculus import Derivation
from crowdblend.calculus.rules import totals
from crowdblend.calculus.rules.queries import noise_bound
from crowdblend.designs import Claims
from crowdblend.frozen import dataclass
from crowdblend.mechanisms.synopsis.fitted_synopsis import Synopsis
from crowdblend.mechanisms.synopsis.queries import QueryClass, Table
from crowdblend.mechanisms.synopsis.rows import fit, rows_like
from crowdblend.mechanisms.synopsis.synopsis_plans import HAIR, slack_of
from crowdblend.planning.statistics.accuracy import UP, noise_error
from crowdblend.randomness import Source, discrete_laplace

# Of the probability that the stated error does not hold, the part of the noise: half for answers, half for the number.
NOISE = 0.25


@dataclass(frozen=True)
class CountedSynopsis(Claims):
    """Discrete Laplace noise of loss noise_epsilon on every measured count and on the number of people.

    `copies` is how often a person of each stratum counts; what is claimed is about one of the copies. `failure` is the
    probability with which the stated error may not hold.
    """

    queries: QueryClass
    noise_epsilon: float
    rows: int
    failure: float
    copies: tuple[int, ...] = (1,)

    def claim(self) -> Derivation:
        """A person is in at most `depth` measured counts, and in the number of people."""
        steps = {"bins": self.queries.measured_counts + 1, "grid_steps": self.queries.depth + 1}
        return totals.totals_without_a_person(**steps, noise_epsilon=self.noise_epsilon)

    @property
    def size_error(self) -> int:
        """The largest noise on the number of people, in copies."""
        return noise_error(self.noise_epsilon, self.failure * NOISE / 2)

    def answer_error(self, size: int) -> float:
        """The largest error of a noisy answer about the sample, as a share, where its noisy number of people is this.

        A share c/n of n people, published as (c + y)/m with |y| ≤ A and |m − n| ≤ t, is off by at most (A + t)/m.
        """
        if size <= self.size_error:
            return 1.0
        queries, failure = self.queries, self.failure * NOISE / 2
        bound = float(noise_bound(queries.size, queries.parts, self.noise_epsilon, failure).upper())
        return min(1.0, (bound + self.size_error) / size * UP)

    def sample_error(self, size: int) -> float:
        """The largest error of a share among the rows about the sample: noise twice, the fit and the rows."""
        noise = self.answer_error(size)
        return min(1.0, (2 * noise + slack_of(noise) + self._rounding) * UP)

    @property
    def _rounding(self) -> float:
        return math.sqrt(math.log(4 * self.queries.size) / (2 * self.rows))

    def publish(self, sample: Table, source: Source) -> tuple[Synopsis, int]:
        """Synthetic rows about a sample, given as counts of the cells of the universe, and its noisy size."""
        exact = np.append(self.queries.counts(sample), sample.sum())
        *counts, size = exact + discrete_laplace(len(exact), self.noise_epsilon, source)
        people = max(1, int(size))
        shares, noise = np.array(counts) / people, self.answer_error(int(size))
        variance = 2 / (self.noise_epsilon * people) ** 2
        fitted = fit(self.queries, shares, variance=variance, noise=noise, slack=slack_of(noise) * HAIR)
        cells, answered = rows_like(self.queries, fitted, self.rows, source, within=self._rounding * HAIR)
        misfit = float(np.abs(answered - self.queries.answers(shares)).max())
        return Synopsis(cells, misfit), int(size)
