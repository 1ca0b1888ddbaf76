"""Parquet files, read by Spark after the checks of the DuckDB engine: the same columns and types in every file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.parquet_files import open_parquet
from crowdblend.engines.duckdb.relation import Relation, shown
from crowdblend.engines.duckdb.source import described
from crowdblend.engines.refusals import refusal
from crowdblend.engines.spark.frames import open_frame
from crowdblend.engines.spark.opening import ONE_THREAD
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# From so many files on, of so many bytes each on average.
_MANY = 32
_SMALL = 4 << 20


def open_parquet_files(
    spark: SparkSession, data: DataSource, files: Sequence[Path], wanted: Sequence[str]
) -> SparkRelation:
    """Files that the driver and all executors see under the same path."""
    found = open_parquet(data, files, wanted)
    if len(files) >= _MANY and sum(file.stat().st_size for file in files) <= _SMALL * len(files):
        return _read_by_tasks(spark, data, files, found, wanted)
    no_table = redacted(f"{shown(data)} holds no table that can be read.", code="table")
    with private_folder() as folder, database(ONE_THREAD, folder) as connection, no_table:
        described = connection.sql(f"SELECT * FROM {found.sql} LIMIT 0")
        stored = dict(zip(described.columns, map(str, described.types), strict=True))
    frame = read_parquet(spark, data, [_path(file) for file in files])
    opened = open_frame(data, frame, wanted, stored)
    return replace(opened, files=tuple(files), rows=found.rows, sizes=found.sizes)


def _read_by_tasks(
    spark: SparkSession, data: DataSource, files: Sequence[Path], found: Relation, wanted: Sequence[str]
) -> SparkRelation:
    """Many small files, which tasks read themselves: for Spark to open one costs as much as to read a million rows."""
    with private_folder() as folder, database(ONE_THREAD, folder) as connection:
        fields = described(connection, data, found, wanted).fields
    return SparkRelation(spark, data, fields, files=tuple(files), rows=found.rows, sizes=found.sizes)


def open_parquet_address(spark: SparkSession, data: DataSource, wanted: Sequence[str]) -> SparkRelation:
    """Files at an address that Spark knows how to read, such as s3a://bucket/people."""
    return open_frame(data, read_parquet(spark, data, [data.source]), wanted)


def read_parquet(spark: SparkSession, data: DataSource, paths: Sequence[str]) -> DataFrame:
    """The files as a frame."""
    try:
        frame = spark.read.parquet(*paths)
        _ = frame.schema
    except Exception:  # its words may name more than the file
        raise refusal(
            "unreadable", f"Spark cannot read {shown(data)}.", "Check the path; it must be Parquet.", "[data] source"
        ) from None
    return frame


def _path(file: Path) -> str:
    """A local file as Spark takes it: the names of files are no patterns."""
    return "file:" + re.sub(r"([][{}*?\\])", r"\\\1", str(file.resolve()))
