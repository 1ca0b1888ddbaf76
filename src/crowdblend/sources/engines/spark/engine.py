"""Spark as an engine: frames, tables of its catalog, Parquet and CSV files, read by the tasks of a cluster.

    driver ── tasks with the secret of the draw ──▶ executors: coin, recoding, counting, as in the DuckDB engine
           ◀── class counts, totals, hashes ────── shuffle: the same person twice? sums

The same policy, rows and key give the same bytes as the DuckDB engine, however the rows are partitioned and whichever
tasks are tried again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from crowdblend.ledger.identity import FingerprintRequest, Identity
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.policies.columns import Column
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.engine import NO_MEASURES, ClassCounts, ColumnType, Progress
from crowdblend.sources.engines.spark.class_counts import class_counts
from crowdblend.sources.engines.spark.identity import SparkHashes
from crowdblend.sources.engines.spark.relation import SparkRelation
from crowdblend.sources.engines.spark.session import session
from crowdblend.sources.engines.spark.source import open_source, read_links
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.machine.packages import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEngine:
    """Opens what Spark reads, in the caller's session or in one that lasts as long as the context."""

    name = "spark"
    assumptions = (Assumption.CLUSTER_HOLDS_KEY,)

    def __init__(self, spark: SparkSession | None = None) -> None:
        self._spark, self._held = spark, ExitStack()

    @classmethod
    @contextmanager
    def start(cls) -> Iterator[Self]:
        """The engine on the active session, or on one that is made now and stopped afterwards."""
        with session() as spark:
            yield cls(spark)

    @contextmanager
    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> Iterator[SparkSource]:
        """The source with these columns and its person; whatever Spark says of a record is kept back."""
        wanted = [*columns] if data.person is None else [data.person, *columns]
        relation = replace(open_source(self._session(data), data, wanted), memory=resources.memory)
        yield SparkSource(data, relation, ArrayMemory(resources.array_memory), progress)

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        with self.open(data, columns, resources):
            pass

    def _session(self, data: DataSource) -> Any:
        """Return the session of a frame, or that of the engine."""
        if data.format == "frame" and hasattr(data.frame, "sparkSession"):
            return data.frame.sparkSession
        if self._spark is None:
            # Stopped when the process ends: nobody else has it.
            self._spark = self._held.enter_context(session())
        return self._spark


class SparkSource:
    """A source that Spark has open."""

    def __init__(
        self, data: DataSource, relation: SparkRelation, memory: ArrayMemory, progress: Progress | None
    ) -> None:
        self.data, self.relation = data, relation
        self._memory, self._progress = memory, progress

    @property
    def types(self) -> Mapping[str, ColumnType]:
        """The type of every column of the source, by name."""
        return {field.name: field.type for field in self.relation.fields}

    def class_counts(
        self, columns: Sequence[Column], draw: Draw, measures: Mapping[str, BoundedRecoding] = NO_MEASURES
    ) -> ClassCounts:
        """Count the people of a draw in each class, and add up their measures."""
        return class_counts(self.relation, columns, draw, measures, self._memory, self._progress)

    def table(self, names: Sequence[str], values: Sequence[str], what: str) -> pa.Table:
        """Return all rows, collected on the driver; a blank anywhere is refused."""
        return read_links(self.relation, names, values, what, self._memory, self._progress)

    def identity(self, request: FingerprintRequest) -> Identity:
        """Return the source's identity for the ledger: its content, its people, its rows without ids."""
        hashes = SparkHashes(self.relation)
        return hashes.identity(self.data, request, lambda: hashes.name(request.secret))
