"""Identity of a source: the hashes of the DuckDB engine, computed by tasks, grouped by Spark.

The same rows have the same hashes on both engines, so the ledger knows a sample again whichever has read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from crowdblend.errors import InvalidInput
from crowdblend.ledger.identity import Anchor
from crowdblend.sources.engines.duckdb.database import small_database
from crowdblend.sources.engines.duckdb.identity import BEYOND, DuckDBHashes, content_name
from crowdblend.sources.engines.duckdb.relation import VIEW, Relation
from crowdblend.sources.engines.identity import Hashes, SomeRows, digest_of, rows_to_look_at, source_name
from crowdblend.sources.engines.spark.class_counts import merge
from crowdblend.sources.engines.spark.pieces import Facts, Piece, problem_of
from crowdblend.sources.engines.spark.relation import Opening, SparkRelation, function_for, one_each
from crowdblend.sources.engines.spark.rows import TaskRows
from crowdblend.sources.engines.spark.session import collect, quiet
from crowdblend.sources.engines.spark.shares import Share, evenly
from crowdblend.sources.engines.spark.source import rows_of
from crowdblend.sources.engines.spark.tasks import RowsOfFiles, Task
from crowdblend.trusted.machine.packages import pyarrow as pa

_GROUPS = "anchor int, decides long, content long, n long, number long, problem string"
_HASHED_FILES = "file string, digest binary"


@dataclass(frozen=True)
class HashRows:
    """Hashes the rows of a task, each anchor up to its level; `rows` are those of all tasks."""

    opening: Opening
    wanted: tuple[tuple[Anchor, int], ...]
    rows: int
    hashing: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the hashes, a row each, as Spark groups them."""
        try:
            with self.opening.relation(batches) as opened:
                if opened is not None:
                    hashes = DuckDBHashes(opened[0], replace(opened[1], rows=self.rows))
                    if hashes.hashing != self.hashing:
                        message = (
                            "The Spark executors have another version of DuckDB than the driver, with other hashes."
                        )
                        remedy = "Install the same version everywhere."
                        raise InvalidInput(message, remedy=remedy, where="duckdb", code="engine.spark-package")
                    for at, found in enumerate(hashes.scan(self.wanted)):
                        yield _groups(at, found.rows, found.numbers)
        except InvalidInput as problem:
            yield _groups(0, [(0, 0, 0)], {}, problem=json.dumps(problem.in_notation(None).to_dict()))


def _groups(
    at: int, rows: list[tuple[int, int, int]], numbers: Mapping[int, int], problem: str | None = None
) -> pa.RecordBatch:
    decides, content = (np.array([row[place] for row in rows], np.uint64).view(np.int64) for place in (0, 1))
    return pa.RecordBatch.from_pydict(
        {
            "anchor": pa.array([at] * len(rows), pa.int32()),
            "decides": decides,
            "content": content,
            "n": pa.array([row[2] for row in rows], pa.int64()),
            "number": pa.array([numbers.get(content) for _, content, _ in rows], pa.int64()),
            "problem": pa.array([problem] * len(rows), pa.string()),
        }
    )


