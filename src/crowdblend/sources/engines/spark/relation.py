"""A source as Spark sees it: columns of known types, and tasks that read its rows."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.methods.designs.draw import Draw, Everybody
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.duckdb.database import database, redact
from crowdblend.sources.engines.duckdb.files import open_csv
from crowdblend.sources.engines.duckdb.relation import VIEW, Field, Relation
from crowdblend.sources.engines.refusals import refusal
from crowdblend.sources.engines.spark.own_code import fingerprint
from crowdblend.sources.engines.spark.pieces import SCHEMA
from crowdblend.sources.engines.spark.rows import TaskRows
from crowdblend.sources.engines.spark.session import BROADCAST_FROM, OTHER_CODE, broadcast_from, quiet
from crowdblend.sources.engines.spark.shares import Share, shares_of
from crowdblend.sources.engines.temporary_files import private_folder
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.machine.version import __version__

with lazy_imports():
    from pyspark import cloudpickle
    from pyspark.sql import functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What PySpark adds to a function that it sends.
_WRAPPING = 1 << 14

OfTask = Callable[["Iterator[pa.RecordBatch]"], "Iterator[pa.RecordBatch]"]


@dataclass(frozen=True, eq=False)
class SparkRelation:
    """A source that is open: a frame of Spark, or CSV or Parquet files that tasks read themselves.

    `rows` is how many rows there are, counted by other means than Spark's; None where there are none. `sizes` are the
    rows of every one of the files, where they were counted. `cut` says that several tasks may read a file. `memory` is
    what each task may take, in bytes.
    """

    spark: SparkSession
    data: DataSource
    fields: tuple[Field, ...]
    frame: DataFrame | None = None
    files: tuple[Path, ...] = ()
    rows: int | None = None
    sizes: tuple[int, ...] | None = None
    cut: bool = False
    memory: int | None = None

    def field(self, name: str) -> Field:
        """Return the column of this name."""
        return next(field for field in self.fields if field.name == name)

    def check_rows(self, read: int) -> None:
        """Refuse when another number of rows was read than there are."""
        Relation("", (), rows=self.rows).check_rows(read)

    def opening(self, names: Sequence[str], *, placed: bool = False) -> Opening:
        """Return how tasks open these columns, the person first; of `placed` rows each has its place in a file."""
        person = [] if self.data.person is None else [self.data.person]
        wanted = dict.fromkeys([*person, *names])
        fields = tuple(self.field(name) for name in wanted)
        if self.frame is not None:
            fields = tuple(replace(field, identifier=f"c{at}") for at, field in enumerate(fields))
        return Opening(
            replace(self.data, frame=None), fields, in_files=self.frame is None, placed=placed, memory=self.memory
        )

    def map_tasks(self, task: OfTask, opening: Opening, schema: str = SCHEMA) -> DataFrame:
        """Return what the tasks hand over."""
        if self.frame is None:
            source = one_each(self.spark, [share.to_json() for share in self.shares(opening)])
        else:
            # Without columns there would be no rows.
            quoted = ["`" + field.name.replace("`", "``") + "`" for field in opening.fields] or ["0"]
            columns = [f"{name} AS c{at}" for at, name in enumerate(quoted)]
            source = self.frame.selectExpr(*columns)
        with quiet():
            return source.mapInArrow(function_for(self.spark, task), schema)

    def shares(self, opening: Opening) -> Sequence[Share]:
        """Return the shares of the tasks; one alone where only the first rows are looked at."""
        shares = shares_of(self.files, cut=self.cut, alone=opening.placed)
        if opening.placed and self.sizes is not None:
            starts = dict(zip(self.files, accumulate(self.sizes[:-1], initial=0), strict=True))
            shares = tuple(replace(share, first=starts[share.files[0]]) for share in shares)
        return shares if opening.most is None else shares[:1]


def one_each(spark: SparkSession, texts: Sequence[str]) -> DataFrame:
    """Return a frame that hands each task one of the texts: so no task knows the others', and no function is large."""
    table = pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())})
    with quiet():
        handed = functions.broadcast(spark.createDataFrame(table))
        return spark.range(0, len(texts), 1, len(texts)).join(handed, "id").select("text")


