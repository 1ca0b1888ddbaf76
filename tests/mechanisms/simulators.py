"""The simulators of the zero-knowledge proofs, as code that runs.

Zero-knowledge privacy says that what is published could have been made up by somebody who sees only aggregate
information about a table in which the person's row is concealed. A simulator is that somebody. None is used in a
release; they are here so that the claim can be tried: on tiny tables exactly, on larger ones by drawing from both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.mechanisms.statistics import ChosenQuantile, NoisyStatistics, Whole
from crowdblend.randomness import Source, distinct

# A row for every person: what that person adds to each total. A concealed row adds nothing.
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class RandomRows:
    """RS(k): k rows drawn uniformly without replacement, and nothing of the others but how many rows there are."""

    samples: int

    def look(self, table: Rows, source: Source) -> Rows:
        """The rows that a simulator may see. The caller conceals the person's row beforehand."""
        return table[distinct(self.samples, len(table), source)]


def concealed(table: Rows, person: int) -> Rows:
    """The table with one person's row concealed."""
    hidden = table.copy()
    hidden[person] = 0
    return hidden


@dataclass(frozen=True)
class Simulator(ABC):
    """Makes up noisy totals from aggregate information alone; `bins` says how many totals each statistic has."""

    mechanism: NoisyStatistics
    bins: tuple[int, ...]

    def simulate(self, aggregate_information: Rows, source: Source) -> tuple[Whole | ChosenQuantile, ...]:
        """An output whose law is close to that of the mechanism on the whole table."""
        totals = np.split(self.estimate(aggregate_information), np.cumsum(self.bins)[:-1])
        return self.mechanism.publish(totals, source)

    @abstractmethod
    def estimate(self, aggregate_information: Rows) -> Whole:
        """The totals that the noise is added to."""


@dataclass(frozen=True)
class EverybodySimulator(Simulator):
    """Scales the totals of k random rows up to the population (rule totals.zero-knowledge)."""

    population: int

    def estimate(self, aggregate_information: Rows) -> Whole:
        """n/k times the totals of the rows, rounded half up in whole numbers."""
        k = len(aggregate_information)
        estimated: Whole = (2 * self.population * aggregate_information.sum(axis=0) + k) // (2 * k)
        return estimated


@dataclass(frozen=True)
class SampleSimulator(Simulator):
    """Runs the sanitizer on k random rows, as the release itself does, one of them perhaps concealed."""

    def estimate(self, aggregate_information: Rows) -> Whole:
        """The totals of the rows themselves."""
        totals: Whole = aggregate_information.sum(axis=0)
        return totals
