"""Statistics as the audit sees them: one person replaced by another whom the noise hides least from the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowdblend.kinds.statistics import StatisticsPlan
from crowdblend.mechanisms.quantiles import quantile_losses
from crowdblend.planning.statistics import EVERYBODY, QuantileShape, TotalsPlan
from crowdblend.policies.statistics import BETWEEN, Statistics
from crowdblend.randomness import ReleaseKey, new_key
from crowdblend.rehearsal.batch import Known, endless, releases_of
from crowdblend.rehearsal.crowd_classes import CLASSES
from crowdblend.rehearsal.looking import Between, Number
from crowdblend.rehearsal.made_up_people import (
    Crowd,
    Files,
    Population,
    Values,
    drawn_here,
    people_in_memory,
    publish_once,
)
from crowdblend.rehearsal.registry import AuditRequest
from crowdblend.rehearsal.rehearsed import Neighbours, Rehearsed, Views
from crowdblend.rehearsal.replacing import Replaced, among, apart, between_crowds, require_people
from crowdblend.rehearsal.statistics_batch import StatisticsBatch
from crowdblend.rehearsal.values import examples


class TotalsRehearsal:
    """What a policy of statistics publishes about made-up people, for any key; values are those of `wanted`."""

    def __init__(self, planned: StatisticsPlan, population: Population) -> None:
        self._plan, self._files = planned, Files()
        self._engine = people_in_memory(planned.policy.data, planned.policy.wanted, population)

    def publish(self, key: bytes) -> dict[str, bytes]:
        """The files by name."""
        return self._files.of(publish_once(self._plan, self._engine, key))


MOST_PEOPLE = 1 << 20
# What a person adds, by the number of the total.
Adds = dict[int, int]
_ALL = 1 << 20


def subject(policy: Statistics, request: AuditRequest) -> StatisticsSubject:
    """The policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    policy = drawn_here(policy)
    request.leave_epsilon("a policy of statistics", "there is no delta to trade")
    require_people(policy.people, MOST_PEOPLE, "statistics")
    stacked = request.stacked and policy.data.person is not None
    return StatisticsSubject(policy, request.name, request.understated, stacked)