class SparkHashes(DuckDBHashes):
    """The hashes of a source that is open in Spark."""

    def __init__(self, relation: SparkRelation) -> None:
        self._in_spark = relation
        self._columns = {field.name: (field.identifier, field.type) for field in relation.fields}

    @cached_property
    def hashing(self) -> str:
        """The name of the hash function, which is that of DuckDB."""
        with small_database() as connection:
            return DuckDBHashes(connection, Relation("", ())).hashing

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        if self._in_spark.rows is not None:
            return self._in_spark.rows
        facts, _ = merge(self._in_spark, RowsOfFiles(self._in_spark.opening(())))
        return facts.counts.get("read", 0)

    @cached_property
    def some_rows(self) -> SomeRows:
        """The hashes of all columns, of the first rows."""
        names = [field.name for field in self._in_spark.fields]
        table, fields = rows_of(self._in_spark, names, rows_to_look_at(len(names)))
        with small_database() as connection:
            connection.register(VIEW, table)
            relation = Relation(VIEW, fields, rows=self.rows)
            return DuckDBHashes(connection, relation, self._in_spark.data.person).some_rows

    def _first(self, anchors: Sequence[tuple[Anchor, int]]) -> list[Hashes]:
        """One job for all anchors; where that is too much, one for each."""
        found = self.scan(anchors)
        if sum(len(each.rows) for each in found) >= BEYOND * len(anchors) and len(anchors) > 1:
            return [self.scan([one])[0] for one in anchors]
        return found

    def scan(self, anchors: Sequence[tuple[Anchor, int]]) -> list[Hashes]:
        """Return the hashes of anchors, each up to its level."""
        if not anchors:
            return []
        names = dict.fromkeys(name for anchor, _ in anchors for name in (*anchor.by, *anchor.columns))
        opening = self._in_spark.opening([*names])
        task = HashRows(opening, tuple(anchors), self.rows, self.hashing)
        hashed = self._in_spark.map_tasks(task, opening, _GROUPS).groupBy("anchor", "decides", "content")
        summed = hashed.agg({"n": "sum", "number": "min", "problem": "max"}).limit(BEYOND * len(anchors))
        columns = collect(summed).to_pydict()
        for problem in columns["max(problem)"]:
            if problem is not None:
                raise problem_of(json.loads(problem))
        rows: list[list[tuple[int, int, int]]] = [[] for _ in anchors]
        numbers: list[dict[int, int]] = [{} for _ in anchors]
        keys = (columns[name] for name in ("anchor", "decides", "content", "sum(n)", "min(number)"))
        for at, decides, content, count, number in zip(*keys, strict=True):
            rows[at].append((decides % (1 << 64), content % (1 << 64), count))
            if number is not None:
                numbers[at][content % (1 << 64)] = number
        return [Hashes(level, rows[at], numbers[at]) for at, (_, level) in enumerate(anchors)]

    def name(self, secret: bytes) -> str:
        """A name for the exact content: that of the files, or of the rows in whatever order where there are none."""
        if self._in_spark.files:
            return source_name(self._in_spark.data, secret, self._digests)
        names = [field.name for field in self._in_spark.fields]
        opening = self._in_spark.opening(names)
        facts, _ = merge(self._in_spark, HashContent(opening))
        sums = [facts.counts.get(name, 0) for name in ("read", "first", "second")]
        return content_name(self._in_spark.fields, sums, secret)

    def _digests(self, files: list[Path], key: bytes) -> list[bytes]:
        """Return the keyed hashes of files, each computed where a task runs."""
        spark, lists = self._in_spark.spark, evenly([file.absolute() for file in files])
        tasks = one_each(spark, [Share(some).to_json() for some in lists])
        with quiet():
            frame = tasks.mapInArrow(function_for(spark, HashFiles(key)), _HASHED_FILES)
        found: list[bytes] = collect(frame).column("digest").to_pylist()
        return found


@dataclass(frozen=True)
class HashFiles:
    """Hashes the files that a task is handed."""

    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield every file and its hash."""
        for batch in batches:
            some = [file for text in batch.column(0).to_pylist() for file in Share.of_json(text).files]
            digests = pa.array([digest_of(file, self.key) for file in some], pa.binary())
            yield pa.RecordBatch.from_pydict({"file": pa.array(map(str, some), pa.string()), "digest": digests})


@dataclass(frozen=True)
class HashContent(Task):
    """Adds up two hashes of every row, so that their order does not matter."""

    def pieces(self, rows: TaskRows, facts: Facts) -> Iterator[Piece]:
        every = ", ".join(field.identifier for field in rows.relation.fields)
        for table in rows.everybody(f"hash({every}) AS first, hash('second', {every}) AS second"):
            for name in ("first", "second"):
                facts.add(name, int(table.column(name).to_numpy().astype(np.uint64).sum(dtype=np.uint64)))
        yield from ()
