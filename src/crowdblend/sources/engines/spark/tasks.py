"""Tasks on the executors. The DuckDB engine's code computes everything, on the task's rows.

A task is a frozen value that Spark carries to the executors, with the secret of the draw where it draws: it travels
inside the function, and is in no query, plan or setting. It never shows itself. A function stays so small that PySpark
hands it over in memory: files come to a task as rows, and places of drawn rows are computed from the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TypeAlias, TypeVar

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Draw, Everybody, Exactly, StratifiedCoin
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.policies.columns import Column
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.class_counter import ClassCounter
from crowdblend.sources.engines.duckdb.counting import Counting
from crowdblend.sources.engines.packing import Packing
from crowdblend.sources.engines.persons import RandomRowPerPerson
from crowdblend.sources.engines.refusals import refusal
from crowdblend.sources.engines.sampling import kept_rows, random_places
from crowdblend.sources.engines.spark.pieces import (
    CLASS_BUCKET_BITS,
    Facts,
    Piece,
    batches_of,
    bucket_of,
    by_bucket,
    class_table,
    count_pieces,
    decode,
    encode,
    packed_codes,
    pieces_of,
    split,
)
from crowdblend.sources.engines.spark.relation import Opening
from crowdblend.sources.engines.spark.rows import TaskRows
from crowdblend.trusted.machine.packages import pyarrow as pa

TaskT = TypeVar("TaskT")
Batches: TypeAlias = "Iterator[pa.RecordBatch]"


def in_batches(task: Callable[[TaskT, Batches], Iterator[Piece]]) -> Callable[[TaskT, Batches], Batches]:
    """Return a task that hands over pieces as Spark takes them."""
    return wraps(task)(lambda self, batches: batches_of(task(self, batches)))


@dataclass(frozen=True)
class Task:
    """Reads the rows of a task and hands over pieces."""

    opening: Opening
    draw: Draw = field(default_factory=Everybody, repr=False)

    @in_batches
    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
        """Yield the pieces."""
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
        """Yield the pieces of the rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class CountClasses(Task):
    """Counts classes and adds up measures of the rows that are drawn; where people may have several, hands these over.

    Of exactly k people those are drawn whose marks are not above the `last` one. Where rows have no names, `at_places`
    is the draw by places: every task computes them from the key.
    """

    columns: tuple[Column, ...] = ()
    measures: Mapping[str, BoundedRecoding] = field(default_factory=dict)
    last: tuple[int, int] | None = field(default=None, repr=False)
    at_places: Exactly | None = field(default=None, repr=False)

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        counting = Counting(rows, self.columns, self.measures)
        if rows.data.person is not None and rows.data.unit.keeps_some_rows and self.last is None:
            # The rows themselves, by the bucket of their persons: which of them is kept depends on all. By stratum,
            # nobody is drawn before one row of everybody is chosen.
            for codes, marks in counting.mark_codes(rows.sampled_rows(counting.selected)):
                low, high = (np.ascontiguousarray(word) for word in marks.T)
                table = class_table(counting.packing, codes, low=low.view(np.int64), high=high.view(np.int64))
                for bucket, places in split(bucket_of(low)):
                    yield Piece(bucket, "rows", encode(table.take(places)))
        else:
            for _ in self._count_drawn(rows, counting):
                yield from rows.noted_persons()
            yield from rows.noted_persons(last=True)
            for name, total in counting.sums.items():
                facts.add(f"sum of {name}", total)
            yield from count_pieces(counting.packing, *counting.counter.counts())
        facts.outside.update(counting.coding.counted_outside())

    def _count_drawn(self, rows: TaskRows, counting: Counting) -> Iterator[None]:
        """Count the people who are drawn, or everybody where rows are people, some rows at a time."""
        if rows.data.person is not None and isinstance(self.draw, StratifiedCoin):
            for codes in counting.drawn_by_stratum():
                counting.add_codes(codes)
                yield
            return
        chunked = rows.everybody if rows.data.person is None else rows.each_once
        if self.last is not None:
            chunked = partial(rows.up_to, self.last)
        elif self.at_places is not None:
            drawn = self.at_places
            chunked = partial(rows.at_places, random_places(drawn.samples, drawn.people, drawn.key))
        for chunk in chunked(counting.selected):
            counting.add([chunk])
            yield


@dataclass(frozen=True)
class MarksBetween(Task):
    """Finds out which mark is the last of exactly k people's: how many are below a window, and those inside it.

    Everybody is noted: with a second row of someone there are fewer people than n.
    """

    low: int = 0
    high: int = 0

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        for _, persons in rows.once("1"):
            words = persons.marks(rows.row_key)
            high = words[:, 1]
            facts.add("below", int(np.count_nonzero(high < np.uint64(self.low))))
            inside = words[(high >= np.uint64(self.low)) & (high <= np.uint64(self.high))]
            if len(inside):
                yield Piece(0, "marks", inside.tobytes())
            yield from rows.noted_persons()
        yield from rows.noted_persons(last=True)


