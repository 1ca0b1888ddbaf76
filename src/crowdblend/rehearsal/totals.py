"""Made-up people whose statistics are released many times, each time with another key.

People are recoded once. For each key, those who are drawn, their totals, the noise and the files are made by what makes
them in a release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.drawing import random_places, smallest_marks
from crowdblend.engines.duckdb.totals import Totals
from crowdblend.kinds.statistics import Promise
from crowdblend.planning.statistics import EVERYBODY, Way
from crowdblend.policies.statistics import Statistics as StatisticsPolicy
from crowdblend.rehearsal.files import Files
from crowdblend.rehearsal.table import Population, coded, counted, numbered

if TYPE_CHECKING:
    pass

Places = NDArray[np.int64]


class TotalsRehearsal:
    """What a policy of statistics publishes about made-up people, for any key; values are those of `wanted`."""

    def __init__(self, promised: Promise, population: Population) -> None:
        self._promised, self._files = promised, Files()
        self._people = _People(promised.policy, population)

    def publish(self, key: bytes) -> dict[str, bytes]:
        """The files by name."""
        return self._files.of(self._promised.read_with(lambda way: self._people.totals(way, key), key).publish())


class _People:
    """People with numbers from 1 on, the words of their classes and the steps of what is averaged."""

    def __init__(self, policy: StatisticsPolicy, population: Population) -> None:
        import pyarrow as pa  # noqa: PLC0415 - heavy

        sizes = [crowd.size for crowd in population]
        self._all = np.arange(sum(sizes))
        self._places = pa.record_batch([pa.array(self._all)], names=["place"])
        self._persons = numbered(policy.data, len(self._all))
        wanted, made = policy.wanted, policy.statistics
        labelled = {name for one in made for name in one.among} | {
            one.column for one in made if one.what == "histogram"
        }
        columns = tuple(column for column in policy.classes if column.name in labelled)
        self._coding = None
        if columns:
            places = [wanted.index(column.name) for column in columns]
            values = tuple(tuple(crowd.values[place] for place in places) for crowd in population)
            self._coding, words = coded(policy.resources, columns, values)
            self._words = tuple(np.repeat(word, sizes) for word in words)
        self._steps: dict[str, Places] = {}
        for name in {str(one.column) for one in made if one.what == "average"}:
            steps = [policy.measures[name].code(crowd.values[wanted.index(name)]) for crowd in population]
            assert None not in steps, "made-up people keep to the bounds"
            self._steps[name] = np.repeat(np.array(steps, np.int64), sizes)
        self._everybody = self._totals(self._all)

    def totals(self, way: Way, key: bytes) -> Totals:
        """The totals of everybody, or of exactly as many as are drawn."""
        return self._everybody if way.mechanism == EVERYBODY else self._totals(self._drawn(way.samples, key))

    def _drawn(self, samples: int, key: bytes) -> Places:
        """Where the people are who are drawn."""
        if self._persons is None:
            return random_places(samples, len(self._all), key)
        drawn = smallest_marks([(self._places, self._persons.marks(key))], samples)
        return np.concatenate([table.column("place").to_numpy() for table in drawn])

    def _totals(self, places: Places) -> Totals:
        classes = None
        if self._coding is not None:
            classes = counted(self._coding, tuple(word[places] for word in self._words))
        return Totals(len(places), classes, {name: int(steps[places].sum()) for name, steps in self._steps.items()})
