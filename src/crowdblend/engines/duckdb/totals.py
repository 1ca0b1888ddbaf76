"""From rows to exact totals: the only part of this kind that sees rows.

    everybody ──────────────▶ words ── tally ──▶ classes ──┐
    k smallest marks ───────▶ words ── tally ──▶ classes ──┴──▶ totals of every statistic

All labels of a row are counted at once, and every condition and histogram is added up from the classes, so the number
of statistics hardly matters. Averages need one sum for each column with bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdblend.engines.class_counter import Tally
from crowdblend.engines.drawing import random_places, smallest_marks
from crowdblend.engines.duckdb.coding import Coding, reads_numbers
from crowdblend.engines.duckdb.rows import Draw, Rows, open_rows
from crowdblend.engines.progress import Progress
from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.totals import Whole
from crowdblend.policies.statistics import Statistic
from crowdblend.policies.statistics import Statistics as StatisticsPolicy

if TYPE_CHECKING:
    import pyarrow

_QUICK = ("parquet", "duckdb")


@dataclass(frozen=True)
class Totals:
    """What some people add up to. Secret: nothing of it is published as it is."""

    people: int
    classes: SampledClasses | None
    sums: dict[str, int]

    def of(self, statistic: Statistic, bins: Sequence[str]) -> Whole:
        """The exact totals of one statistic: one number, or one for each bin."""
        if statistic.what == "average":
            return np.array([self.sums[str(statistic.column)]], dtype=np.int64)
        classes = self.classes
        assert classes is not None, "conditions and histograms have columns with classes"
        fits = np.ones(len(classes.counts), dtype=np.bool_)
        for name, labels in statistic.among.items():
            place = classes.columns.index(name)
            wanted = [classes.labels[place].index(label) for label in labels]
            fits &= np.isin(classes.codes[:, place], wanted)
        if statistic.what != "histogram":
            return np.array([classes.counts[fits].sum()], dtype=np.int64)
        counted = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counted, classes.codes[fits, classes.columns.index(str(statistic.column))], classes.counts[fits])
        return counted


def everybodys_totals(policy: StatisticsPolicy, progress: Progress | None) -> Totals:
    """The totals of all people."""
    with _open(policy, Draw(), progress) as rows:
        counter = _Counter(policy, rows)
        if policy.data.person is None:
            counter.add(rows.everybody(counter.selected))
        else:
            counter.add(rows.each_once(counter.selected))
        return counter.totals(policy.people)


def samples_totals(policy: StatisticsPolicy, samples: int, key: bytes, progress: Progress | None) -> Totals:
    """The totals of exactly `samples` people, drawn without replacement by the key."""
    margin = 1.0
    while True:
        rate = _rate(samples, policy.people, margin)
        with _open(policy, Draw(key, rate), progress) as rows:
            counter = _Counter(policy, rows)
            counter.add(_drawn(rows, counter.selected, samples, policy.people, key))
            if rows.read != policy.people or counter.people == samples:
                return counter.totals(samples)
        margin *= 2


def _drawn(rows: Rows, selected: str, samples: int, population: int, key: bytes) -> Iterator[pyarrow.Table]:
    """The rows of the people who are drawn; a source that is quick to read is read twice, persons first."""
    if rows.data.person is None:
        yield from rows.at(random_places(samples, population, key), selected)
    elif rows.data.format in _QUICK:
        for people in smallest_marks(rows.people(), samples):
            yield from rows.rows_of(people, selected)
    else:
        yield from smallest_marks(rows.marked(selected), samples)


def _rate(samples: int, population: int, margin: float) -> float:
    """A share of marks so large that fewer people than wanted lie below it with probability under 1e-13 only."""
    return min(1.0, (samples + margin * (8 * math.sqrt(samples) + 60)) / population)


def _open(policy: StatisticsPolicy, draw: Draw, progress: Progress | None) -> AbstractContextManager[Rows]:
    return open_rows(policy.data, policy.resources, policy.wanted, draw, progress)


class _Counter:
    """Counts classes and sums of some rows."""

    def __init__(self, policy: StatisticsPolicy, rows: Rows) -> None:
        averaged = {str(made.column) for made in policy.statistics if made.what == "average"}
        labelled = {str(made.column) for made in policy.statistics if made.what == "histogram"}
        labelled |= {name for made in policy.statistics for name in made.among}
        columns = [column for column in policy.classes if column.name in labelled]
        names = [column.name for column in columns]
        self._rows, self._sums = rows, {name: 0 for name in policy.measures if name in averaged}
        self._coding = Coding(rows.cursor, columns, rows.types(names)) if columns else None
        self._tally = Tally(self._coding.words, self._coding.classes, rows.room) if self._coding else None
        kinds = dict(zip(self._sums, rows.types([*self._sums]), strict=True))
        steps = [policy.measures[name].sql(f"m{place}", reads_numbers(kinds[name])) for place, name in enumerate(kinds)]
        self._query = ", ".join(f"CAST(sum({some}) AS BIGINT), bool_or(({some}) IS NULL)" for some in steps)
        raw = [
            f"{name} AS m{place}" if reads_numbers(kind) else f"CAST({name} AS VARCHAR) AS m{place}"
            for place, (name, kind) in enumerate(zip(rows.identifiers([*kinds]), kinds.values(), strict=True))
        ]
        parts = [self._coding.selected(rows.identifiers(names))] if self._coding else []
        self.selected = ", ".join([*parts, *raw])
        self.people = 0

    def add(self, tables: Iterable[pyarrow.Table]) -> None:
        """Count some more rows."""
        for table in tables:
            self.people += table.num_rows
            if self._coding is not None and self._tally is not None:
                self._tally.add(self._coding.coded(table)[0])
            if self._sums:
                self._sum(table)

    def totals(self, people: int) -> Totals:
        """What was counted, if these were the people that the policy speaks of."""
        self._rows.finish()
        if self._rows.read != self._rows.data.people or self.people != people:
            raise InvalidInput(
                f"people in [data] must be the number of people in the data, got {self._rows.data.people}, and is not. "
                "Count them and correct it."
            )
        classes = None if self._coding is None else self._coding.classes_of(*self._tally.counted())  # type: ignore[union-attr]
        return Totals(people, classes, self._sums)

    def _sum(self, table: pyarrow.Table) -> None:
        cursor = self._rows.cursor
        cursor.register("measured", table)
        try:
            (found,) = cursor.sql(f"SELECT {self._query} FROM measured").fetchall()
        finally:
            cursor.unregister("measured")
        for place, name in enumerate(self._sums):
            total, outside = found[2 * place], found[2 * place + 1]
            if outside:
                raise InvalidInput(
                    f"column {name!r} must have numbers between its bounds only, and has others or blanks. "
                    'Set outside = "clamp" or blank, or widen the bounds.'
                )
            self._sums[name] += int(total or 0)