@dataclass(frozen=True)
class RowsOfFiles(Task):
    """Says how many rows every file has, as far as the files are read one by one."""

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        for chunk in rows.everybody("1"):
            if rows.share is not None:
                facts.add(f"rows of {rows.share.files[0]}", chunk.num_rows)
        yield from ()


@dataclass(frozen=True)
class HandOver(Task):
    """Hands over all rows of the columns, called c0, c1 and so on, or as many as the opening looks at."""

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        fields = [rows.relation.field(field.name) for field in self.opening.fields]
        columns = ", ".join(f"{field.identifier} AS c{at}" for at, field in enumerate(fields))
        first = "" if self.opening.most is None else f"LIMIT {self.opening.most}"
        for batch in rows.batches(columns, first):
            yield Piece(0, "table", encode(pa.Table.from_batches([batch])))


# Few classes are not evenly in their buckets.
_ANYWAY = 4096


def too_many_classes(most_classes: int) -> InvalidInput:
    """The refusal of more classes than the driver takes; how many there are is not shown."""
    message = f"The sample has more classes than the driver takes, which are {most_classes:,}."
    remedy = "Raise `release.memory` and the driver's, or coarsen the columns."
    return refusal("memory", message, remedy, "`release.memory`")


@dataclass(frozen=True)
class KeepRows:
    """Keeps one random row of everybody, or at most this many, by the code that keeps them on one machine."""

    columns: tuple[Column, ...]
    data: DataSource
    row_key: bytes = field(repr=False)
    draw: StratifiedCoin | None = field(default=None, repr=False)
    """By stratum, a coin decides about the row that was kept."""
    memory: int | None = None
    """The bytes that the task may take, where the policy says so."""

    @in_batches
    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
        """Yield the classes of the rows that are kept; pieces come in the order of their buckets."""
        facts, packing = Facts(), Packing(self.columns)
        memory = ArrayMemory(Resources(self.memory).array_memory)
        counter = ClassCounter(packing.width, packing.classes, memory)
        for _, kinds in by_bucket(pieces_of(batches)):
            for content in kinds.get("facts", ()):
                facts.take(content)
            if "rows" not in kinds:
                continue
            table = decode(kinds["rows"])
            each = RandomRowPerPerson(self.row_key, packing.width, memory)
            words = [table.column(name).to_numpy().view(np.uint64) for name in ("low", "high")]
            each.add(np.column_stack(words), packed_codes(packing, table))
            codes, people, dropped = kept_rows(each, packing, self.data, self.draw)
            counter.add(codes)
            facts.add("people", people)
            facts.add("dropped", dropped)
            facts.add("rows of people", each.rows)
        yield facts.piece()
        yield from count_pieces(packing, *counter.counts())


@dataclass(frozen=True)
class Merge:
    """Sums classes, and finds out whether someone has several rows."""

    allowed: int

    @in_batches
    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Piece]:
        """Yield the merged pieces; they come in the order of their buckets."""
        facts, repeated = Facts(), False
        for bucket, kinds in by_bucket(pieces_of(batches)):
            for content in kinds.get("facts", ()):
                facts.take(content)
            repeated = repeated or _same_number(kinds.get("numbers", ())) or _same_mark(kinds.get("texts", ()))
            if "classes" in kinds:
                yield self._sum_classes(bucket, kinds["classes"], facts)
            yield from (Piece(bucket, "marks", content) for content in kinds.get("marks", ()))
        facts.add("repeated", int(repeated))
        yield facts.piece()

    def _sum_classes(self, bucket: int, contents: Sequence[bytes], facts: Facts) -> Piece:
        """Return the sums of the classes; more than twice what the driver takes of a bucket is not handed over."""
        table = decode(contents)
        keys = [name for name in table.column_names if name != "n"]
        summed = table.group_by(keys, use_threads=False).aggregate([("n", "sum")]).select([*keys, "n_sum"])
        if summed.num_rows > 2 * (self.allowed >> CLASS_BUCKET_BITS) + _ANYWAY:
            facts.refuse(too_many_classes(self.allowed))
            summed = summed.slice(0, 0)
        return Piece(bucket, "classes", encode(summed.rename_columns([*keys, "n"])))


def _same_number(contents: Sequence[bytes]) -> bool:
    ordered = np.sort(np.frombuffer(b"".join(contents), dtype=np.int64))
    return bool((ordered[1:] == ordered[:-1]).any())


def _same_mark(contents: Sequence[bytes]) -> bool:
    words = np.frombuffer(b"".join(contents), dtype=np.uint64).reshape(-1, 2)
    ordered = words[np.lexsort((words[:, 1], words[:, 0]))]
    return bool((ordered[1:] == ordered[:-1]).all(axis=1).any())
