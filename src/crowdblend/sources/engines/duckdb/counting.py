"""A query from a table of people to the class counts and sums of a draw.

    drawn rows ── recode ──▶ packed codes ── count ──▶ ClassCounts

What is counted depends on the drawn rows alone, so the result is the same whatever the order of the rows, the batches
and the number of threads. All labels of a row are counted at once, and every condition and histogram of statistics is
added up from the classes, so their number hardly matters. Averages need one sum for each column with bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from crowdblend.methods.designs.draw import Exactly, StratifiedCoin
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.policies.columns import Column
from crowdblend.sources.engines.class_counter import ClassCounter, PackedCodes
from crowdblend.sources.engines.duckdb.coding import Coding, DirectCoding, HasNoClass, recodes_directly
from crowdblend.sources.engines.duckdb.rows import Rows
from crowdblend.sources.engines.engine import ClassCounts, check_people
from crowdblend.sources.engines.persons import Persons, RandomRowPerPerson
from crowdblend.sources.engines.refusals import outside_bounds
from crowdblend.sources.engines.sampling import (
    Marks,
    drawn_codes,
    kept_rows,
    random_places,
    smallest_marks,
    thin_classes,
)
from crowdblend.trusted.machine.packages import pyarrow as pa

_QUICK = ("parquet", "duckdb", "frame")
_MARK = ("mark_low", "mark_high")


def class_counts(
    rows_again: Callable[[], Rows], columns: Sequence[Column], measures: Mapping[str, BoundedRecoding]
) -> ClassCounts:
    """The class counts of a draw, and the sums of measures; `rows_again` begins a new reading."""
    rows = rows_again()
    types = rows.types([column.name for column in columns])
    if not (measures or isinstance(rows.draw, Exactly)) and recodes_directly(rows.data.format, columns, types):
        try:
            return Counting(rows, columns, {}, DirectCoding).count().result()
        except HasNoClass:
            rows = rows_again()  # what to say of it, only the other way knows
    counting, margin, draw = Counting(rows, columns, measures).count(), 1.0, rows.draw
    while isinstance(draw, Exactly) and counting.rows.read == draw.people and counting.counted < draw.samples:
        margin *= 2
        counting = Counting(rows_again(), columns, measures).count(margin)
    return counting.result()


class Counting:
    """Counts classes and sums of some rows."""

    def __init__(
        self, rows: Rows, columns: Sequence[Column], measures: Mapping[str, BoundedRecoding], how: type[Coding] = Coding
    ) -> None:
        self.rows, self.columns, self.sums = rows, columns, dict.fromkeys(measures, 0)
        self.coding = how(rows.cursor, columns, rows.types([one.name for one in columns]), rows.data.csv.raw_text)
        self.packing = self.coding.packing
        self.counter = ClassCounter(self.packing.width, self.packing.classes, rows.memory)
        self.counted = 0
        self._people: int | None = None
        self._dropped: int | None = None
        self._rows_of_people: int | None = None
        typed = [kind.is_number for kind in rows.types([*measures])]
        steps = [bounded.sql(f"m{at}", typed[at]) for at, bounded in enumerate(measures.values())]
        self._query = ", ".join(f"CAST(sum({some}) AS BIGINT), bool_or(({some}) IS NULL)" for some in steps)
        raw = [
            f"{name} AS m{at}" if typed[at] else f"CAST({name} AS VARCHAR) AS m{at}"
            for at, name in enumerate(rows.numbers([*measures]))
        ]
        self.selected = ", ".join([*([self.coding.select_sql(rows.read_as(columns))] if columns else []), *raw])

    def add(self, tables: Iterable[pa.Table]) -> None:
        """Count some more rows."""
        for table in tables:
            self.add_codes(self.coding.encode(table)[0])
            if self.sums:
                self._sum(table)

    def add_codes(self, codes: PackedCodes) -> None:
        """Count some more rows by their packed codes."""
        self.counted += len(codes[0])
        self.counter.add(codes)

    def mark_codes(self, batches: Iterable[tuple[pa.RecordBatch, Persons]]) -> Iterator[tuple[PackedCodes, Marks]]:
        """The packed codes of rows, and the marks of their persons: those by which strata are drawn, if they are."""
        draw = self.rows.draw
        key = draw.key.persons if isinstance(draw, StratifiedCoin) else self.rows.row_key
        for chunk in self.rows.chunks(_mark_rows(some, persons, key) for some, persons in batches):
            codes, words = self.coding.encode(chunk, _MARK)
            yield codes, np.column_stack(words)

    def drawn_by_stratum(self) -> Iterator[PackedCodes]:
        """Yield the packed codes of those who are drawn, where everybody has one row."""
        assert isinstance(self.rows.draw, StratifiedCoin)
        for codes, marks in self.mark_codes(self.rows.once(self.selected)):
            yield drawn_codes(self.packing, codes, marks, self.rows.draw)

    def count(self, margin: float = 1.0) -> Counting:
        """Count the people who are drawn; of exactly k people, those below a rate that grows."""
        rows, data, draw = self.rows, self.rows.data, self.rows.draw
        if isinstance(draw, Exactly):
            self.add(_drawn_rows(rows, self.selected, draw, _rate(draw, margin)))
        elif data.person is None:
            self.add(rows.everybody(self.selected))
        elif data.unit.keeps_some_rows:
            self._keep_some(draw if isinstance(draw, StratifiedCoin) else None)
        elif isinstance(draw, StratifiedCoin):
            for codes in self.drawn_by_stratum():
                self.add_codes(codes)
        else:
            self.add(rows.each_once(self.selected, classes=not self.coding.queries))
        return self

    def _keep_some(self, draw: StratifiedCoin | None) -> None:
        """Count one random row of everybody, or some; by stratum, nobody is drawn before one row is chosen."""
        rows = self.rows
        each = RandomRowPerPerson(rows.row_key, self.packing.width, rows.memory)
        for codes, marks in self.mark_codes(rows.sampled_rows(self.selected)):
            each.add(marks, codes)
        self._rows_of_people = each.rows
        codes, self._people, self._dropped = kept_rows(each, self.packing, rows.data, draw)
        self.add_codes(codes)

    def result(self) -> ClassCounts:
        """Return the counts, if these were the people of the draw."""
        rows, draw = self.rows, self.rows.draw
        rows.finish()
        codes, counts = self.counter.counts()
        # a row of codes, a count and what is needed to make them
        rows.memory.check(len(counts) * (4 * len(self.columns) + 24))
        classes = self.packing.classes_of(codes, counts)
        if rows.data.person is None and not isinstance(draw, Exactly):
            classes = thin_classes(self.columns, classes, draw)
        check_people(rows.data, draw, rows.read, classes.people)
        people = classes.people if self._people is None else self._people
        cut = self._dropped, self._rows_of_people
        return ClassCounts(classes, rows.read, people, *cut, self.coding.outside(), self.sums)

    def _sum(self, table: pa.Table) -> None:
        cursor = self.rows.cursor
        cursor.register("measured", table)
        try:
            (found,) = cursor.sql(f"SELECT {self._query} FROM measured").fetchall()
        finally:
            cursor.unregister("measured")
        for name, total, outside in zip(self.sums, found[::2], found[1::2], strict=True):
            if outside:
                raise outside_bounds(name)
            self.sums[name] += int(total or 0)


def _drawn_rows(rows: Rows, columns_sql: str, draw: Exactly, rate: float) -> Iterator[pa.Table]:
    """Yield the rows of the people who are drawn; a source that is quick to read is read twice, persons first."""
    if rows.data.person is None:
        yield from rows.at(random_places(draw.samples, draw.people, draw.key), columns_sql)
    elif rows.data.format in _QUICK:
        for people in smallest_marks(rows.people(rate), draw.samples):
            yield from rows.rows_of(people, columns_sql)
    else:
        yield from smallest_marks(rows.rows_below(columns_sql, rate), draw.samples)


def _rate(draw: Exactly, margin: float) -> float:
    """A share of marks so large that fewer people than wanted lie below it with probability under 1e-13 only."""
    return min(1.0, (draw.samples + margin * (8 * math.sqrt(draw.samples) + 60)) / draw.people)


def _mark_rows(rows: pa.RecordBatch, persons: Persons, key: bytes) -> pa.RecordBatch:
    """Return the rows with the two words of their persons' marks beside them."""
    low, high = np.ascontiguousarray(persons.marks(key).T)
    return rows.append_column(_MARK[0], pa.array(low)).append_column(_MARK[1], pa.array(high))