def then(pieces: DataFrame, task: OfTask) -> DataFrame:
    """Return what tasks make of pieces, each of whole buckets, one after the other."""
    with quiet():
        buckets = pieces.repartition("bucket").sortWithinPartitions("bucket")
        return buckets.mapInArrow(function_for(pieces.sparkSession, task), SCHEMA)


def function_for(spark: SparkSession, task: OfTask) -> OfTask:
    """Return the task as a function; refuse one that PySpark would write to the driver's disk, key and all.

    A larger function is broadcast through a file, which stays there until the driver ends. Spark Connect has none.
    """
    if len(cloudpickle.dumps(task)) + _WRAPPING > broadcast_from(spark):
        message = "The policy has so many labels that PySpark would write them to the driver's disk, with the key."
        raise refusal("broadcast", message, f"Set {BROADCAST_FROM} = 1g, and start again.", BROADCAST_FROM)
    return plain_function(task)


def plain_function(task: OfTask) -> OfTask:
    """Return the task as a function, which is what Spark takes; it refuses to run with other code than the driver's.

    The task is packed, so that what unpacks it has been compared before.
    """
    own, packed = (__version__, fingerprint()), cloudpickle.dumps(task)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        version = importlib.import_module("crowdblend.trusted.machine.version").__version__
        try:
            found = importlib.import_module("crowdblend.sources.engines.spark.own_code").fingerprint()
        except ImportError:
            found = None
        if (version, found) != own:
            raise RuntimeError(f"{OTHER_CODE}[{version}]")
        yield from pickle.loads(packed)(batches)

    return run


UNREADABLE = "The source cannot be read from beginning to end."
# What a task may take of which the policy says nothing: the database spills, and the worker stays small.
_USUAL_MEMORY = 650 * 10**6
REMEDY = "Check that all executors see the files under the same path, and in CSV every line's fields and quotes."


@dataclass(frozen=True)
class Opening:
    """The columns that tasks read, and where they come from.

    Spark hands over the columns, called as `fields` say. Of rows `in_files` it hands each task a share of the files to
    read; of `placed` rows each has its place in a file.
    """

    data: DataSource
    fields: tuple[Field, ...]
    in_files: bool = False
    placed: bool = False
    most: int | None = None
    """How many rows are looked at, where only the first are."""
    memory: int | None = None
    """The bytes that a task may take, where the policy says so."""

    @contextmanager
    def relation(
        self, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, Relation, Share | None] | None]:
        """A database with the rows of this task as a relation; None where it has none."""
        first = next(batches, None)
        if first is None:
            yield None
            return
        # One thread: Spark runs as many tasks as there are cores.
        resources = Resources(self.memory or _USUAL_MEMORY, threads=1)
        with private_folder() as folder, database(resources, folder) as connection, redact(UNREADABLE, REMEDY):
            if self.in_files:
                (text,) = (text for batch in chain([first], batches) for text in batch.column(0).to_pylist())
                share = Share.of_json(text)
                if self.data.format == "parquet":
                    relation = Relation(share.parquet_sql, self.fields)
                else:
                    relation = open_csv(self.data, share.files, [field.name for field in self.fields], folder).ready()
                yield connection, relation, share
                return
            reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
            connection.register(VIEW, reader)
            yield connection, Relation(VIEW, self.fields), None

    @contextmanager
    def rows(self, batches: Iterator[pa.RecordBatch], draw: Draw | None = None) -> Iterator[TaskRows | None]:
        """The rows of this task for a draw; None where it has none."""
        with self.relation(batches) as opened:
            if opened is None:
                yield None
                return
            connection, relation, share = opened
            with closing(connection.cursor()) as cursor:
                memory = ArrayMemory(Resources(self.memory).array_memory)
                rows = TaskRows(self.data, connection, cursor, relation, draw or Everybody(), memory, None)
                rows.begin(share)
                yield rows
                if self.most is None:
                    relation.check_rows(rows.read)
