"""Sources in Spark: frames, tables of its catalog, Parquet files and addresses, CSV files.

Files are read by the tasks themselves with the reader of the DuckDB engine. That of Spark takes some lines of CSV for
other rows, and never refuses what has several readings; and to hand rows of Parquet over takes it longer than to read
them here. A CSV file is counted and read by one task, a large Parquet file by several. An address is read by Spark.
All rows of links or of people are collected on the driver, since a network is computed in one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.source import CATALOG, DataSource, require_rows
from crowdblend.policies.table_formats import refuse_table
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.duckdb import database as duckdb
from crowdblend.sources.engines.duckdb.files import open_csv, open_parquet
from crowdblend.sources.engines.duckdb.relation import VIEW, Field, Relation, check_names, column_type, source_name
from crowdblend.sources.engines.duckdb.source import describe_relation, files_to_read, read_table
from crowdblend.sources.engines.engine import Progress
from crowdblend.sources.engines.frames import is_readable
from crowdblend.sources.engines.refusals import at_column, no_rows, refusal
from crowdblend.sources.engines.spark.pieces import Facts, decode
from crowdblend.sources.engines.spark.relation import SparkRelation
from crowdblend.sources.engines.spark.session import collect, quiet, redact
from crowdblend.sources.engines.spark.tasks import HandOver
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import pyarrow as pa

# What Hadoop takes for a pattern in an address.
_PATTERN = re.compile(r"[*?\[{]")

with lazy_imports():
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.pandas import types


def open_source(spark: SparkSession, data: DataSource, columns: Sequence[str]) -> SparkRelation:
    """Return the data of a policy as a relation."""
    if data.format == "frame":
        require_rows(data)
        return open_frame(data, data.frame, columns)
    if data.format == "catalog":
        message = "The catalog of the Spark session has no such table."
        refused = refusal("table", message, "Check `data.source`.", "`data.source`")
        return open_frame(data, _frame(lambda: _table(spark, data.source.removeprefix(CATALOG)), refused), columns)
    if data.format == "parquet" and "://" in data.source:
        return open_frame(data, read_parquet(spark, data), columns)
    if data.format == "parquet":
        return open_parquet_files(spark, data, _absolute(data), columns)
    if data.format == "csv":
        files = _absolute(data)
        return SparkRelation(spark, data, open_csv(data, files, columns, Path()).fields, files=tuple(files))
    message = f"The Spark engine reads no source of format {data.format}."
    raise refusal("format", message, "Use `--engine duckdb`, or write Parquet files.", "`data.source`")


def _table(spark: SparkSession, name: str) -> DataFrame:
    """Return a table or view of the catalog; Spark takes text.`/a/file` for a table too, which is none."""
    if not spark.catalog.tableExists(name):
        raise LookupError
    return spark.table(name)


def _frame(read: Callable[[], DataFrame], refused: InvalidInput) -> DataFrame:
    """Return a frame that has a schema, or our refusal: Spark's words may name more than the source."""
    try:
        frame = read()
        _ = frame.schema
    except Exception:
        raise refused from None
    return frame


def _absolute(data: DataSource) -> list[Path]:
    """Return the files, by names that mean the same in every process."""
    return [file.absolute() for file in files_to_read(data, Path())]


def open_parquet_files(
    spark: SparkSession, data: DataSource, files: Sequence[Path], columns: Sequence[str]
) -> SparkRelation:
    """Files that the driver and all executors see under the same path."""
    found = open_parquet(data, files, columns)
    with duckdb.small_database() as connection:
        described = describe_relation(connection, data, found, columns)
    return SparkRelation(
        spark, data, described.fields, files=tuple(files), rows=found.rows, sizes=found.sizes, cut=described.placed
    )


def read_parquet(spark: SparkSession, data: DataSource) -> DataFrame:
    """Return the files of an address as a frame; Spark would follow the links in a folder of this machine."""
    if data.source.lower().startswith("file:"):
        message = "`data.source` is a folder or file of this machine, written as an address."
        raise refusal("local-address", message, "Write its path.", "`data.source`")
    message = f"Spark cannot read {source_name(data)}."
    refused = refusal("unreadable", message, "Check the path; it must be Parquet.", "`data.source`")
    scheme, _, address = data.source.rstrip("/").partition("://")
    # The fixed part of a pattern: the rest is looked at when Spark has found the files.
    fixed = list(takewhile(lambda part: not _PATTERN.search(part), address.split("/")))
    _refuse_tables(spark, {"/".join(fixed)}, scheme)
    frame = _frame(lambda: spark.read.parquet(data.source), refused)
    files = [file.partition("://")[2].split("/") for file in frame.inputFiles()]
    if any(part.startswith((".", "_")) for file in files for part in file[len(fixed) :]):
        message = f"{source_name(data)} matches files or folders whose names begin with . or _, which are no data."
        raise refusal("hidden-files", message, "Name the folder, or a pattern without them.", "`data.source`")
    _refuse_tables(spark, {"/".join(part for part in file[:-1] if "=" not in part) for file in files}, scheme)
    return frame


