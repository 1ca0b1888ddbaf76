"""Made-up people whose values are recoded once and who are then released many times, each time with another key.

Everything that depends on the key runs as it does in a release: the coin or the thinning, the count of the classes, the
choice of a recoding, the mechanism, and the writing of the files. What does not depend on it, recoding, is done once by
the engine for every combination of values; no engine is started for a run.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.engines.class_counter import Tally, Words
from crowdblend.engines.duckdb.class_counts import Counted, thinned
from crowdblend.engines.duckdb.coding import Coding
from crowdblend.engines.duckdb.rows import Draw, open_rows
from crowdblend.engines.persons import Mask, Persons, read_persons
from crowdblend.errors import InvalidInput
from crowdblend.kinds import promise
from crowdblend.mechanisms import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import DataSource
from crowdblend.rehearsal.files import Files

MOST_PEOPLE = 1 << 17
# Up to this many classes it is faster to count all of them than to sort those that occur.
_DENSE = 1 << 14
Values = tuple[str | None, ...]


@dataclass(frozen=True)
class Crowd:
    """People who all have the same raw values, one for each column of the policy; None is a blank."""

    values: Values
    size: int


Population = tuple[Crowd, ...]


class Rehearsal:
    """What a policy publishes about made-up people, for any key.

    The policy is of a kind that is published from class counts. People who were drawn before are drawn here, at the
    rate that the policy assumes. A promise that is known saves the time of planning again: its plan does not depend on
    the people.
    """

    def __init__(self, policy: Any, population: Population, promised: Any = None) -> None:
        here = drawn_here(policy)
        self.promise: Any = promise(here) if promised is None else replace(promised, policy=here)
        self._table, self._files = _Table(here, population), Files()

    def publish(self, key: bytes) -> tuple[dict[str, bytes], Any]:
        """The files by name, and what else is published: whatever the data decided, if they did."""
        published = self.promise.read_with(self._table.classes, key).publish()
        return self._files.of(published), published.outcome


class _Table:
    """People with numbers from 1 on, and the words of their classes."""

    def __init__(self, policy: Counted, population: Population) -> None:
        sizes = [crowd.size for crowd in population]
        people = sum(sizes)
        if not 1 <= people <= MOST_PEOPLE:
            raise InvalidInput(
                f"a rehearsal must have between 1 and {MOST_PEOPLE:,} people, got {people:,}. Take fewer."
            )
        self._coding, words = coded(policy.resources, policy.columns, tuple(crowd.values for crowd in population))
        self._words: Words = tuple(np.repeat(word, sizes) for word in words)
        self._policy = policy
        self._persons = numbered(policy.data, people)
        self._last: tuple[tuple[bytes, float], Mask] | None = None

    def classes(self, draw: Draw) -> tuple[SampledClasses, dict[str, int]]:
        """The class counts of a draw; there is no steward to tell facts to."""
        if self._persons is None:
            everybody = counted(self._coding, self._words)
            whole = draw.key is None and draw.part is None
            return everybody if whole else thinned(self._policy, everybody, draw), {}
        persons, words = self._persons, self._words
        if draw.key is not None and draw.rate is not None:
            drawn = self._drawn(draw.key, draw.rate)
            persons, words = persons.where(drawn), tuple(word[drawn] for word in words)
        if draw.part is not None:
            inside = draw.part.of_rows(persons)
            words = tuple(word[inside] for word in words)
        return counted(self._coding, words), {}

    def _drawn(self, key: bytes, rate: float) -> Mask:
        """Who is in the sample; those who choose and those who are published come from the same one."""
        if self._last is None or self._last[0] != (key, rate):
            assert self._persons is not None
            self._last = (key, rate), self._persons.drawn(key, rate)
        return self._last[1]


def counted(coding: Coding, words: Words) -> SampledClasses:
    """How often each class occurs; few people do not make the counter go over a large domain."""
    known = coding.classes
    tally = Tally(coding.words, known if known is not None and known <= _DENSE else None)
    tally.add(words)
    return coding.classes_of(*tally.counted())


def numbered(data: DataSource, people: int) -> Persons | None:
    """So many persons, called 1, 2, 3, …; None where rows are people and have no names."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    return None if data.person is None else read_persons(pa.array(np.arange(1, people + 1)), data.person)


def drawn_here(policy: Any) -> Any:
    """The policy with people who were drawn before drawn now, at the assumed rate or at the largest one."""
    sampling = policy.sampling
    rate = sampling.high if sampling.rate is None and sampling.biased else sampling.rate
    return replace(policy, sampling=replace(sampling, already_drawn=False, rate=rate))


@lru_cache(maxsize=8)
def coded(resources: Resources, columns: tuple[Column, ...], values: tuple[Values, ...]) -> tuple[Coding, Words]:
    """The recoding of some columns, and the words of each combination of values, as the engine makes them."""
    import pyarrow as pa  # noqa: PLC0415 - heavy
    from pyarrow import parquet  # noqa: PLC0415

    names = [column.name for column in columns]
    raw = {name: pa.array([one[place] for one in values], pa.string()) for place, name in enumerate(names)}
    with tempfile.TemporaryDirectory(prefix="crowdblend-rehearsal-") as folder:
        source = Path(folder) / "values.parquet"
        parquet.write_table(pa.table(raw), source)
        data = DataSource(str(source), "parquet", rows_are_people=True)
        with open_rows(data, resources, names, Draw()) as rows:
            coding = Coding(rows.cursor, columns, rows.types(names))
            (chunk,) = rows.everybody(coding.selected(rows.identifiers(names)))
            numbered = chunk.append_column("row", pa.array(np.arange(chunk.num_rows)))
            words, (order,) = coding.coded(numbered, ("row",))
    # The engine may give rows back in another order than it took them.
    back = np.argsort(order)
    return coding, tuple(word[back] for word in words)
