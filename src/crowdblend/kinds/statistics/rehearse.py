"""Statistics as the audit sees them: one person replaced by another whom the noise hides least from the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.kinds.shared.plan import Reading
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.statistics_plan import StatisticsPlan, numbers_output
from crowdblend.lab.rehearsal.made_up_people import Crowd, Files, Population, Values, drawn_here, people_in_memory
from crowdblend.lab.rehearsal.made_up_values import CLASSES, EVERY_CLASS, examples
from crowdblend.lab.rehearsal.observers import Number, NumbersObserver, ShownFile
from crowdblend.lab.rehearsal.replacing import (
    ReplacedPerson,
    among,
    apart,
    between_crowds,
    replace_value,
    require_people,
)
from crowdblend.lab.rehearsal.subject import RELEASES, AuditRequest, AuditSubject, Neighbours, releases_of
from crowdblend.methods.mechanisms.statistics import ChosenQuantile, quantile_losses
from crowdblend.methods.planning.statistics.accuracy import QuantileShape
from crowdblend.methods.planning.statistics.ways import SAMPLE, Way
from crowdblend.sources.engines.persons import Persons, read_persons
from crowdblend.sources.engines.sampling import smallest
from crowdblend.trusted.randomness import ReleaseKey, new_key

MOST_PEOPLE = 1 << 20
# What a person adds, by the number of the total.
Adds = dict[int, int]
Whole = NDArray[np.int64]
# How many people of each crowd are counted.
Composition = tuple[int, ...]
# The noisy totals of a statistic, or what was chosen for it; those of all statistics are a release.
Drawn = tuple[int, ...] | ChosenQuantile


def subject(policy: StatisticsPolicy, request: AuditRequest) -> StatisticsSubject:
    """Return the policy with as many made-up people as it says there are; crowds have no part in its guarantee."""
    policy = drawn_here(policy)
    request.leave_epsilon("a policy of statistics", "there is no delta to trade")
    require_people(policy.people, MOST_PEOPLE, "statistics")
    stacked = request.stacked and policy.data.person is not None
    return StatisticsSubject(policy, request.name, request.understated, stacked)


@dataclass(frozen=True)
class StatisticsSubject(AuditSubject[StatisticsPolicy, StatisticsPlan[Any], ReplacedPerson]):
    """A policy on made-up people, when one person's data are replaced."""

    @property
    def together(self) -> int:
        return releases_of(self.policy.people) if self.stacked else 1

    def pairs(self) -> list[Neighbours[ReplacedPerson]]:
        offered = [self._candidates(name) for name in self.policy.needed_columns]
        one, other = apart(offered, self._distance)
        return [*among(one, other, self.policy.people), *self._at_ranks(one, other)]

    def _at_ranks(self, one: Values, other: Values) -> list[Neighbours[ReplacedPerson]]:
        """Return, for quantiles, people in the groups of both of whom the wanted share is below: one person tips it."""
        found: dict[float, Neighbours[ReplacedPerson]] = {}
        for made in self.policy.publication.statistics:
            place = self.policy.needed_columns.index(str(made.column)) if made.is_quantile else 0
            if not made.is_quantile or one[place] == other[place]:
                continue
            bounds = self.policy.measures[str(made.column)]
            low, high = sorted((one[place], other[place]), key=lambda value: bounds.code(value) or 0)
            groups = list(dict.fromkeys(replace_value(who, place, low) for who in (one, other)))
            at, crowds = float(made.share), []
            for part, person in enumerate(groups):
                size = (self.policy.people - 1 + part) // len(groups)
                below = round(size * at)
                crowds += [Crowd(person, below), Crowd(replace_value(person, place, high), size - below)]
            (pair,) = between_crowds(one, other, {f"others with a share of {at:g} below": tuple(crowds)})
            found.setdefault(at, pair)
        return list(found.values())

    def reader(self, population: ReplacedPerson) -> Callable[[ReleaseKey], Reading]:
        return partial(self.plan.read, people_in_memory(self.policy.needed_columns, population.people))

    def batch(self, population: ReplacedPerson) -> StatisticsBatch:
        return StatisticsBatch(self.plan, population.people, self.files, self.together)

    def _candidates(self, name: str) -> list[str | None]:
        """Return raw values of a column: its bounds, its first and last classes, and those that a condition names."""
        measure = self.policy.measures.get(name)
        column = next((column for column in self.policy.classes if column.name == name), None)
        found: list[str | None] = [] if measure is None else [str(measure.start), str(measure.stop)]
        if column is not None:
            recoding = column.recoding
            named = {label for made in self.policy.publication.statistics for label in made.among.get(name, ())}
            found += examples(recoding, CLASSES)
            found += [one for one in examples(recoding, EVERY_CLASS) if recoding.label(one) in named]
            found = [value for value in found if recoding.label(value) is not None]
        if any(made.measured and made.column == name for made in self.policy.publication.statistics):
            assert measure is not None, "a column of numbers has bounds"
            found = [value for value in found if measure.code(value) is not None]
        return list(dict.fromkeys(found))

    def _distance(self, one: Values, other: Values) -> float:
        """Return the loss between two persons, by the noise on all that they add to, and by the choices they move."""
        places = range(len(self.policy.publication.statistics))
        return sum(
            self.plan.parameters.noise_epsilon(place) * self._distance_moved(place, one, other) for place in places
        )

    def _distance_moved(self, place: int, one: Values, other: Values) -> float:
        """Return how far apart two persons are for one statistic, in units of the loss of its noise."""
        shape, here, there = self.plan.parameters.shapes[place], self._adds(place, one), self._adds(place, other)
        if isinstance(shape, QuantileShape):
            return shape.shift if here != there else 0.0
        return float(sum(abs(here.get(row, 0) - there.get(row, 0)) for row in {*here, *there}))

    def _adds(self, place: int, values: Values) -> Adds:
        """Return what a person adds to each total of a statistic, in steps; to a quantile, one at a step of a group."""
        made = self.policy.publication.statistics[place]
        person = dict(zip(self.policy.needed_columns, values, strict=True))
        label = {
            column.name: str(column.recoding.label(person[column.name]))
            for column in self.policy.classes
            if column.name in person
        }
        if not all(label[name] in labels for name, labels in made.among.items()):
            return {}
        bins = self.policy.bins(made)
        group = bins.index(tuple(label[name] for name in made.counted_by)) if bins else 0
        if not made.measured:
            return {group: 1}
        bounds = self.policy.measures[str(made.column)]
        step = bounds.code(person[str(made.column)]) or 0
        if made.is_quantile:
            return {group * (bounds.steps + 1) + step: 1}
        if not made.needs_steps:
            return {0: step}
        totals = made.estimand.added(bounds)
        return {len(totals) * group + place: int(added[step]) for place, added in enumerate(totals)}

    def observer(self, population: ReplacedPerson) -> NumbersObserver:
        """Return an observer who knows which published rows the two persons move, and how far, without noise."""
        person, instead = population.persons
        others = [(crowd.values, crowd.size) for crowd in population.people[1:]]
        numbers: list[Number] = []
        row = 0
        for place in range(len(self.policy.publication.statistics)):
            here, there = (self._exact_rows(place, [(one, 1), *others]) for one in (person, instead))
            way, n = self.plan.parameters.way_of(place), self.policy.people
            differing = sum(start != end for start, end in zip(here, there, strict=True))
            loss = (
                self.plan.parameters.noise_epsilon(place)
                * self._distance_moved(place, person, instead)
                / max(1, differing)
            )
            for start, end in zip(here, there, strict=True):
                if start != end:
                    # A person who is drawn moves what a sample says by more.
                    numbers.append(Number(row, start, (end - start) * n / way.people_counted, loss))
                row += 1
        return NumbersObserver(tuple(numbers))

    def _exact_rows(self, place: int, people: list[tuple[Values, int]]) -> list[float]:
        """Return the rows of one statistic about these people, without noise."""
        made, numbers = self.policy.publication.statistics[place], self.plan.values(place)
        shape = self.plan.parameters.shapes[place]
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


