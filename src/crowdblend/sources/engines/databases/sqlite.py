"""SQLite: a file that is opened for reading, and columns whose values may have any type.

All rows are looked at first for which types a column has; then they are read in the one type that holds all its values,
in the same transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from crowdblend.methods.recoding.reading import quote
from crowdblend.policies.header import ColumnKind
from crowdblend.policies.source import DataSource, sqlite_file
from crowdblend.sources.engines.databases.database import DatabaseColumn, name_table, relation_of, silence
from crowdblend.sources.engines.duckdb.relation import identifier
from crowdblend.sources.engines.refusals import at_column, refusal
from crowdblend.trusted.machine.packages import pyarrow as pa

_TYPES = ("integer", "real", "text", "blob")
_NUMBERS: dict[str, ColumnKind] = {"integer": "whole", "real": "number"}
_BATCH = 1 << 16
_READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
# SQLite declares its own table functions so; nothing can be written, since the file is open for reading.
_DECLARES = (sqlite3.SQLITE_UPDATE, "sqlite_master")
# What the tables of a full-text index ask about their file.
_ASKED = ("page_size", "data_version")
# Functions that run foreign code.
_FORBIDDEN = ("load_extension", "fts3_tokenizer")


@contextmanager
def open_sqlite(data: DataSource) -> Iterator[SQLite]:
    """A SQLite file; nothing is created or written, and neither a view nor a query reaches another file or program."""
    file = sqlite_file(data.source)
    if not file.is_file():
        raise refusal("no-file", f"{file.name!r} is no file.", "Check `data.source`.", "`data.source`")
    address = file.absolute().as_uri() + "?mode=ro"
    # Rows are fetched where the database reads them, in a thread of its own.
    with silence(data, starting=True):
        opened = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    with silence(data), closing(opened) as connection:
        try:
            connection.execute("BEGIN")
            connection.execute("SELECT name FROM sqlite_master LIMIT 0")
            connection.execute("PRAGMA trusted_schema = OFF")
        except sqlite3.DatabaseError:
            message = f"{file.name!r} is no SQLite file."
            raise refusal("database", message, "Check `data.source` and `data.format`.", "`data.source`") from None
        connection.set_authorizer(_authorize)
        yield SQLite(data, connection)


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Let a statement read, and refuse it before it runs if it does anything else."""
    asks = action == sqlite3.SQLITE_PRAGMA and (first == "table_info" or (first in _ASKED and second is None))
    calls = action == sqlite3.SQLITE_FUNCTION and second not in _FORBIDDEN
    reads = action in _READS or (action, first) == _DECLARES
    return sqlite3.SQLITE_OK if reads or asks or calls else sqlite3.SQLITE_DENY


class SQLite:
    """A table or query of a SQLite file."""

    def __init__(self, data: DataSource, connection: sqlite3.Connection) -> None:
        self._data, self._relation, self._connection = data, relation_of(data), connection
        self._stored: dict[str, str] = {}  # the type that all values of a column are read as

    def columns(self) -> tuple[DatabaseColumn, ...]:
        """Return the columns; a type is that of all its values, so that all are looked at."""
        names = self.names()
        each = ", ".join(f"max(typeof({identifier(name)}) = '{kind}')" for name in names for kind in _TYPES)
        found = self._ask(f"SELECT {each} FROM {self._relation}").fetchone()
        width, columns, types = len(_TYPES), [], {}
        if self._data.table is not None:  # SQLite has no type for dates, and keeps them as texts
            declarations = f"SELECT name, type FROM pragma_table_info({quote(self._data.table)})"
            types = dict(self._connection.execute(declarations))
        for at, name in enumerate(names):
            there = found[width * at : width * (at + 1)]
            stored = _type_of(name, {kind for kind, occurs in zip(_TYPES, there, strict=True) if occurs})
            self._stored[name] = stored
            cast = {"real": "REAL", "text": "TEXT"}.get(stored)
            sql = identifier(name) if cast is None else f"CAST({identifier(name)} AS {cast})"
            # Numbers are told by their values, dates by what was declared.
            declared: ColumnKind = "date" if types.get(name, "").upper().startswith(("DATE", "TIME")) else "text"
            columns.append(DatabaseColumn(name, _NUMBERS.get(stored, declared), sql))
        return tuple(columns)

    def batches(self, columns: Sequence[DatabaseColumn]) -> pa.RecordBatchReader:
        """Return all rows, in the file's order."""
        kinds = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
        schema = pa.schema([(column.name, kinds[self._stored[column.name]]) for column in columns])
        query = f"SELECT {', '.join(column.sql for column in columns)} FROM {self._relation}"

        def rows() -> Iterator[pa.RecordBatch]:
            cursor = self._connection.execute(query)
            while some := cursor.fetchmany(_BATCH):
                typed = zip(zip(*some, strict=True), schema.types, strict=True)
                yield pa.RecordBatch.from_arrays([pa.array(*column) for column in typed], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, rows())

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name, *_ in self._ask(f"SELECT * FROM {self._relation} LIMIT 0").description]

    def _ask(self, question: str) -> sqlite3.Cursor:
        try:
            return self._connection.execute(question)
        except sqlite3.Error:
            what, where = name_table(self._data)
            message = f"{what} cannot be read in this SQLite file."
            raise refusal("table", message, f"Check {where}.", where) from None


def _type_of(name: str, kinds: set[str]) -> str:
    """Return the one type of a column: whole numbers beside fractions are numbers, beside texts they are texts."""
    for stored, takes in (("text", set()), ("integer", {"integer"}), ("real", {"integer", "real"})):
        if kinds <= takes:
            return stored
    if kinds <= {"integer", "text"}:
        return "text"
    if kinds == {"blob"}:
        return "blob"
    # SQLite writes a number with a fraction with 15 digits, which is another number.
    message = f"Column {name!r} holds numbers with fractions beside texts, or bytes beside other values."
    raise refusal("mixed-types", message, "Read it with a query that casts it, or leaves it out.", at_column(name))
