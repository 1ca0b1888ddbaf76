"""SQLite: a file that is opened for reading, and columns whose values may have any type.

The driver takes the type of a column from the first rows, and gives up when a later value has another. So all rows are
looked at first for which types there are, in the same transaction, and a first row that says the types comes before
the others and is dropped again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property

from crowdblend.engines.databases.database import Cursor, DatabaseColumn, driver, relation_of, schema_of, silenced
from crowdblend.engines.duckdb.relation import identifier
from crowdblend.engines.refusals import at_column, refusal
from crowdblend.packages import pyarrow as pa
from crowdblend.policies.header import ColumnKind
from crowdblend.policies.source import DataSource, sqlite_file
from crowdblend.recoding.reading import quoted

_TYPES = ("integer", "real", "text", "blob")
# A value of each type, for the first row; "text" is also what a column without values is.
_FIRST = {"integer": "0", "real": "0.5", "text": "'x'", "blob": "x'00'"}
_MARK = "crowdblend first row"


@contextmanager
def open_sqlite(data: DataSource) -> Iterator[SQLite]:
    """A SQLite file; nothing is created or written."""
    file = sqlite_file(data.source)
    if not file.is_file():
        raise refusal("no-file", f"{file.name!r} is no file.", "Check the path in [data].", "[data] source")
    module = driver("sqlite", "sqlite")
    address = file.absolute().as_uri() + "?mode=ro"
    with silenced(data), closing(module.connect(address)) as connection, closing(connection.cursor()) as cursor:
        try:
            cursor.execute("SELECT name FROM sqlite_master LIMIT 0")
        except module.Error:
            raise refusal(
                "database", f"{file.name!r} is no SQLite file.", "Check source and format in [data].", "[data] source"
            ) from None
        yield SQLite(data, cursor)


class SQLite:
    """A table or query of a SQLite file."""

    def __init__(self, data: DataSource, cursor: Cursor) -> None:
        self._data, self._relation, self._cursor = data, relation_of(data), cursor
        self._stored: dict[str, str] = {}  # the type that all values of a column are read as

    def columns(self) -> tuple[DatabaseColumn, ...]:
        """The columns; a type is that of all its values, so that all are looked at."""
        names = self.names()
        each = ", ".join(f"max(typeof({identifier(name)}) = '{kind}')" for name in names for kind in _TYPES)
        self._cursor.execute(f"SELECT {each} FROM {self._relation}")
        (found,) = self._cursor.fetchall()
        width, columns = len(_TYPES), []
        for at, name in enumerate(names):
            there = found[width * at : width * (at + 1)]
            stored = _type_of(name, {kind for kind, occurs in zip(_TYPES, there, strict=True) if occurs})
            self._stored[name] = stored
            columns.append(DatabaseColumn(name, self._kind(name), _read_as(stored, identifier(name))))
        return tuple(columns)

    def _kind(self, name: str) -> ColumnKind:
        """Return what a column holds: numbers are told by their values, dates by what was declared."""
        if self._stored[name] in ("integer", "real"):
            return "whole" if self._stored[name] == "integer" else "number"
        return "date" if self._declared.get(name, "").upper().startswith(("DATE", "TIME")) else "text"

    @cached_property
    def _declared(self) -> dict[str, str]:
        """The types that were declared; SQLite has none for dates, and keeps them as texts."""
        if self._data.table is None:
            return {}
        self._cursor.execute(f"SELECT name, type FROM pragma_table_info({quoted(self._data.table)})")
        return {str(name): str(kind) for name, kind in self._cursor.fetchall()}

    def batches(self, columns: Sequence[DatabaseColumn]) -> pa.RecordBatchReader:
        """All rows, without the one that says the types."""
        first = ", ".join(f"{_FIRST[self._stored[column.name]]} AS {identifier(column.name)}" for column in columns)
        rest = ", ".join(column.sql for column in columns)
        mark = identifier(_MARK)
        self._cursor.execute(f"SELECT 0 AS {mark}, {first} UNION ALL SELECT 1, {rest} FROM {self._relation}")
        reader = self._cursor.fetch_record_batch()
        schema = pa.schema([field for field in reader.schema if field.name != _MARK])

        def rows() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                kept = batch.filter(pa.compute.equal(batch.column(0), 1))
                yield pa.RecordBatch.from_arrays(kept.columns[1:], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, rows())

    def names(self) -> list[str]:
        """Return the names of the columns."""
        try:
            return list(schema_of(self._cursor, f"SELECT * FROM {self._relation} LIMIT 0").names)
        except Exception:
            what = "The query in [data]" if self._data.query is not None else f"Table {self._data.table!r}"
            where = "query" if self._data.query is not None else "table"
            raise refusal(
                "table", f"{what} cannot be read in this SQLite file.", f"Check {where} in [data].", f"[data] {where}"
            ) from None


def _type_of(name: str, kinds: set[str]) -> str:
    """The one type of a column: whole numbers beside fractions are numbers, beside texts they are texts."""
    for stored, takes in (("text", set()), ("integer", {"integer"}), ("real", {"integer", "real"})):
        if kinds <= takes:
            return stored
    if kinds <= {"integer", "text"}:
        return "text"
    if kinds == {"blob"}:
        return "blob"
    # SQLite writes a number with a fraction with 15 digits, which is another number.
    says = f"Column {name!r} holds numbers with fractions beside texts, or bytes beside other values."
    raise refusal("mixed-types", says, "Read it with a query that casts it, or leaves it out.", at_column(name))


def _read_as(stored: str, column: str) -> str:
    """A column as values of its one type."""
    casts = {"real": "REAL", "text": "TEXT"}
    return f"CAST({column} AS {casts[stored]})" if stored in casts else column