@dataclass(frozen=True)
class StatisticsBatch:
    """Releases of a plan about the same population; people have names that no other release of the batch uses.

    Who is drawn is decided among the people of each release by itself, as in a single one. People of a crowd are alike,
    so what those who are drawn add up to follows from how many of each crowd they are.
    """

    plan: StatisticsPlan[Any]
    population: Population
    files: Files
    releases: int = RELEASES

    def draw(self, key: ReleaseKey) -> list[tuple[Drawn, ...]]:
        """Return what the mechanisms make of each release, for every statistic."""
        columns: dict[int, list[Drawn]] = {}
        for taken, mechanism in zip(self.plan.parameters.ways, self.plan.mechanisms, strict=True):
            places, way = taken
            assert isinstance(way, Way)
            totals = [self._exact(composition, way) for composition in self._compositions(way, key)]
            exact = [np.concatenate([one[at] for one in totals]) for at in range(len(places))]
            for place, rows in zip(places, self.plan.add_noise(taken, mechanism, exact, key), strict=True):
                columns[place] = self._by_release(rows)
        return list(zip(*(columns[place] for place in sorted(columns)), strict=True))

    def show(self, outcomes: Sequence[tuple[Drawn, ...]]) -> list[tuple[dict[str, ShownFile], None]]:
        """Return the rows of some releases, written into one file and read again."""
        below = {place: _below(rows) for place, rows in enumerate(zip(*outcomes, strict=True))}
        published = self.plan.published_numbers(below)
        widths = {place: len(rows) // len(outcomes) for place, rows in published.items()}
        outputs = [
            numbers_output(
                self.plan.policy,
                {place: rows[release * widths[place] :][: widths[place]] for place, rows in published.items()},
            )
            for release in range(len(outcomes))
        ]
        joined = {name: [value for one in outputs for value in one.values[name]] for name in outputs[0].values}
        return [(files, None) for files in self.files.cut(replace(outputs[0], values=joined), len(outcomes))]

    def _compositions(self, way: Way, key: ReleaseKey) -> list[Composition]:
        """Return how many of each crowd are counted in each release."""
        sizes = [crowd.size for crowd in self.population]
        if way.mechanism != SAMPLE:
            return [tuple(sizes)] * self.releases
        marks = self._persons.marks(key.coin().persons).reshape(self.releases, -1, 2)
        drawn = np.array([smallest(of_release, way.samples) for of_release in marks])
        counted = np.diff(np.cumsum(drawn, axis=1)[:, np.cumsum(sizes) - 1], axis=1, prepend=0)
        return list(map(tuple, counted.tolist()))

    @cached_property
    def _exact(self) -> Callable[[Composition, Way], list[Whole]]:
        return lru_cache(maxsize=None)(self._added_up)

    def _added_up(self, composition: Composition, way: Way) -> list[Whole]:
        """Return the exact totals of the statistics of a way, as the engine adds them up about these people alone."""
        policy = self.plan.policy.replace(people=sum(composition))
        people = tuple(replace(crowd, size=size) for crowd, size in zip(self.population, composition, strict=True))
        alone = replace(self.plan, policy=policy)
        present = tuple(crowd for crowd in people if crowd.size)
        reading = alone.read(people_in_memory(policy.needed_columns, present), ReleaseKey(new_key()))
        (places,) = (places for places, taken in self.plan.parameters.ways if taken is way)
        return [alone.exact(place, way.mechanism, reading) for place in places]

    def _by_release(self, rows: Whole | ChosenQuantile) -> list[Drawn]:
        if isinstance(rows, ChosenQuantile):
            steps, sizes = (np.array(some).reshape(self.releases, -1).tolist() for some in (rows.steps, rows.sizes))
            return [ChosenQuantile(tuple(one), tuple(size)) for one, size in zip(steps, sizes, strict=True)]
        return list(map(tuple, np.asarray(rows).reshape(self.releases, -1).tolist()))

    @cached_property
    def _persons(self) -> Persons:
        people = sum(crowd.size for crowd in self.population)
        return read_persons(pa.array(np.arange(1, self.releases * people + 1)), "person")


def _below(rows: Sequence[Drawn]) -> Whole | ChosenQuantile:
    """Return what several releases have of one statistic, one below the other."""
    chosen = [one for one in rows if isinstance(one, ChosenQuantile)]
    if chosen:
        return ChosenQuantile(
            tuple(step for one in chosen for step in one.steps), tuple(size for one in chosen for size in one.sizes)
        )
    return np.array([total for one in rows if isinstance(one, tuple) for total in one], np.int64)
