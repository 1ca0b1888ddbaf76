"""Small published tables of numbers, read row by row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.publishing.verification.published import contradiction

TEXTS = ("statistic", "bin", "class")


def read_rows(path: Path, columns: list[str]) -> list[dict[str, Any]]:
    """The rows of a file with exactly these columns; every number in it is finite."""
    try:
        table = _csv(path, columns) if path.suffix == ".csv" else parquet.read_table(str(path))
    except (pa.ArrowException, OSError) as damaged:
        raise contradiction(f"{path.name} is not readable") from damaged
    if table.column_names != columns:
        raise contradiction(f"{path.name} has other columns")
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        for name in set(columns) - set(TEXTS):
            if not isinstance(row[name], int | float) or not math.isfinite(row[name]):
                raise contradiction(f"{path.name} has something else than a number in {name}")
    return rows


def _csv(path: Path, columns: list[str]) -> pa.Table:
    kinds = {name: pa.string() if name in TEXTS else pa.float64() for name in columns}
    return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=kinds, strings_can_be_null=False))
