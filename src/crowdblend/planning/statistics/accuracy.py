"""How far a published statistic may be from the truth, except with a stated probability.

Errors are in steps per person: the average of what everybody adds to a total. A fraction has one step; an average of
a column has as many as its grid, and multiplied with the resolution its error is in the column's own unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Errors are rounded up by this much, which covers the arithmetic of doubles many times over.
_UP = 1 + 1e-12
# Shares of the failure probability that the noise may take; the sampling error has the rest.
_SPLITS = tuple(2.0**-i for i in range(1, 31))


@dataclass(frozen=True)
class Shape:
    """What a statistic looks like: a person adds at most `steps` in all to `bins` totals; `share` is its part of ε.

    `sized` is an average in groups: it has two totals for each group, and its error depends on the group's size.
    """

    steps: int
    bins: int = 1
    share: float = 1.0
    sized: bool = False

    @property
    def reach(self) -> int:
        """How far replacing one person moves the totals, in steps."""
        return self.steps if self.bins == 1 else 2 * self.steps

    @property
    def span(self) -> float:
        """The largest error that a value within its range can have, in steps per person."""
        return float(self.steps)


def finite_population(samples: int, population: int) -> float:
    """How much smaller the variance proxy of a mean is when it is drawn without replacement (Serfling 1974)."""
    left = population - samples
    return min((left + 1) / population, left * (samples + 1) / (population * samples))


def noise_error(noise_epsilon: float, failure: float) -> int:
    """The smallest t that discrete Laplace noise exceeds with at most this probability: P[|Y| > t] = 2a^{t+1}/(1+a)."""
    wanted = math.log(2 / ((1 + math.exp(-noise_epsilon)) * failure)) * _UP
    return max(0, math.ceil(wanted / noise_epsilon) - 1)


def sampling_error(shape: Shape, samples: int, population: int, failure: float) -> float:
    """How far the mean of k of n people strays: P[|mean of k − mean of n| > t] ≤ 2·exp(−2kt²/(c·steps²))."""
    proxy = finite_population(samples, population) / (2 * samples)
    return shape.steps * math.sqrt(proxy * math.log(2 / failure)) * _UP


def error_of_everybody(shape: Shape, noise_epsilon: float, population: int, failure: float) -> float:
    """The error of every bin at once when all n people are counted and only noise is added."""
    noise = noise_error(noise_epsilon, failure / shape.bins) / population
    return min(float(shape.steps), noise * _UP)


def error_of_sample(shape: Shape, noise_epsilon: float, samples: int, population: int, failure: float) -> float:
    """The error of every bin at once when k of n people are counted: of the draw, and of the noise."""
    each = failure / shape.bins
    if samples == population:
        return min(float(shape.steps), noise_error(noise_epsilon, each) / samples * _UP)
    return min(
        float(shape.steps),
        *(
            sampling_error(shape, samples, population, each * (1 - part))
            + noise_error(noise_epsilon, each * part) / samples * _UP
            for part in _SPLITS
        ),
    )
