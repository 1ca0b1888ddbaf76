"""A small data file as rows: what statistics and graphs publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from crowdblend.errors import InvalidInput
from crowdblend.reading.cells import readable
from crowdblend.reading.reports.text import enumeration

LARGEST_FILE = 1 << 28
MOST_ROWS = 1_000_000


def read_rows(
    path: Path, name: str, numbers: tuple[str, ...], *, labels: tuple[str, ...], blank: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """A data file as one dictionary per row: a text `name`, the numbers, and labels which may be None or missing.

    Numbers in `blank` may be None or missing as well.
    Files that are too large, lack a column or have another type are refused.
    """
    texts = (name, *labels)
    if path.stat().st_size > LARGEST_FILE:
        message = f"{path.name} is larger than {LARGEST_FILE >> 20} MB. No release of this kind is."
        raise InvalidInput(message, where=path.name, code="report.too-large")
    with readable(path):
        if path.suffix == ".csv":
            convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
            table = arrow_csv.read_csv(path, convert_options=convert)
            rows = table.num_rows
        else:
            with pq.ParquetFile(path) as opened:
                rows = opened.metadata.num_rows
                table = opened.read() if rows <= MOST_ROWS else None
    if rows > MOST_ROWS:
        message = f"{path.name} has more than {MOST_ROWS:,} rows. No release of this kind has."
        raise InvalidInput(message, where=path.name, code="report.too-large")
    names = table.column_names
    if any(names.count(column) != 1 for column in (name, *numbers)) or any(names.count(label) > 1 for label in labels):
        columns = enumeration((name, *numbers))
        message = f"{path.name} lacks one of the columns {columns}. It is not a file of this kind of release."
        raise InvalidInput(message, where=path.name, code="report.columns")
    for column in (*numbers, *(column for column in blank if column in names)):
        kind = table.schema.field(column).type
        filled = column in blank or not table.column(column).null_count
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)) or not filled:
            message = f"Column {column!r} of {path.name} holds something else than numbers."
            raise InvalidInput(message, where=path.name, code="report.numbers")
    return [
        {
            name: str(row[name]),
            **{label: _text(row.get(label)) for label in labels},
            **{column: row[column] for column in numbers},
            **{column: row.get(column) for column in blank},
        }
        for row in table.to_pylist()
    ]


def _text(value: Any) -> str | None:
    return None if value in (None, "") else str(value)
