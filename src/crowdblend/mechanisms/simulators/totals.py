"""The simulators of noisy totals: of everybody (rule totals.zero-knowledge) and of a sample (sample-and-sanitize)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdblend.mechanisms.simulators.protocol import Rows
from crowdblend.mechanisms.totals import NoisyTotals, Whole
from crowdblend.randomness import Source


@dataclass(frozen=True)
class EverybodySimulator:
    """Scales the totals of k random rows up to the population, to the nearest whole number, and adds the same noise."""

    mechanism: NoisyTotals
    bins: tuple[int, ...]
    population: int

    def simulate(self, aggregate_information: Rows, source: Source) -> tuple[Whole, ...]:
        """What the release of everybody's totals might have been."""
        return self.mechanism.publish(_by_statistic(self.estimate(aggregate_information), self.bins), source)

    def estimate(self, aggregate_information: Rows) -> Whole:
        """n/k times the totals of the rows, rounded half up in whole numbers."""
        k = len(aggregate_information)
        estimated: Whole = (2 * self.population * aggregate_information.sum(axis=0) + k) // (2 * k)
        return estimated


@dataclass(frozen=True)
class SampleSimulator:
    """Runs the sanitizer on k random rows, as the release itself does, one of them perhaps concealed."""

    mechanism: NoisyTotals
    bins: tuple[int, ...]

    def simulate(self, aggregate_information: Rows, source: Source) -> tuple[Whole, ...]:
        """What the release of a sample's totals might have been."""
        return self.mechanism.publish(_by_statistic(self.estimate(aggregate_information), self.bins), source)

    def estimate(self, aggregate_information: Rows) -> Whole:
        """The totals of the rows themselves."""
        totals: Whole = aggregate_information.sum(axis=0)
        return totals


def _by_statistic(totals: Whole, bins: tuple[int, ...]) -> list[Whole]:
    return np.split(totals, np.cumsum(bins)[:-1])
