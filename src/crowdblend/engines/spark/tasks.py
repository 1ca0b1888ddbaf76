"""What tasks do on the executors. All of it is computed by the code of the DuckDB engine, on the rows of the task.

A task is a frozen value that Spark carries to the executors, with the secret of the draw where it draws: it travels
inside the function, and is in no query, plan or setting. It never shows itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import ClassCounter, PackedCodes
from crowdblend.engines.draw import Draw, Everybody, StratifiedCoin
from crowdblend.engines.duckdb.class_counts import drawn_by_stratum, marked
from crowdblend.engines.duckdb.coding import Coding
from crowdblend.engines.duckdb.rows import chunks
from crowdblend.engines.duckdb.totals import TotalsCounter
from crowdblend.engines.spark.class_tables import class_table, counted
from crowdblend.engines.spark.opening import Opening
from crowdblend.engines.spark.pieces import Facts, Piece, batches_of, bucket_of, encoded, split
from crowdblend.engines.spark.rows import TaskRows
from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.recoding import Bounded

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Task:
    """Reads the rows of a task and hands over pieces."""

    opening: Opening
    draw: Draw = field(default_factory=Everybody, repr=False)

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """The pieces, as Spark takes them."""
        yield from batches_of(self._pieces(batches))

    def _pieces(self, batches: Iterator[Any]) -> Iterator[Piece]:
        facts = Facts()
        try:
            with self.opening.rows(batches, self.draw) as rows:
                if rows is not None:
                    yield from self.pieces(rows, facts)
                    facts.add("read", rows.read)
        except InvalidInput as problem:
            facts.refuse(problem)
        yield facts.piece()

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        """What is handed over of the rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class CountClasses(Task):
    """Counts the classes of the rows that are drawn; where people may have several rows, hands these over."""

    columns: tuple[Column, ...] = ()

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        names = [column.name for column in self.columns]
        coding = Coding(rows.cursor, self.columns, rows.types(names), rows.data.csv.raw_text)
        selected = coding.selected(rows.read_as(self.columns))
        if rows.data.person is not None and (rows.data.duplicates == "one" or rows.data.rows_per_person is not None):
            yield from self._several(rows, coding, selected)
        else:
            counter = ClassCounter(coding.packing.width, coding.packing.classes)
            for codes in self._codes(rows, coding, selected):
                counter.add(codes)
                yield from rows.noted()
            yield from rows.noted(last=True)
            yield from counted(coding.packing, *counter.counts())
        facts.note_outside(coding.counted_outside())

    def _codes(self, rows: TaskRows, coding: Coding, selected: str) -> Iterator[PackedCodes]:
        """The packed codes of those who are drawn, or of everybody where rows are people."""
        if rows.data.person is not None and isinstance(self.draw, StratifiedCoin):
            yield from drawn_by_stratum(rows, coding, selected, self.draw)
            return
        for chunk in (rows.everybody if rows.data.person is None else rows.each_once)(selected):
            yield coding.coded(chunk)[0]

    def _several(self, rows: TaskRows, coding: Coding, selected: str) -> Iterator[Piece]:
        """The rows themselves, by the bucket of their persons: which of them is kept depends on all.

        By stratum, nobody is drawn before one row of everybody is chosen.
        """
        key, found = rows.row_key, rows.sampled
        if isinstance(self.draw, StratifiedCoin):
            key, found = self.draw.key.persons, rows.all_rows
        for chunk in chunks(marked(some, persons, key) for some, persons in found(selected)):
            codes, (low, high) = coding.coded(chunk, ("mark_low", "mark_high"))
            low, high = (np.ascontiguousarray(word) for word in (low, high))
            table = class_table(coding.packing, codes, low=low.view(np.int64), high=high.view(np.int64))
            for bucket, places in split(bucket_of(low)):
                yield Piece(bucket, "rows", encoded(table.take(places)))


@dataclass(frozen=True)
class AddUp(Task):
    """Counts classes and adds up measures, of everybody, or of those whose marks are not above the last one drawn.

    `places` are those of the rows that are drawn where rows have no names, counted through all files; `starts` is where
    each file begins.
    """

    columns: tuple[Column, ...] = ()
    measures: Mapping[str, Bounded] = field(default_factory=dict)
    last: tuple[int, int] | None = field(default=None, repr=False)
    places: NDArray[np.int64] | None = field(default=None, repr=False)
    starts: Mapping[str, int] = field(default_factory=dict)

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        counter = TotalsCounter(rows, self.columns, self.measures)
        for chunk in self._chunks(rows, counter.selected):
            counter.add([chunk])
            yield from rows.noted()
        yield from rows.noted(last=True)
        facts.add("people", counter.people)
        for name, total in counter.sums.items():
            facts.add(f"sum of {name}", total)
        facts.note_outside(counter.counted_outside())
        found = counter.found()
        if found is not None:
            yield from counted(found[0], *found[1])

    def _chunks(self, rows: TaskRows, selected: str) -> Iterator[pyarrow.Table]:
        if self.last is not None:
            return rows.up_to(self.last, selected)
        if self.places is not None:
            return rows.at_places(self.places, self.starts, selected)
        return rows.everybody(selected) if rows.data.person is None else rows.each_once(selected)


@dataclass(frozen=True)
class MarksBetween(Task):
    """Finds out which mark is the last of exactly k people's: how many are below a window, and those inside it.

    Everybody is noted: with a second row of somebody there are fewer people than n.
    """

    low: int = 0
    high: int = 0

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        for words in rows.everybodys_marks():
            high = words[:, 1]
            facts.add("below", int(np.count_nonzero(high < np.uint64(self.low))))
            inside = words[(high >= np.uint64(self.low)) & (high <= np.uint64(self.high))]
            if len(inside):
                yield Piece(0, "marks", inside.tobytes())
            yield from rows.noted()
        yield from rows.noted(last=True)


@dataclass(frozen=True)
class RowsOfFiles(Task):
    """Says how many rows every file has, as far as the files are read one by one."""

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        for chunk in rows.everybody("1"):
            facts.add(f"rows of {rows.file}", chunk.num_rows)
        yield from ()
