"""The published files as Arrow tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from crowdblend.calculus.certificate import Certificate


def read_tables(certificate: Certificate, read: Callable[[str], bytes]) -> Any:
    """The only table, or a dictionary of them by name; the main one comes first."""
    names = [name for name in certificate.facts.get("files", {}) if name.endswith((".parquet", ".csv"))]
    names.sort(key=lambda name: (Path(name).stem != "data", name))
    labels = set(certificate.facts.get("columns") or ())
    tables = {Path(name).stem: _table(name, read(name), labels) for name in names}
    return next(iter(tables.values())) if len(tables) == 1 else tables


def _table(name: str, content: bytes, labels: set[str]) -> pa.Table:
    if name.endswith(".parquet"):
        return parquet.read_table(pa.BufferReader(content))
    header = next(csv.reader(io.StringIO(content.decode("utf-8").partition("\n")[0])))
    # Labels are texts, also those that spell a number.
    types = {column: pa.string() for column in header if column in labels}
    options = arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    return arrow_csv.read_csv(pa.BufferReader(content), convert_options=options)
