"""Many releases of statistics in one run, see `batch`: draws, noise and choices are arrays over all releases.

Who is drawn is decided among the people of each release by itself, as in a single one. People of a crowd are alike, so
what those who are drawn add up to follows from how many of each crowd they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.engines.persons import Persons, read_persons
from crowdblend.engines.sampling import smallest
from crowdblend.kinds.kind import Publication
from crowdblend.kinds.statistics import StatisticsPlan, numbers_output
from crowdblend.mechanisms.quantiles import ChosenQuantile
from crowdblend.planning.statistics import SAMPLE, Way
from crowdblend.randomness import DrawKey, ReleaseKey, new_key
from crowdblend.rehearsal.batch import RELEASES, Known
from crowdblend.rehearsal.looking import Shown, shown_in
from crowdblend.rehearsal.made_up_people import Crowd, Files, Population, people_in_memory

Composition = tuple[int, ...]


@dataclass(frozen=True)
class StatisticsBatch:
    """Releases of a plan about the same population; people have names that no other release of the batch uses."""

    plan: StatisticsPlan
    population: Population
    releases: int = RELEASES

    def noisy(self, key: ReleaseKey) -> list[dict[int, Any]]:
        """What the mechanisms make of each release, by the place of the statistic."""
        columns: dict[int, list[Any]] = {}
        for taken, mechanism in zip(self.plan.parameters.ways, self.plan.mechanisms, strict=True):
            places, way = taken
            compositions, which = self._drawn(way, key)
            totals = [self._exact(composition, way) for composition in compositions]
            exact = [np.concatenate([totals[one][at] for one in which]) for at in range(len(places))]
            for place, all_rows in zip(places, self.plan.add_noise(taken, mechanism, exact, key), strict=True):
                columns[place] = self._by_release(all_rows)
        return [{place: column[release] for place, column in columns.items()} for release in range(self.releases)]

    def shown(self, releases: Sequence[Mapping[int, Any]]) -> list[Shown]:
        """The rows of some releases, written into one file and read again."""
        below = {place: _below([noisy[place] for noisy in releases]) for place in releases[0]}
        published = self.plan.published(below)
        outputs = []
        widths = {place: len(rows) // len(releases) for place, rows in published.items()}
        for release in range(len(releases)):
            own = {place: rows[release * widths[place] :][: widths[place]] for place, rows in published.items()}
            outputs.append(numbers_output(self.plan.policy, own))
        first = outputs[0]
        joined = {name: [value for output in outputs for value in output.values[name]] for name in first.values}
        ((name, content),) = self._files.of(Publication((replace(first, values=joined),), ())).items()
        whole, rows = shown_in(name, content), len(first.values["value"])
        return [Shown(whole.header, whole.rows[start : start + rows]) for start in range(0, len(whole.rows), rows)]

    def _drawn(self, way: Way, key: ReleaseKey) -> tuple[list[Composition], list[int]]:
        """The different compositions of those who are counted, and which of them each release has."""
        sizes = np.array([crowd.size for crowd in self.population])
        if way.mechanism != SAMPLE:
            return [tuple(sizes.tolist())], [0] * self.releases
        coin: DrawKey = key.coin()
        marks = self._persons.marks(coin.persons).reshape(self.releases, -1, 2)
        drawn = np.array([smallest(of_release, way.samples) for of_release in marks])
        ends = np.cumsum(sizes)
        counted = np.diff(np.cumsum(drawn, axis=1)[:, ends - 1], axis=1, prepend=0)
        different, which = np.unique(counted, axis=0, return_inverse=True)
        return [tuple(row) for row in different.tolist()], which.ravel().tolist()

    def _exact(self, composition: Composition, way: Way) -> list[NDArray[np.int64]]:
        """The exact totals of the statistics of a way, as the engine adds them up about these people alone."""
        return self._known.of((composition, way.mechanism), lambda: self._added_up(composition, way))

    def _added_up(self, composition: Composition, way: Way) -> list[NDArray[np.int64]]:
        policy = self.plan.policy
        people = tuple(
            Crowd(crowd.values, size) for crowd, size in zip(self.population, composition, strict=True) if size
        )
        alone = replace(self.plan, policy=replace(policy, people=sum(composition)))
        reading = alone.read(people_in_memory(alone.policy.data, policy.wanted, people), ReleaseKey(new_key()))
        (places,) = (places for places, taken in self.plan.parameters.ways if taken is way)
        return [alone.exact(place, way.mechanism, reading) for place in places]

    def _by_release(self, rows: Any) -> list[Any]:
        if isinstance(rows, ChosenQuantile):
            steps, sizes = (np.array(some).reshape(self.releases, -1).tolist() for some in (rows.steps, rows.sizes))
            return [ChosenQuantile(tuple(one), tuple(size)) for one, size in zip(steps, sizes, strict=True)]
        return [tuple(row) for row in rows.reshape(self.releases, -1).tolist()]

    @cached_property
    def _persons(self) -> Persons:
        people = sum(crowd.size for crowd in self.population)
        return read_persons(pa.array(np.arange(1, self.releases * people + 1)), "person")

    @cached_property
    def _known(self) -> Known[list[NDArray[np.int64]]]:
        return Known()

    @cached_property
    def _files(self) -> Files:
        return Files()


def _below(rows: Sequence[Any]) -> Any:
    """What several releases have of one statistic, one below the other."""
    if isinstance(rows[0], ChosenQuantile):
        steps, sizes = ([one.steps for one in rows], [one.sizes for one in rows])
        return ChosenQuantile(tuple(chain.from_iterable(steps)), tuple(chain.from_iterable(sizes)))
    return list(chain.from_iterable(rows))
