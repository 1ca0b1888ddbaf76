"""Where rows come from: CSV, Parquet, DuckDB, PostgreSQL or stdin, opened as one relation with known columns.

Nothing is guessed from the rows. Every column of a CSV file is text; the policy says what it means. A column must be
spelt in the data exactly as in the policy.
"""

from __future__ import annotations

import csv
import glob
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.engines.column_types import ColumnType
from crowdblend.engines.duckdb.database import redacted
from crowdblend.errors import InvalidInput
from crowdblend.policies.files import source_files
from crowdblend.policies.sections import STDIN, DataSource
from crowdblend.recoding.reading import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_TYPES = {
    **dict.fromkeys(_WHOLE, ColumnType.WHOLE),
    "DOUBLE": ColumnType.DOUBLE,
    "FLOAT": ColumnType.SINGLE,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.TIMESTAMP,
    "VARCHAR": ColumnType.TEXT,
}
_NESTED = ("STRUCT", "MAP", "UNION")
# What DuckDB calls a row's file and its place in it, in Parquet files that have no columns of these names themselves.
PLACE = ("file_index", "file_row_number")
# A longer name is a quotation mark that never ends.
_LONGEST_NAME = 100_000
# The engine holds 16 of these a thread.
_LONGEST_LINE = 2_000_000


@dataclass(frozen=True)
class Field:
    """A column of a relation: its name in the source, its quoted identifier in SQL, and its type."""

    name: str
    identifier: str
    type: ColumnType


@dataclass(frozen=True)
class Relation:
    """A relation in SQL, and its columns in order.

    `placed` says that the database knows each row's file and place in it, under the names of `PLACE`.
    """

    sql: str
    fields: tuple[Field, ...]
    placed: bool = False

    def field(self, name: str) -> Field:
        """The column of this name."""
        return next(field for field in self.fields if field.name == name)


def open_source(connection: DuckDBPyConnection, data: DataSource, wanted: Sequence[str], folder: Path) -> Relation:
    """The data of a policy as a relation; `folder` is private and takes what comes from stdin."""
    return _OPEN[data.format](connection, data, wanted, folder)


def column_type(kind: str) -> ColumnType:
    """Our word for a type of DuckDB."""
    if kind.startswith(_NESTED) or kind.endswith("]"):
        return ColumnType.NESTED
    if kind.startswith("DECIMAL"):
        return ColumnType.DECIMAL
    return _TYPES.get(kind, ColumnType.OTHER)


def identifier(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _shown(data: DataSource) -> str:
    return "stdin" if data.source == STDIN else repr(Path(data.source).name)


def _csv(_: DuckDBPyConnection, data: DataSource, wanted: Sequence[str], folder: Path) -> Relation:
    files = _files(data, folder)
    header = _header(data, files[0])
    if any(_header(data, file) != header for file in files[1:]):
        raise InvalidInput(
            f"all files of {_shown(data)} must begin with the same line of column names, and do not. Make them equal."
        )
    _check_delimiter(data, header, wanted)
    _check_names(data, header, wanted)
    # Named by position, so that nothing but the wanted columns has to have a sensible name.
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(header)))
    sql = (
        f"read_csv({_listed(files)}, columns = {{{columns}}}, auto_detect = false, header = true, quote = '\"', "
        f"escape = '\"', delim = {quoted(data.delimiter or ',')}, max_line_size = {_LONGEST_LINE}, "
        "hive_partitioning = false)"
    )
    fields = (Field(name, f"c{position}", ColumnType.TEXT) for position, name in enumerate(header))
    return Relation(sql, tuple(fields))


def _check_delimiter(data: DataSource, header: list[str], wanted: Sequence[str]) -> None:
    """A single column that is not wanted is most often a file with another delimiter."""
    if len(header) > 1 or header[0] in wanted:
        return
    for mark in (";", "\t", "|", ","):
        if mark in header[0]:
            raise InvalidInput(
                f"{_shown(data)} must have the column {wanted[0]!r}, and is read as a single column. "
                f"Add delimiter = {json.dumps(mark)} to [data]."
            )


def _header(data: DataSource, file: Path) -> list[str]:
    """The names in the first line of a CSV file; nothing else is looked at."""
    import pyarrow  # noqa: PLC0415 - heavy

    try:
        with redacted(f"{_shown(data)} must be readable"), pyarrow.input_stream(str(file), "detect") as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig", newline="")
            names = next(csv.reader(text, delimiter=data.delimiter or ","), [])
    except csv.Error:
        names = []
    if not any(name.strip() for name in names) or any(len(name) > _LONGEST_NAME for name in names):
        raise InvalidInput(f"{_shown(data)} must begin with a line of column names, and does not. Add that line.")
    return names


