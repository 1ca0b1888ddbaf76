"""A source as DuckDB sees it: a relation in SQL with columns of known types."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.reading import quote
from crowdblend.policies.csv_reading import CsvReading
from crowdblend.policies.source import STDIN, DataSource, require_rows
from crowdblend.sources.engines.duckdb.database import redact
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.frames import Frame
from crowdblend.sources.engines.refusals import at_column, missing_column, refusal
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import duckdb

with lazy_imports():
    import difflib

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_TYPES = {
    **dict.fromkeys(_WHOLE, ColumnType.WHOLE),
    "DOUBLE": ColumnType.DOUBLE,
    "FLOAT": ColumnType.SINGLE,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": ColumnType.ZONED,
    "VARCHAR": ColumnType.TEXT,
}
_NESTED = ("STRUCT", "MAP", "UNION")
# What DuckDB calls a row's file and its place in it, in Parquet files that have no columns of these names themselves.
PLACE = ("file_index", "file_row_number")
# The view of rows that Python holds.
VIEW = "frame"


@dataclass(frozen=True)
class Field:
    """A column of a relation: its name in the source, its quoted identifier in SQL, and its type.

    `csv` says how a text writes numbers and dates, where a file has a notation of its own.
    """

    name: str
    identifier: str
    type: ColumnType
    csv: CsvReading | None = None

    def read_as(self, what: str) -> str:
        """The column in SQL as a recoding reads it, a "number", a "date" or a "text": in the one notation of each."""
        if self.csv is None or what == "text":
            return self.identifier
        return self.csv.number_sql(self.identifier) if what == "number" else self.csv.day_sql(self.identifier)


@dataclass(frozen=True)
class Relation:
    """A relation in SQL, and its columns in order.

    `placed` says that the database knows each row's file and place in it, under the names of `PLACE`. `rows` is how
    many rows there are, counted by other means than the database's; None where there are none. `prepare` gives the
    relation to read, where something has to be found out first that takes a look at all rows. `table` is the
    Arrow table that is read, where Python holds one: its rows can be picked by their places. `sizes` are the rows of
    every Parquet file.
    """

    sql: str
    fields: tuple[Field, ...]
    placed: bool = False
    rows: int | None = None
    prepare: Callable[[], Relation] | None = None
    table: Any = None
    sizes: tuple[int, ...] = ()

    def field(self, name: str) -> Field:
        """Return the column of this name."""
        return next(field for field in self.fields if field.name == name)

    @property
    def known_again(self) -> str:
        """The relation in SQL with values as they are compared with copies in other formats."""
        if all(field.csv is None for field in self.fields):
            return self.sql
        each = [
            name if field.csv is None else f"{field.csv.known_again_sql(name)} AS {name}"
            for field in self.fields
            for name in [field.identifier]
        ]
        return f"(SELECT {', '.join(each)} FROM {self.sql})"

    def ready(self) -> Relation:
        """Return the relation that can be read; a CSV file is gone through once before."""
        return self if self.prepare is None else self.prepare()

    def check_rows(self, read: int) -> None:
        """Refuse when another number of rows was read than there are."""
        if self.rows is not None and read != self.rows:
            raise missing_rows()


def missing_rows() -> InvalidInput:
    """Return the refusal of a source of which some rows were not read."""
    message = "The source could not be read whole: rows are missing, or it changed meanwhile."
    return refusal("missing-rows", message, "Write it again in a plain form, for example as Parquet.", "`data.source`")


def column_type(kind: str) -> ColumnType:
    """Our word for a type of DuckDB."""
    if kind.startswith(_NESTED) or kind.endswith("]"):
        return ColumnType.NESTED
    if kind.startswith("DECIMAL"):
        return ColumnType.DECIMAL
    return _TYPES.get(kind, ColumnType.OTHER)


def identifier(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def source_name(data: DataSource) -> str:
    """Return the source's name in a message, without its folder."""
    if data.format == "frame":
        return data.source
    if data.query is not None:
        return "The query"
    if data.table is not None:
        return f"Table {data.table!r}"
    return "stdin" if data.source == STDIN else repr(Path(data.source).name)


def list_files(files: Sequence[Path]) -> str:
    """Return the files as a list in SQL; the engine would take * and [ in a name for a pattern."""
    return "[" + ", ".join(quote(glob.escape(str(file))) for file in files) + "]"


def check_names(data: DataSource, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a source that lacks a column or has it twice, in whatever case."""
    for name in columns:
        if name not in names:
            spaced = [one for one in names if one.strip() == name.strip()]
            if spaced:
                raise missing_column(
                    source_name(data),
                    name,
                    f"It has {spaced[0]!r}: remove the spaces there, or write them in the policy.",
                )
            near = difflib.get_close_matches(name.lower(), {one.lower(): one for one in names}, n=1)
            if near:
                known = next(one for one in names if one.lower() == near[0])
                raise missing_column(source_name(data), name, f"Did you mean {known!r}? Spell it as the data do.")
            delimiter = " and `data.delimiter`" if data.format == "csv" else ""
            raise missing_column(source_name(data), name, f"Check its spelling{delimiter}.")
    check_repeats(data, names, columns)


def check_repeats(data: DataSource, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a column that occurs twice, in whatever case."""
    lowered = [name.lower() for name in names]
    for name in columns:
        if lowered.count(name.lower()) > 1:
            message = f"{source_name(data)} has several columns {name!r}; upper and lower case count as the same."
            raise refusal("repeated-column", message, "Rename one.", at_column(name))


# Parquet files have no such types: their dates and times are to the microsecond, or finer.
_COARSE = ("TIMESTAMP_S", "TIMESTAMP_MS")


def check_frame(data: DataSource, columns: Sequence[str]) -> Frame:
    """Return the frame of a source; refused if it lacks a column or has one that cannot be read."""
    require_rows(data)
    frame: Frame = data.frame
    # Without a person, rows are known by all their columns.
    for name in columns if data.person is not None else (*columns, *frame.unreadable):
        frame.check(name)
    check_names(data, list(frame.columns), columns)
    return frame


def open_frame(connection: duckdb.DuckDBPyConnection, data: DataSource, columns: Sequence[str]) -> Relation:
    """Return a frame as a relation, with the columns that can be read."""
    frame = check_frame(data, columns)
    names = list(frame.columns)
    with redact(f"{frame.name} cannot be read.", "Write it to a Parquet file, and name that.", "data"):
        connection.register(VIEW, frame.table)
        kinds = [str(kind) for kind in connection.sql(f"SELECT * FROM {VIEW} LIMIT 0").types]
    cast = [
        f"CAST(c{place} AS TIMESTAMP) AS c{place}" if kind in _COARSE else f"c{place}"
        for place, kind in enumerate(kinds)
    ]
    plain = not any(kind in _COARSE for kind in kinds)
    sql = VIEW if plain else f"(SELECT {', '.join(cast)} FROM {VIEW})"
    fields = tuple(
        Field(name, f"c{place}", column_type("TIMESTAMP" if kind in _COARSE else kind))
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    return Relation(sql, fields, rows=frame.rows, table=frame.table)
