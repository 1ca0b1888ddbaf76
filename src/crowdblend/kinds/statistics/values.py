"""Published numbers with their errors, from noisy totals and chosen steps.

Everything here is computed from what the noise hides already, the policy and the plan, so that it costs nothing more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from crowdblend.kinds.statistics.facts import FixedSizeFacts, StatisticsFacts
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.methods.mechanisms.statistics import ChosenQuantile
from crowdblend.methods.planning.statistics.accuracy import QuantileShape, Shape, average_error, noise_error
from crowdblend.methods.planning.statistics.strata_totals import StrataWay
from crowdblend.methods.planning.statistics.ways import AnyShape
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding

# Noise is further away with a probability that does not matter.
_IMPOSSIBLE = 1e-12
# By so much a policy may be wrong about the number of people in a population that was sampled before.
_MISTAKEN = 100


@dataclass(frozen=True)
class PublishedNumber:
    """One published number: within `error` of the true one, or for quantiles a rank within `rank_error`."""

    value: float
    error: float | None
    rank_error: float | None = None


@dataclass(frozen=True)
class StatisticValues(ABC):
    """The numbers of one statistic of a release."""

    facts: StatisticsFacts
    place: int

    @property
    def statistic(self) -> Statistic:
        """The statistic."""
        return self.facts.statistics[self.place]

    @property
    def measure(self) -> BoundedRecoding | None:
        """The bounds of its column of numbers; None where it has none."""
        return self.facts.measures.get(str(self.statistic.column)) if self.statistic.measured else None

    @property
    def bounds(self) -> BoundedRecoding:
        """The bounds of its column of numbers."""
        return self.facts.measures[str(self.statistic.column)]

    @property
    def shape(self) -> AnyShape:
        """The shape that the noise depends on, with its part of its way's ε."""
        return self.facts.plan.shapes[self.place]

    @property
    @abstractmethod
    def error(self) -> float:
        """The stated error in its own unit, of equal groups where it depends on them; of quantiles, in ranks."""

    @property
    @abstractmethod
    def least_error(self) -> float:
        """The smallest possible error that follows from a group's noisy size: that of all people."""

    @abstractmethod
    def of_totals(self, totals: Sequence[int], people: int) -> list[PublishedNumber]:
        """The numbers behind noisy totals of this many people; rows of several releases may stand below each other."""

    @abstractmethod
    def _rank_error(self, group: int, size: int, people: int) -> float:
        """Return the error in the rank of a quantile, for a group of this noisy size."""

    def of_choice(self, choice: ChosenQuantile, people: int) -> list[PublishedNumber]:
        """Return the quantiles that were chosen, with how far their ranks may be off."""
        return [
            PublishedNumber(float(self.bounds.value(Fraction(step))), None, self._rank_error(group, size, people))
            for group, (step, size) in enumerate(zip(choice.steps, choice.sizes, strict=True))
        ]

    @property
    def _reach(self) -> int:
        """The largest noise on the size of a group."""
        noise, shape = self.facts.plan.noise_epsilon(self.place), self.shape
        return noise_error(shape.size_epsilon(noise) if isinstance(shape, QuantileShape) else noise, _IMPOSSIBLE)

    def _mean(self, ends: tuple[Fraction, Fraction], low: int, high: int, failing: float) -> PublishedNumber:
        """Return the point between two ends where the second total splits both, with its error."""
        (start, stop), total = ends, low + high
        share = min(max(Fraction(high, total), Fraction(0)), Fraction(1)) if total > 0 else Fraction(1, 2)
        value = float(start + (stop - start) * share)
        farthest = max(float(stop) - value, value - float(start))
        error = min(float(stop - start) * failing, farthest)
        return PublishedNumber(value, error + math.ulp(max(abs(float(start)), abs(float(stop)))))


@dataclass(frozen=True)
class SampleValues(StatisticValues):
    """The numbers of a statistic of everybody, or of a fixed number of people."""

    @property
    def error(self) -> float:
        """The planned error; writing the largest possible value as a double is counted in."""
        error = self.in_unit(self.facts.plan.error(self.place))
        return error if self.statistic.is_quantile else error + math.ulp(self.largest)

    @property
    def least_error(self) -> float:
        noise, people = self.facts.plan.noise_epsilon(self.place), self.facts.plan.way_of(self.place).people_counted
        if isinstance(self.shape, QuantileShape):
            return self._rank_error(0, people + self._reach, people)
        most = people * self.shape.steps + 2 * self._reach
        found = average_error(self.shape, noise, most, people, self.facts.people, self.facts.failure)
        start, stop = self.bounds.ends
        return float(stop - start) * found

    def in_unit(self, steps: float) -> float:
        """Return steps per person in the statistic's own unit; ranks have the unit 1."""
        return self.statistic.estimand.in_unit(steps, self.measure, self.facts.people, self.statistic.of_some)

    @property
    def largest(self) -> float:
        """The largest absolute value that can be published."""
        return self.statistic.estimand.largest(self.measure, self.facts.people)

    @property
    def width(self) -> int:
        """The number of totals of every number."""
        return self.statistic.estimand.width(self.measure, self.statistic.of_some)

    def of_totals(self, totals: Sequence[int], people: int) -> list[PublishedNumber]:
        """Return the numbers behind noisy totals of this many people, kept within what is possible."""
        if self.width == 1:
            return self._state(self.value(Fraction(total, people)) for total in totals)
        estimand, each = self.statistic.estimand, _apart(totals, self.width)
        if estimand.is_share:
            return [self._average(low, high, people) for low, high in each]
        return self._state(estimand.value_of_totals(some, self.bounds, people, self.facts.people) for some in each)

    def _state(self, values: Iterable[float]) -> list[PublishedNumber]:
        error = self.error
        return [PublishedNumber(value, error) for value in values]

    def value(self, steps: Fraction) -> float:
        """Return the published value for a mean number of steps, kept within what is possible."""
        made = self.statistic
        return made.estimand.value(steps, self.measure, self.facts.people, made.of_some)

    def has_total(self, value: float) -> bool:
        """Return whether a noisy total gives this value, to the last digit; those of two totals are not looked at."""
        made = self.statistic
        if made.is_quantile or self.width > 1:
            return True
        counted = self.facts.plan.way_of(self.place).people_counted
        steps = made.estimand.steps(Fraction(value), self.measure, self.facts.people, made.of_some)
        return self.value(Fraction(round(steps * counted), counted)) == value

    def _average(self, low: int, high: int, people: int) -> PublishedNumber:
        """The average of a group with these two noisy totals of steps, below the upper and above the lower bound."""
        assert isinstance(self.shape, Shape)
        noise, n = self.facts.plan.noise_epsilon(self.place), self.facts.people
        failing = average_error(self.shape, noise, low + high, people, n, self.facts.failure)
        return self._mean(self.bounds.ends, low, high, failing)

    def _rank_error(self, group: int, size: int, people: int) -> float:
        assert isinstance(self.shape, QuantileShape)
        noise, n, failure = self.facts.plan.noise_epsilon(self.place), self.facts.people, self.facts.failure
        if self.shape.whole:
            return self.shape.error(noise, people, n, failure)
        return self.shape.group_error(noise, size, people, n, failure)


