"""A source as Spark sees it: columns of known types, and tasks that read its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.duckdb.relation import PLACE, Field, Relation
from crowdblend.engines.spark.opening import Opening, evenly
from crowdblend.engines.spark.pieces import SCHEMA
from crowdblend.engines.spark.session import quiet
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

OfTask = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class SparkRelation:
    """A source that is open: a frame of Spark, or CSV or small Parquet files that tasks read themselves.

    `rows` is how many rows there are, counted by other means than Spark's; None where there are none. `sizes` are the
    rows of every one of the files, where they were counted.
    """

    spark: SparkSession
    data: DataSource
    fields: tuple[Field, ...]
    frame: DataFrame | None = None
    files: tuple[Path, ...] = ()
    rows: int | None = None
    sizes: tuple[int, ...] | None = None

    def field(self, name: str) -> Field:
        """The column of this name."""
        return next(field for field in self.fields if field.name == name)

    def check_rows(self, read: int) -> None:
        """Refuse when another number of rows was read than there are."""
        Relation("", (), rows=self.rows).check_rows(read)

    def opening(self, names: Sequence[str], *, placed: bool = False) -> Opening:
        """How tasks come to these columns; the person comes first. With `placed` rows are known by their places."""
        person = [] if self.data.person is None else [self.data.person]
        wanted = dict.fromkeys([*person, *names])
        fields = tuple(self.field(name) for name in wanted)
        if self.frame is not None:
            fields = tuple(replace(field, identifier=f"c{at}") for at, field in enumerate(fields))
        lists: tuple[tuple[Path, ...], ...] = ()
        if self.frame is None:
            lists = tuple((file,) for file in self.files) if placed else evenly(self.files)
        return Opening(replace(self.data, frame=None), fields, lists, placed)

    def mapped(self, task: OfTask, opening: Opening, schema: str = SCHEMA) -> DataFrame:
        """What the tasks hand over."""
        if self.frame is None:
            source = self.spark.range(0, len(opening.files), 1, len(opening.files))
        else:
            source = self.selected([field.name for field in opening.fields], placed=opening.placed)
        with quiet():
            return source.mapInArrow(plain_function(task), schema)

    def selected(self, names: Sequence[str], *, placed: bool = False) -> DataFrame:
        """Some columns of the frame, called c0, c1 and so on, and each row's file and place in it."""
        assert self.frame is not None
        # Without columns there would be no rows.
        columns = [f"{_quoted(name)} AS c{at}" for at, name in enumerate(names)] or ["0 AS c0"]
        if placed:
            columns += [f"_metadata.file_path AS {PLACE[0]}", f"_metadata.row_index AS {PLACE[1]}"]
        return self.frame.selectExpr(*columns)


def shuffled(pieces: DataFrame) -> DataFrame:
    """All pieces of a bucket in one partition, one bucket after the other."""
    return pieces.repartition("bucket").sortWithinPartitions("bucket")


def then(pieces: DataFrame, task: OfTask) -> DataFrame:
    """What tasks that have whole buckets make of them."""
    with quiet():
        return shuffled(pieces).mapInArrow(plain_function(task), SCHEMA)


def plain_function(task: OfTask) -> OfTask:
    """The task as a function, which is what Spark takes."""

    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        yield from task(batches)

    return run


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
