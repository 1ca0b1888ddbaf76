"""Synthetic rows: fitted to noisy counts, of a survey or of a sample by coins, or chosen whole from a tiny universe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs import Claims
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, Table, Vector
from crowdblend.methods.mechanisms.synopsis.rows import HAIR, Cells, fit, rows_like, slack_of
from crowdblend.methods.planning.statistics.accuracy import UP, noise_error
from crowdblend.methods.selection.exponential import choose_several
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules import mechanisms, totals
from crowdblend.trusted.calculus.rules.queries import noise_bound
from crowdblend.trusted.randomness import Source, discrete_laplace, permutation

# Of the probability that the stated error does not hold, the part of the noise: half for answers, half for the number.
NOISE = 0.25
MOST_CANDIDATES = 50_000
_PIECE = 4_096


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

    Rules synopsis.counts and synopsis.fitted-useful. Privacy comes from the noise on the measured counts alone; fitting
    a distribution to them and drawing rows from it reads nothing else.

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


@dataclass(frozen=True)
class CountedSynopsis(Claims):
    """Discrete Laplace noise of loss noise_epsilon on every measured count and on the number of people.

    Nobody knows how many people a sample by coins has, so that their number is measured with noise too, in copies where
    strata or weights say how many each stands for. Privacy comes from the noise alone (rule totals.add-remove).

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


def candidates_of(universe: int, rows: int) -> int:
    """Return the number of multisets of rows."""
    return math.comb(universe + rows - 1, rows)


@dataclass(frozen=True)
class ExponentialSynopsis(Claims):
    """Chooses a table of `rows` rows with probability proportional to e^{−epsilon·people·error/2}.

    The paper's own (BLR08; ZKP 4.2; rules synopsis.exponential and synopsis.exponential-useful), for tiny universes.
    Every multiset of `rows` rows is a candidate, scored by its largest error on the class, in whole numbers: |k·(rows
    that satisfy q) − rows·(people who do)|, which one person of k moves by at most `rows`. The choice is exact.
    """

    queries: QueryClass
    epsilon: float
    rows: int

    def __post_init__(self) -> None:
        found = candidates_of(self.queries.universe, self.rows)
        if found > MOST_CANDIDATES:
            raise InvalidInput(
                f"There are {found:,} candidate tables to choose from, more than {MOST_CANDIDATES:,}. "
                "Publish fewer rows or recode the columns more coarsely.",
                where="rows",
                code="synopsis.candidates",
            )

    def claim(self) -> Derivation:
        """One replaced person moves every score by at most `rows`, which the choice is calibrated to."""
        return mechanisms.synopsis_exponential(epsilon=self.epsilon)

    @cached_property
    def candidates(self) -> NDArray[np.int64]:
        """Every table of that many rows, as its cells in rising order."""
        every = combinations_with_replacement(range(self.queries.universe), self.rows)
        return np.array(list(every), np.int64)

    def scores(self, sample: Table, people: int) -> list[int]:
        """Return the score of every candidate, at most 0."""
        satisfied = self.queries.matrix()
        wanted = self.rows * (satisfied @ sample.ravel())
        worst: list[int] = []
        for start in range(0, len(self.candidates), _PIECE):
            held = satisfied[:, self.candidates[start : start + _PIECE]].sum(axis=2)
            worst += np.abs(people * held - wanted[:, None]).max(axis=0).tolist()
        return [-error for error in worst]

    def publish(self, sample: Table, people: int, source: Source) -> Synopsis:
        """Return the chosen table, its rows in random order; people is k, concealed ones included."""
        return self.choose(self.scores(sample, people), source)[0]

    def choose(self, scores: list[int], source: Source, times: int = 1) -> list[Synopsis]:
        """Return tables chosen by their scores, their rows in random order."""
        places = choose_several(
            scores, times, epsilon=self.epsilon, sensitivity=self.rows, monotone=False, source=source
        )
        return [Synopsis(self.candidates[place][permutation(self.rows, source)]) for place in places]