@dataclass(frozen=True)
class StatisticsSubject(Rehearsed):
    """What a policy publishes about made-up people, when one person's data are replaced."""

    policy: Statistics
    name: str = "policy"
    understated: float = 1.0
    stacked: bool = False
    mistake: Callable[[Any], Any] | None = None

    @property
    def together(self) -> int:
        """How many releases are run as one."""
        return releases_of(self.policy.people) if self.stacked else 1

    def pairs(self) -> list[Neighbours]:
        """Two different persons among people like the one, like the other, and half and half."""
        offered = [self._candidates(name) for name in self.policy.wanted]
        one, other = apart(offered, self._distance)
        return [*among(one, other, self.policy.people), *self._at_ranks(one, other)]

    def _at_ranks(self, one: Values, other: Values) -> list[Neighbours]:
        """Of quantiles, people in the groups of both of whom the wanted share is below, so that one person tips it."""
        found: dict[float, Neighbours] = {}
        for made in self.policy.statistics:
            place = self.policy.wanted.index(str(made.column)) if made.is_quantile else 0
            if not made.is_quantile or one[place] == other[place]:
                continue
            bounds = self.policy.measures[str(made.column)]
            ends = sorted((one[place], other[place]), key=lambda value: bounds.code(value) or 0)
            at, crowds = float(made.share), []
            for part, person in enumerate(dict.fromkeys(self._with(who, place, ends[0]) for who in (one, other))):
                size = (self.policy.people - 1 + part) // (1 if self._alike(one, other, place) else 2)
                below = round(size * at)
                crowds += [Crowd(person, below), Crowd(self._with(person, place, ends[1]), size - below)]
            (pair,) = between_crowds(one, other, {f"others with a share of {at:g} below": tuple(crowds)})
            found.setdefault(at, pair)
        return list(found.values())

    def _alike(self, one: Values, other: Values, place: int) -> bool:
        return self._with(one, place, None) == self._with(other, place, None)

    @staticmethod
    def _with(person: Values, place: int, value: str | None) -> Values:
        return (*person[:place], value, *person[place + 1 :])

    def looking(self, population: Replaced) -> Callable[[bytes], Views]:
        """The numbers between the two persons."""
        rehearsal, between = TotalsRehearsal(self.plan, population.people), self._between(population)
        return lambda key: between.at(rehearsal.publish(key))

    def batches(self, population: Replaced) -> Iterator[Views]:
        """The same of many releases as one."""
        batch = StatisticsBatch(self.plan, population.people, releases_of(self.policy.people))
        between = self._between(population)
        known: Known[Views] = Known()

        def seen() -> list[Views]:
            noisy = batch.noisy(ReleaseKey(new_key()))
            drawn = [tuple(release.values()) for release in noisy]
            return known.of_all(drawn, lambda new: map(between.at_shown, batch.shown([noisy[one] for one in new])))

        return endless(seen)

    def _candidates(self, name: str) -> list[str | None]:
        """Raw values of a column: its bounds, its first and last classes, and those that some condition names."""
        measure = self.policy.measures.get(name)
        column = next((column for column in self.policy.classes if column.name == name), None)
        found: list[str | None] = [] if measure is None else [str(measure.start), str(measure.stop)]
        if column is not None:
            known = examples(column.recoding, _ALL)
            named = {label for made in self.policy.statistics for label in made.among.get(name, ())}
            found += [
                *examples(column.recoding, CLASSES),
                *(one for one in known if column.recoding.label(one) in named),
            ]
            found = [value for value in found if column.recoding.label(value) is not None]
        if any(made.measured and made.column == name for made in self.policy.statistics):
            assert measure is not None, "a column of numbers has bounds"
            found = [value for value in found if measure.code(value) is not None]
        return list(dict.fromkeys(found))

    def _distance(self, one: Values, other: Values) -> float:
        """The loss between two persons, by the noise on everything that they add to, and by the choices they move."""
        plan: TotalsPlan = self.plan.parameters
        return sum(
            plan.noise_epsilon(place) * self._moved(place, self._adds(place, one), self._adds(place, other))
            for place in range(len(self.policy.statistics))
        )

    def _moved(self, place: int, one: Adds, other: Adds) -> float:
        """How far apart two persons are for one statistic, in units of the loss of its noise."""
        shape = self.plan.parameters.shape(place)
        if isinstance(shape, QuantileShape):
            return shape.moved if one != other else 0.0
        return float(sum(abs(one.get(row, 0) - other.get(row, 0)) for row in {*one, *other}))

    def _adds(self, place: int, values: Values) -> Adds:
        """What a person adds to each total of a statistic, in steps; to a quantile, one at the step of their group."""
        made = self.policy.statistics[place]
        person = dict(zip(self.policy.wanted, values, strict=True))
        label = {
            column.name: str(column.recoding.label(person[column.name]))
            for column in self.policy.classes
            if column.name in person
        }
        if not all(label[name] in labels for name, labels in made.among.items()):
            return {}
        columns = (str(made.column),) if made.what == "histogram" else made.groups
        bins = self.policy.bins(made)
        group = bins.index(BETWEEN.join(label[name] for name in columns)) if columns else 0
        if not made.measured:
            return {group: 1}
        bounds = self.policy.measures[str(made.column)]
        step = bounds.code(person[str(made.column)]) or 0
        if made.is_quantile:
            return {group * (bounds.steps + 1) + step: 1}
        if not made.of_some:
            return {0: step}
        if made.what == "sum" and bounds.from_zero is not None:
            return {group: step + bounds.from_zero - bounds.steps}
        return {2 * group: bounds.steps - step, 2 * group + 1: step}

    def _between(self, population: Replaced) -> Between:
        """The published rows that the two persons move: where they are without noise, and by how much they move."""
        person, instead = population.persons
        others = [(crowd.values, crowd.size) for crowd in population.people[1:]]
        numbers: list[Number] = []
        row = 0
        for place in range(len(self.policy.statistics)):
            here, there = (self._published(place, [(one, 1), *others]) for one in (person, instead))
            way, n = self.plan.parameters.way_of(place), self.policy.people
            counted = n if way.mechanism == EVERYBODY else way.samples
            moved = self._moved(place, self._adds(place, person), self._adds(place, instead))
            loss = self.plan.parameters.noise_epsilon(place) * moved / max(1, sum(map(_differ, here, there)))
            for start, end in zip(here, there, strict=True):
                if start != end:
                    # A person who is drawn moves what a sample says by more.
                    numbers.append(Number(row, start, (end - start) * n / counted, loss))
                row += 1
        return Between(tuple(numbers))

    def _published(self, place: int, people: list[tuple[Values, int]]) -> list[float]:
        """The rows of one statistic about these people, without noise."""
        made, numbers = self.policy.statistics[place], self.plan.values(place)
        shape = self.plan.parameters.shape(place)
        groups = max(1, len(self.policy.bins(made)))
        width = groups * shape.candidates if isinstance(shape, QuantileShape) else shape.bins
        totals = np.zeros(width, dtype=np.int64)
        for values, size in people:
            for at, added in self._adds(place, values).items():
                totals[at] += size * added
        if not isinstance(shape, QuantileShape):
            return [one.value for one in numbers.of_totals(totals.tolist(), self.policy.people)]
        ranks = totals.reshape(groups, shape.candidates)
        sizes = [self.policy.people] if shape.whole else ranks.sum(axis=1).tolist()
        steps = [int(quantile_losses(*each).argmin()) for each in zip(ranks, [shape.at] * groups, sizes, strict=True)]
        return [float(numbers.bounds.value(Fraction(step))) for step in steps]


def _differ(one: float, other: float) -> bool:
    return one != other
