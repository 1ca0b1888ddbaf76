"""Sources of rows: CSV, Parquet, DuckDB, stdin or Python, opened as one relation.

Nothing is guessed from the rows. Every column of a CSV file is text; the policy says what it means. A column must be
spelt in the data exactly as in the policy.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crowdblend.policies.files import source_files
from crowdblend.policies.source import STDIN, DataSource
from crowdblend.sources.engines.duckdb.database import attach, redact, table_remedy
from crowdblend.sources.engines.duckdb.files import open_csv, open_parquet
from crowdblend.sources.engines.duckdb.relation import (
    PLACE,
    Field,
    Relation,
    check_frame,
    check_names,
    column_type,
    identifier,
    open_frame,
    source_name,
)
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.refusals import refusal, refuse_blanks, refuse_broken_name
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.machine.regular_files import open_regular

with lazy_imports():
    from crowdblend.sources.engines.databases import local_copy

# The first bytes of .xlsx and .ods files, and of old .xls files.
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def open_source(
    connection: duckdb.DuckDBPyConnection, data: DataSource, columns: Sequence[str], folder: Path
) -> Relation:
    """Return the data of a policy as a relation; `folder` is private and takes what comes from stdin."""
    if data.format == "frame":
        return open_frame(connection, data, columns)
    if data.format == "csv":
        return open_csv(data, files_to_read(data, folder), columns, folder)
    if data.format == "parquet":
        return describe_relation(connection, data, open_parquet(data, files_to_read(data, folder), columns), columns)
    if data.format == "duckdb":
        attach(connection, data)
        table = ".".join(identifier(part) for part in ("origin", *str(data.table).split(".", 1)))
        return describe_relation(connection, data, Relation(table, ()), columns)
    message = f"{source_name(data)} is a table in the catalog of Spark."
    raise refusal("catalog", message, "Use `--engine spark`, or name files in `data.source`.", "`data.source`")


def describe_relation(
    connection: duckdb.DuckDBPyConnection, data: DataSource, relation: Relation, columns: Sequence[str]
) -> Relation:
    """Return the relation with the columns that the database finds in it."""
    message, remedy = f"{source_name(data)} cannot be read in this file.", table_remedy(data)
    if data.format == "parquet":
        message, remedy = f"{source_name(data)} holds no table.", "Check that all files have the same columns."
    with redact(message, remedy, code="table"):
        found = connection.sql(f"SELECT * FROM {relation.sql} LIMIT 0")
        types = dict(zip(found.columns, map(str, found.types), strict=True))
    check_names(data, list(types), columns)
    placed = data.format == "parquet" and not {name.lower() for name in types} & set(PLACE)
    fields = (Field(name, identifier(name), column_type(kind)) for name, kind in types.items())
    return replace(relation, fields=tuple(fields), placed=placed)


def check_source(data: DataSource, columns: Sequence[str]) -> bool:
    """Refuse a source that lacks a column, by its header alone; False for what is not opened here."""
    if data.is_database or data.format == "duckdb":
        local_copy.check_database(data, columns)
        return True
    if data.format == "csv":
        open_csv(data, files_to_read(data, Path()), columns, Path())
    elif data.format == "parquet":
        open_parquet(data, files_to_read(data, Path()), columns)
    elif data.format == "frame":
        check_frame(data, columns)
    else:
        return False
    return True


def files_to_read(data: DataSource, folder: Path) -> list[Path]:
    """Return the files of a source in order of name, each of which can be opened."""
    if data.source == STDIN:
        return [spool(data, folder)]
    if "://" in data.source:
        message = "Download the data first, or read Parquet files there with `--engine spark`."
        raise refusal("remote-source", "`data.source` is an address on the network.", message, "`data.source`")
    files = source_files(data.source, data.format)
    for file in files:
        try:
            with open_regular(file) as opened:
                start = opened.read(8)
        except OSError as error:
            message = f"{source_name(data)} cannot be read ({error.strerror})."
            raise refusal("unreadable", message, "Check the path and its permissions.", file.name) from None
        if start.startswith(_WORKBOOKS) and data.format == "csv":
            message = "Save it as CSV in UTF-8 from the spreadsheet program."
            raise refusal("workbook", f"{source_name(data)} is a spreadsheet, not a text file.", message, file.name)
        if not start:
            raise refusal("empty-file", f"{source_name(data)} is empty.", "Check that it was written.", file.name)
    return files


def spool(data: DataSource, folder: Path) -> Path:
    """Return a private file with what comes through stdin, which may be read twice."""
    path = folder / f"stdin.{data.format}"
    with redact("What comes through stdin cannot be stored in the temporary folder.", "Free some space.", "TMPDIR"):
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        if not path.stat().st_size:
            raise refusal("empty-file", "stdin is empty.", "Check the command before the pipe.", "stdin")
    return path


def read_table(
    connection: duckdb.DuckDBPyConnection, relation: Relation, names: Sequence[str], values: Sequence[str], what: str
) -> pa.Table:
    """Return the columns, those of people's names as whole numbers or texts; a blank anywhere is refused."""
    with redact(f"The file of the {what} cannot be read from beginning to end."):
        selected = [_name(relation.field(name)) for name in names] + [_value(relation.field(name)) for name in values]
        columns = ", ".join(f"{sql} AS c{at}" for at, sql in enumerate(selected))
        rows = connection.sql(f"SELECT {columns} FROM {relation.sql}")
        table: pa.Table = rows.to_arrow_table() if hasattr(rows, "to_arrow_table") else rows.fetch_arrow_table()
    relation.check_rows(table.num_rows)
    for at, name in enumerate([*names, *values]):
        if table.column(at).null_count:
            refuse_blanks(name, what)
    return table


def _name(field: Field) -> str:
    if field.type is ColumnType.WHOLE:
        return f"CAST({field.identifier} AS BIGINT)"
    if field.type.is_broken_number:
        refuse_broken_name(field.name, field.type.value)
    return f"NULLIF(CAST({field.identifier} AS VARCHAR), '')"


def _value(field: Field) -> str:
    return field.identifier if field.type.is_number else f"NULLIF(CAST({field.identifier} AS VARCHAR), '')"
