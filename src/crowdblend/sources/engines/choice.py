"""The choice of an engine: DuckDB, unless a command or a call names another; it is loaded when it opens a source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from crowdblend.errors import InvalidInput
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import STDIN, DataSource
from crowdblend.sources.engines.engine import ClassCounts, Engine, Progress
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.ledger.identity import FingerprintRequest, Identity
    from crowdblend.methods.designs.draw import Draw
    from crowdblend.policies.publication_policy import PeoplePolicy
    from crowdblend.sources.engines import temporary_files
    from crowdblend.sources.engines.databases import local_copy
    from crowdblend.sources.engines.duckdb import engine as duckdb_engine
    from crowdblend.sources.engines.duckdb import source as duckdb_source
    from crowdblend.sources.engines.spark import engine as spark_engine

ENGINES = ("duckdb", "spark")


def default_engine() -> Engine:
    """Return the engine that reads where no other is named."""
    return duckdb_engine.DuckDBEngine()


@contextmanager
def engine_named(name: str) -> Iterator[Engine]:
    """The engine, as long as the context lasts."""
    check_engine(name)
    if name == "duckdb":
        yield default_engine()
        return
    with spark_engine.SparkEngine.start() as engine:
        yield engine


def check_engine(name: str) -> None:
    """Refuse an engine that there is not."""
    if name not in ENGINES:
        message = f"There is no engine {str(name)[:60]!r}."
        raise InvalidInput(message, remedy=f"Use {' or '.join(ENGINES)}.", where="engine", code="engine.unknown")


def is_spark_frame(data: object) -> bool:
    """Return whether the data are a DataFrame of Spark, of whichever kind of session; Spark is not loaded for it."""
    kind = getattr(sys.modules.get("pyspark.sql"), "DataFrame", None)
    return isinstance(kind, type) and isinstance(data, kind)


def count_classes(
    policy: PeoplePolicy, draw: Draw, engine: Engine | None = None, progress: Progress | None = None
) -> ClassCounts:
    """Open the source of a policy and count the classes of a draw."""
    names = [column.name for column in policy.columns]
    with (engine or default_engine()).open(policy.data, names, policy.resources, progress) as source:
        return source.class_counts(policy.columns, draw)


def identify(
    data: DataSource, resources: Resources, request: FingerprintRequest, engine: Engine | None = None
) -> Identity:
    """Open a source and return its identity."""
    with (engine or default_engine()).open(data, (), resources) as source:
        return source.identity(request)


@contextmanager
def on_disk(data: DataSource, resources: Resources, *, divided: bool = False) -> Iterator[DataSource]:
    """The source with what comes through stdin or from a database in a private file, since it is read more than once.

    What a database holds may change meanwhile; the file holds one state of it. Where people are `divided` in several
    readings, so is a table of a DuckDB file: it may be a view that makes ids up anew each time.
    """
    if not (data.is_read_once or (divided and data.format == "duckdb")):
        yield data
        return
    with temporary_files.private_folder() as folder:
        if data.source == STDIN:
            yield replace(data, source=str(duckdb_source.spool(data, folder)))
            return
        yield local_copy.local_copy(data, folder, resources)