def _refuse_tables(spark: SparkSession, folders: set[str], scheme: str) -> None:
    """Refuse folders at addresses that are tables with a log, or that lie in one."""
    above = {place for one in folders for place in (PurePosixPath(one), *PurePosixPath(one).parents)}
    for place in sorted(map(str, above - {PurePosixPath()})):
        refuse_table(f"{scheme}://{place}", partial(_exists, spark))


def _exists(spark: SparkSession, pattern: str) -> bool:
    """Return whether something at an address matches a pattern; none of it is read.

    Nothing is found in a folder further up that the reader has no right to look into.
    """
    try:
        _ = spark.read.format("binaryFile").load(pattern).schema
    except Exception:  # PySpark has several for what is not there, or not allowed
        return False
    return True


def open_frame(data: DataSource, frame: DataFrame, columns: Sequence[str]) -> SparkRelation:
    """Return a frame as a relation, with the columns that can be read."""
    if frame.isStreaming:
        raise refusal("streaming", "The Spark DataFrame is a stream.", "Pass one that ends.", "data")
    with redact():
        arrow = _arrow_types(frame)
    check_names(data, [name for name, _ in arrow], columns)
    kinds = _duckdb_types([kind for _, kind in arrow])
    fields: list[Field] = []
    unreadable: dict[str, str] = {}
    for (name, _), kind in zip(arrow, kinds, strict=True):
        if kind is None:
            unreadable[name] = f"{source_name(data)} has values in column {name!r} that no policy can recode."
        else:
            fields.append(Field(name, f"c{len(fields)}", column_type(kind)))
    for name in unreadable if data.person is None else [name for name in columns if name in unreadable]:
        raise refusal("column-type", unreadable[name], "Convert it to text, numbers or dates.", at_column(name))
    return SparkRelation(frame.sparkSession, data, tuple(fields), frame)


def _arrow_types(frame: DataFrame) -> list[tuple[str, Any]]:
    """Return the names of the columns, and their types in Arrow; None where Arrow has none."""
    with quiet():
        found: list[tuple[str, Any]] = []
        for field in frame.schema.fields:
            try:
                found.append((field.name, types.to_arrow_type(field.dataType, timezone="UTC")))
            except Exception:  # PySpark has several for types that it does not know
                found.append((field.name, None))
        return found


def _duckdb_types(kinds: Sequence[Any]) -> list[str | None]:
    """Return DuckDB's names of the types; None for types that it does not read as they are."""
    known = [pa.string() if kind is not None and pa.types.is_null(kind) else kind for kind in kinds]
    readable = [at for at, kind in enumerate(known) if kind is not None and is_readable(kind)]
    if not readable:
        return [None] * len(kinds)
    table = pa.schema([(f"c{at}", known[at]) for at in readable]).empty_table()
    with duckdb.small_database() as connection:
        connection.register(VIEW, table)
        found = [str(kind) for kind in connection.sql(f"SELECT * FROM {VIEW}").types]
    named = dict(zip(readable, found, strict=True))
    return [named.get(at) for at in range(len(kinds))]


def rows_of(
    relation: SparkRelation,
    names: Sequence[str],
    most: int | None = None,
    memory: ArrayMemory | None = None,
    progress: Progress | None = None,
    phase: str = "reading",
) -> tuple[pa.Table, tuple[Field, ...]]:
    """Return some columns on the driver, called c0, c1, …; of all rows, or of the first ones."""
    opening = relation.opening(names)
    if most is not None and relation.frame is not None:
        relation = replace(relation, frame=relation.frame.limit(most), rows=None)
    elif most is not None:
        opening = replace(opening, most=most)
    facts, pieces = Facts.apart(collect(relation.map_tasks(HandOver(opening), opening), progress, phase))
    contents = [piece.content for piece in pieces]
    (memory or ArrayMemory()).check(sum(map(len, contents)))
    if not contents:
        raise no_rows()
    if most is None:
        relation.check_rows(facts.counts["read"])
    fields = tuple(replace(field, identifier=f"c{at}") for at, field in enumerate(opening.fields))
    return decode(contents), fields


def read_links(
    relation: SparkRelation,
    names: Sequence[str],
    values: Sequence[str],
    what: str,
    memory: ArrayMemory,
    progress: Progress | None,
) -> pa.Table:
    """Return the columns, those of people's names as whole numbers or texts; a blank anywhere is refused."""
    phase = f"collecting the {what} on the driver"
    table, fields = rows_of(relation, [*names, *values], None, memory, progress, phase)
    with duckdb.small_database() as connection:
        connection.register(VIEW, table)
        return read_table(connection, Relation(VIEW, fields), names, values, what)
