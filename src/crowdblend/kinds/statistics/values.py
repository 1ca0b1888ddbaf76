"""Published numbers with their errors, from noisy totals and chosen steps.

Everything here is computed from what the noise hides already, the policy and the plan, so that it costs nothing more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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
        made, people = self.statistic, self.facts.people
        if made.is_quantile:
            return steps
        if made.what == "average":
            return steps * float(self.bounds.resolution)
        if made.what != "sum":
            return steps if made.what == "fraction" else steps * people
        if made.of_some and self.bounds.from_zero is None:
            low, high = map(abs, self.bounds.ends)
            return steps * float(low + high) / self.bounds.steps * people
        return steps * float(self.bounds.resolution) * people

    @property
    def largest(self) -> float:
        """The largest absolute value that can be published."""
        if self.statistic.measured:
            largest = float(max(map(abs, self.bounds.ends)))
            return largest * self.facts.people if self.statistic.what == "sum" else largest
        return 1.0 if self.statistic.what == "fraction" else float(self.facts.people)

    def of_totals(self, totals: Sequence[int], people: int) -> list[PublishedNumber]:
        """Return the numbers behind noisy totals of this many people, kept within what is possible."""
        if self.statistic.of_some and (self.statistic.what == "average" or self.bounds.from_zero is None):
            pairs = zip(totals[::2], totals[1::2], strict=True)
            if self.statistic.what == "average":
                return [self._average(low, high, people) for low, high in pairs]
            return self._state(self._sum_of_pair(low, high, people) for low, high in pairs)
        return self._state(self.value(Fraction(total, people)) for total in totals)

    def _state(self, values: Iterable[float]) -> list[PublishedNumber]:
        error = self.error
        return [PublishedNumber(value, error) for value in values]

    def value(self, steps: Fraction) -> float:
        """Return the published value for a mean number of steps, kept within what is possible."""
        made, people = self.statistic, self.facts.people
        if made.what == "average":
            return float(self.bounds.value(steps))
        if made.what == "sum" and made.of_some:
            _, high = self.bounds.ends
            total = people * steps * high / (self.bounds.from_zero or 1)
            return float(min(max(Fraction(0), total), people * high))
        if made.what == "sum":
            return float(people * self.bounds.value(steps))
        share = min(max(steps, Fraction(0)), Fraction(1))
        return float(share if made.what == "fraction" else share * people)

    def has_total(self, value: float) -> bool:
        """Return whether a noisy total gives this value, to the last digit; those of two totals are not looked at."""
        made, people = self.statistic, Fraction(self.facts.people)
        if made.is_quantile or (made.of_some and (made.what == "average" or self.bounds.from_zero is None)):
            return True
        counted, found = self.facts.plan.way_of(self.place).people_counted, Fraction(value)
        if made.what in ("count", "histogram", "sum"):
            found /= people
        if made.measured:
            start, stop = self.bounds.ends
            from_zero = self.bounds.from_zero if made.of_some else None
            found = found * from_zero / stop if from_zero else (found - start) * self.bounds.steps / (stop - start)
        return self.value(Fraction(round(found * counted), counted)) == value

    def _sum_of_pair(self, low: int, high: int, people: int) -> float:
        start, stop = self.bounds.ends
        total = (start * low + stop * high) / self.bounds.steps * Fraction(self.facts.people, people)
        n = self.facts.people
        return float(min(max(min(Fraction(0), start) * n, total), max(Fraction(0), stop) * n))

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
    def paired(self) -> bool:
        """True if every number has two totals."""
        assert isinstance(self.shape, Shape)
        return self.shape.sized or (self.statistic.what == "sum" and self.bounds.from_zero is None)

    @property
    def error(self) -> float:
        """The error where every group has equally many of the people of the policy, with large values."""
        bins = max(1, len(self.facts.bins(self.statistic)))
        copies = int(self.facts.people / self.way.weights.unit) // bins
        if isinstance(self.shape, QuantileShape):
            return max(self.way.rank(self.place, copies, strata) for strata in self._strata)
        total = self.shape.steps * copies
        numbers = self.of_totals(([total // 2, total - total // 2] if self.paired else [total]) * bins, 0)
        return max(one.error or 0.0 for one in numbers)

    @cached_property
    def least_error(self) -> float:
        """The error of many times the people whom the policy states; no smaller one is published, however many came."""
        most = int(_MISTAKEN * self.facts.people / self.way.weights.unit)
        if isinstance(self.shape, QuantileShape):
            return min(self.way.rank(self.place, most + self._reach, strata) for strata in self._strata)
        start, stop = (Fraction(0), Fraction(1)) if self.statistic.what == "fraction" else self.bounds.ends
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
        if made.what != "fraction" and name in made.among:
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
            ends = (Fraction(0), Fraction(1)) if made.what == "fraction" else self.bounds.ends
            least = self.least_error / float(ends[1] - ends[0])
            return [
                self._mean(ends, low, high, max(self.way.share(self.place, low + high, within), least))
                for low, high, within in zip(totals[::2], totals[1::2], strata, strict=True)
            ]
        numbers = list(zip(totals[::2], totals[1::2], strict=True)) if self.paired else [(total,) for total in totals]
        scales = [1.0]
        if made.what == "sum":
            start, stop = (float(end / shape.steps) for end in self.bounds.ends)
            scales = [start, stop] if self.paired else [stop]
        return [self._sum(scales, some, within) for some, within in zip(numbers, strata, strict=True)]

    def _sum(self, scales: Sequence[float], totals: tuple[int, ...], strata: tuple[int, ...] | None) -> PublishedNumber:
        """Return a sum of totals, each in a unit of its own."""
        value, error = 0.0, 0.0
        for scale, total in zip(scales, totals, strict=True):
            estimate, low, high = self.way.total(self.place, total, strata)
            value += scale * estimate
            error += abs(scale) * max(estimate - low, high - estimate)
        return PublishedNumber(value, error * (1 + 1e-12) + math.ulp(abs(value)))

    def _rank_error(self, group: int, size: int, people: int) -> float:
        return max(self.way.rank(self.place, size, self._strata[group]), self.least_error)


def values_of(facts: StatisticsFacts, place: int) -> StatisticValues:
    """Return the values of a statistic."""
    return (SampleValues if isinstance(facts, FixedSizeFacts) else StrataValues)(facts, place)