@dataclass(frozen=True)
class StrataValues(StatisticValues):
    """The numbers of a statistic of strata or of a weighted survey: estimates for the population, from copies."""

    @property
    def way(self) -> StrataWay:
        """The weights and the noise."""
        way = self.facts.plan.way_of(self.place)
        assert isinstance(way, StrataWay)
        return way

    @property
    def width(self) -> int:
        """The number of totals of every number."""
        assert isinstance(self.shape, Shape)
        return 2 if self.shape.sized else self.statistic.estimand.width(self.measure, of_some=True)

    @property
    def error(self) -> float:
        """The error where every group has equally many of the people of the policy, with large values."""
        bins = max(1, len(self.facts.bins(self.statistic)))
        copies = int(self.facts.people / self.way.weights.unit) // bins
        if isinstance(self.shape, QuantileShape):
            return max(self.way.rank(self.place, copies, strata) for strata in self._strata)
        total = self.shape.steps * copies
        numbers = self.of_totals((_split(total, self.width)) * bins, 0)
        return max(one.error or 0.0 for one in numbers)

    @cached_property
    def least_error(self) -> float:
        """The error of many times the people whom the policy states; no smaller one is published, however many came."""
        most = int(_MISTAKEN * self.facts.people / self.way.weights.unit)
        if isinstance(self.shape, QuantileShape):
            return min(self.way.rank(self.place, most + self._reach, strata) for strata in self._strata)
        start, stop = self.statistic.estimand.ends(self.measure)
        total = most * self.shape.steps + 2 * self._reach
        shares = (self.way.share(self.place, total, strata) for strata in self._strata)
        # A number in the middle is never farther off than a half of the way.
        return float(stop - start) * min(*shares, 0.5)

    @cached_property
    def _strata(self) -> list[tuple[int, ...] | None]:
        """The strata of the people of every published number; None for all."""
        facts, made = self.facts, self.statistic
        name, labels, bins = facts.design.column, list(facts.design.strata), max(1, len(facts.bins(made)))
        if name is None:
            return [None] * bins
        some = None
        if made.estimand.restricts and name in made.among:
            some = tuple(labels.index(label) for label in made.among[name])
        names = made.counted_by
        if name not in names:
            return [some] * bins
        within = math.prod(len(facts.labels(other)) for other in names[names.index(name) + 1 :])
        return [(number // within % len(labels),) for number in range(bins)]

    def of_totals(self, totals: Sequence[int], people: int) -> list[PublishedNumber]:
        made, shape, strata = self.statistic, self.shape, self._strata
        assert isinstance(shape, Shape)
        if shape.sized:
            ends = made.estimand.ends(self.measure)
            least = self.least_error / float(ends[1] - ends[0])
            return [
                self._mean(ends, low, high, max(self.way.share(self.place, low + high, within), least))
                for low, high, within in zip(totals[::2], totals[1::2], strata, strict=True)
            ]
        return [self._number(some, within) for some, within in zip(_apart(totals, self.width), strata, strict=True)]

    def _number(self, totals: Sequence[int], strata: tuple[int, ...] | None) -> PublishedNumber:
        """Return the number of some totals."""
        assert isinstance(self.shape, Shape)
        estimates = [self.way.total(self.place, total, strata) for total in totals]
        value, error = self.statistic.estimand.of_estimates(estimates, self.measure, self.shape.steps)
        return PublishedNumber(value, error * (1 + 1e-12) + math.ulp(abs(value)))

    def _rank_error(self, group: int, size: int, people: int) -> float:
        return max(self.way.rank(self.place, size, self._strata[group]), self.least_error)


def values_of(facts: StatisticsFacts, place: int) -> StatisticValues:
    """Return the values of a statistic."""
    return (SampleValues if isinstance(facts, FixedSizeFacts) else StrataValues)(facts, place)


def _apart(totals: Sequence[int], width: int) -> Iterator[Sequence[int]]:
    """Yield the totals of each number."""
    return (totals[start : start + width] for start in range(0, len(totals), width))


def _split(total: int, width: int) -> list[int]:
    """Return whole numbers of about the same size that add up to a total."""
    least, more = divmod(total, width)
    return [least + (place >= width - more) for place in range(width)]