def _parquet(connection: DuckDBPyConnection, data: DataSource, wanted: Sequence[str], folder: Path) -> Relation:
    from pyarrow import parquet  # noqa: PLC0415 - heavy

    files = _files(data, folder)
    for file in files:
        with redacted(f"{_shown(data)} must be a whole Parquet file", "Write or copy it again."):
            names = parquet.read_schema(file).names
        if len({name.lower() for name in names}) < len(names):
            _check_repeats(data, names, wanted)
    # The values of folders such as sex=Female are text, like those of a CSV file.
    return _described(connection, data, f"read_parquet({_listed(files)}, hive_types_autocast = false)", wanted)


def _duckdb(connection: DuckDBPyConnection, data: DataSource, wanted: Sequence[str], _: Path) -> Relation:
    path = Path(data.source)
    if not path.is_file():
        raise InvalidInput(f"{_shown(data)} must be a DuckDB file, and is not one. Check the path in [data].")
    with redacted(f"{_shown(data)} must be a DuckDB file that can be opened", "Close whoever writes to it."):
        connection.execute(f"ATTACH {quoted(str(path))} AS origin (READ_ONLY)")
    return _described(connection, data, _table(data), wanted)


def _postgres(connection: DuckDBPyConnection, data: DataSource, wanted: Sequence[str], _: Path) -> Relation:
    with redacted(
        "reading PostgreSQL must have DuckDB's postgres extension", "Install it once: duckdb -c 'INSTALL postgres'."
    ):
        connection.execute("LOAD postgres")
    with redacted("the PostgreSQL address in [data] must answer", "Check source, PGPASSWORD and the server."):
        connection.execute(f"ATTACH {quoted(data.source)} AS origin (TYPE postgres, READ_ONLY)")
    return _described(connection, data, _table(data), wanted)


_OPEN: dict[str, Callable[[DuckDBPyConnection, DataSource, Sequence[str], Path], Relation]] = {
    "csv": _csv,
    "parquet": _parquet,
    "duckdb": _duckdb,
    "postgres": _postgres,
}


def _table(data: DataSource) -> str:
    """The table of an attached database, as `table` or `schema.table`."""
    return ".".join(identifier(part) for part in ("origin", *str(data.table).split(".", 1)))


def _described(connection: DuckDBPyConnection, data: DataSource, sql: str, wanted: Sequence[str]) -> Relation:
    must = f"{_shown(data)} must hold a table that can be read"
    with redacted(must, "Check table in [data], and that all files have the same columns."):
        relation = connection.sql(f"SELECT * FROM {sql} LIMIT 0")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    _check_names(data, list(types), wanted)
    placed = data.format == "parquet" and not {name.lower() for name in types} & set(PLACE)
    fields = (Field(name, identifier(name), column_type(kind)) for name, kind in types.items())
    return Relation(sql, tuple(fields), placed)


def _check_names(data: DataSource, names: list[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            hint = " Check its spelling" + (" and the delimiter in [data]." if data.format == "csv" else ".")
            raise InvalidInput(f"{_shown(data)} must have the column {name!r}, and does not.{hint}")
    _check_repeats(data, names, wanted)


def _check_repeats(data: DataSource, names: list[str], wanted: Sequence[str]) -> None:
    lowered = [name.lower() for name in names]
    for name in wanted:
        if lowered.count(name.lower()) > 1:
            raise InvalidInput(
                f"{_shown(data)} must have the column {name!r} once, in whatever case, and has several. Rename one."
            )


def _files(data: DataSource, folder: Path) -> list[Path]:
    """The files of a source in order of name, each of which can be opened."""
    if data.source == STDIN:
        return [spooled(data, folder)]
    if "://" in data.source:
        raise InvalidInput("source in [data] must be on this machine, and is an address. Download the data first.")
    files = source_files(data.source, data.format)
    for file in files:
        try:
            with file.open("rb") as opened:
                empty = not opened.read(1)
        except OSError as error:
            raise InvalidInput(
                f"{_shown(data)} must be readable ({error.strerror}). Check the path and its permissions."
            ) from None
        if empty:
            raise InvalidInput(f"{_shown(data)} must have rows, and is empty. Check that it was written.")
    return files


def spooled(data: DataSource, folder: Path) -> Path:
    """What comes through stdin, in a private file, because it may have to be read twice."""
    path = folder / f"stdin.{data.format}"
    with redacted("the temporary folder must have room for what comes through stdin", "Free some space."):
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        if not path.stat().st_size:
            raise InvalidInput("stdin must have rows, and is empty. Check the command before the pipe.")
    return path


def _listed(files: Sequence[Path]) -> str:
    """The files as a list in SQL; the engine would take * and [ in a name for a pattern."""
    return "[" + ", ".join(quoted(glob.escape(str(file))) for file in files) + "]"
