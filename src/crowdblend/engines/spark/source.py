"""Where rows come from: frames of Spark, tables of its catalog, Parquet files and addresses, and CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.duckdb.source import files_to_read
from crowdblend.engines.refusals import refusal
from crowdblend.engines.spark.csv_files import open_csv_files
from crowdblend.engines.spark.frames import open_frame
from crowdblend.engines.spark.parquet_files import open_parquet_address, open_parquet_files
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.policies.source import CATALOG, DataSource, require_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_source(spark: SparkSession, data: DataSource, wanted: Sequence[str]) -> SparkRelation:
    """The data of a policy as a relation."""
    if data.format == "frame":
        require_rows(data)
        return open_frame(data, data.frame, wanted)
    if data.format == "catalog":
        return open_frame(data, _table(spark, data), wanted)
    if data.format == "parquet" and "://" in data.source:
        return open_parquet_address(spark, data, wanted)
    if data.format == "parquet":
        return open_parquet_files(spark, data, _absolute(data), wanted)
    if data.format == "csv":
        return open_csv_files(spark, data, _absolute(data), wanted)
    raise refusal(
        "format",
        f"The Spark engine reads no source of format {data.format}.",
        "Use --engine duckdb, or write Parquet files.",
        "[data] source",
    )


def _table(spark: SparkSession, data: DataSource) -> Any:
    try:
        frame = spark.table(data.source.removeprefix(CATALOG))
        _ = frame.schema
    except Exception:  # its words may name more than the table
        raise refusal(
            "table", "The catalog of the Spark session has no such table.", "Check source in [data].", "[data] source"
        ) from None
    return frame


def _absolute(data: DataSource) -> list[Path]:
    """The files, by names that mean the same in every process."""
    return [file.absolute() for file in files_to_read(data, Path())]
