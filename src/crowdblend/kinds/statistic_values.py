"""From noisy totals and chosen steps to published numbers, each with its error.

Everything here is computed from what the noise hides already, the policy and the plan, so that it costs nothing more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdblend.planning.statistics import QuantileShape, Shape, TotalsPlan
from crowdblend.planning.statistics.groups import average_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crowdblend.mechanisms.quantiles import ChosenQuantile
    from crowdblend.policies.statistic import Statistic
    from crowdblend.policies.statistics import Statistics
    from crowdblend.recoding import Bounded


@dataclass(frozen=True)
class Published:
    """One published number: within `error` of the true one, or for quantiles a rank within `rank_error`."""

    value: float
    error: float | None
    rank_error: float | None = None


@dataclass(frozen=True)
class StatisticValues:
    """The numbers of one statistic of a plan."""

    policy: Statistics
    parameters: TotalsPlan
    place: int

    @property
    def made(self) -> Statistic:
        """The statistic."""
        return self.policy.statistics[self.place]

    @property
    def bounds(self) -> Bounded:
        """The bounds of its column of numbers."""
        return self.policy.measures[str(self.made.column)]

    @property
    def shape(self) -> Shape | QuantileShape:
        """What the noise knows of it, with its part of its way's ε."""
        return self.parameters.shape(self.place)

    @property
    def error(self) -> float:
        """The stated error in its own unit, of groups of equal size where it depends on them; of quantiles, in ranks.

        Writing the largest possible value as a double is counted in.
        """
        error = self.in_unit(self.parameters.error(self.place))
        return error if self.made.is_quantile else error + math.ulp(self.largest)

    def in_unit(self, steps: float) -> float:
        """So many steps per person in the statistic's own unit; ranks have the unit 1."""
        made, people = self.made, self.policy.people
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
        if self.made.measured:
            largest = float(max(map(abs, self.bounds.ends)))
            return largest * self.policy.people if self.made.what == "sum" else largest
        return 1.0 if self.made.what == "fraction" else float(self.policy.people)

    def of_totals(self, totals: Sequence[int], people: int) -> list[Published]:
        """The numbers behind noisy totals of so many people, kept within what is possible."""
        if self.made.of_some and (self.made.what == "average" or self.bounds.from_zero is None):
            pairs = zip(totals[::2], totals[1::2], strict=True)
            if self.made.what == "average":
                return [self._average(low, high, people) for low, high in pairs]
            return self._stated(self._sum_of_pair(low, high, people) for low, high in pairs)
        return self._stated(self.value(Fraction(total, people)) for total in totals)

    def _stated(self, values: Iterable[float]) -> list[Published]:
        error = self.error
        return [Published(value, error) for value in values]

    def value(self, steps: Fraction) -> float:
        """What is published when the people add up to this many steps on average, kept within what is possible."""
        made, people = self.made, self.policy.people
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

    def _sum_of_pair(self, low: int, high: int, people: int) -> float:
        start, stop = self.bounds.ends
        total = (start * low + stop * high) / self.bounds.steps * Fraction(self.policy.people, people)
        n = self.policy.people
        return float(min(max(min(Fraction(0), start) * n, total), max(Fraction(0), stop) * n))

    def _average(self, low: int, high: int, people: int) -> Published:
        """The average of a group with these two noisy totals of steps, below the upper and above the lower bound."""
        shape, total = self.shape, low + high
        assert isinstance(shape, Shape)
        start, stop = self.bounds.ends
        share = min(max(Fraction(high, total), Fraction(0)), Fraction(1)) if total > 0 else Fraction(1, 2)
        value = float(start + (stop - start) * share)
        noise, n = self.parameters.noise_epsilon(self.place), self.policy.people
        failing = average_error(shape, noise, total, people, n, self.policy.failure)
        farthest = max(float(stop) - value, value - float(start))
        error = min(float(stop - start) * failing, farthest) + math.ulp(self.largest)
        return Published(value, error)

    def of_choice(self, chosen: ChosenQuantile, people: int) -> list[Published]:
        """The quantiles that were chosen, with how far their ranks may be off."""
        shape = self.shape
        assert isinstance(shape, QuantileShape)
        noise, n, failure = self.parameters.noise_epsilon(self.place), self.policy.people, self.policy.failure
        sizes = chosen.sizes
        errors = [
            shape.error(noise, people, n, failure)
            if shape.whole
            else shape.group_error(noise, size, people, n, failure)
            for size in sizes
        ]
        return [
            Published(float(self.bounds.value(Fraction(step))), None, error)
            for step, error in zip(chosen.steps, errors, strict=True)
        ]
