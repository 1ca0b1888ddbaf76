"""CSV files, read by the tasks themselves with the reader of the DuckDB engine.

Spark's own reader takes some lines for other rows than DuckDB does, and never refuses what has several readings. So
every file is counted and read by one task, and gives exactly the rows that it gives on one machine. A file is not
split: many files are read by many tasks, one large file by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.engines.duckdb.csv_files import open_csv
from crowdblend.engines.spark.relation import SparkRelation
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_csv_files(
    spark: SparkSession, data: DataSource, files: Sequence[Path], wanted: Sequence[str]
) -> SparkRelation:
    """Files that the driver and all executors see under the same path; only headers are read here."""
    return SparkRelation(spark, data, open_csv(data, files, wanted, Path()).fields, files=tuple(files))
