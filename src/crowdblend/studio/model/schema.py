"""The names and types of the columns of a source, and of a code book: no value of the data is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy
from crowdblend.policies import code_book
from crowdblend.policies.files import format_of
from crowdblend.policies.header import ColumnKind, Header, read_header
from crowdblend.policies.source import DataSource, is_sqlite, sqlite_file

if TYPE_CHECKING:
    import duckdb

    from crowdblend.engines.databases import local_copy
else:
    duckdb = lazy("duckdb")
    local_copy = lazy("crowdblend.engines.databases.local_copy")

_TABLES_OF_POSTGRESQL = (
    "SELECT table_schema || '.' || table_name AS name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
)


def source_header(source: Path, table: str | None = None, delimiter: str | None = None) -> Header:
    """Return the columns of a CSV or Parquet file, of a folder of such files, or of a table in a database's file."""
    kind = format_of(source.name) if source.is_file() else None
    if kind == "sqlite":
        return _sqlite_header(source, table, None)
    if kind == "duckdb":
        return database_header(DataSource(str(source), "duckdb", table=table, rows_are_people=True))
    return read_header(source, delimiter)


def database_header(data: DataSource) -> Header:
    """Return the columns of a table or query of a database."""
    if data.format == "sqlite":
        return _sqlite_header(sqlite_file(data.source), data.table, data.query)
    return Header(tuple((column.name, cast(ColumnKind, column.kind)) for column in local_copy.columns_of(data)))


def tables_at(address: str) -> tuple[str, ...]:
    """Return the tables of a PostgreSQL database that the user may see, or of a SQLite file, by their names."""
    if is_sqlite(address):
        return _sqlite_tables(sqlite_file(address))
    with local_copy.open_database(DataSource(address, "postgres", query=_TABLES_OF_POSTGRESQL)) as database:
        found = database.batches(database.columns()).read_all()
    return tuple(sorted(found.column(0).to_pylist()))


def tables_of(source: Path) -> tuple[str, ...]:
    """Return the tables of a DuckDB or SQLite file; none for other files."""
    kind = format_of(source.name) if source.is_file() else None
    if kind == "sqlite":
        return _sqlite_tables(source)
    if kind != "duckdb":
        return ()
    try:
        with duckdb.connect(str(source), read_only=True) as connection:
            rows = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    except duckdb.Error:
        raise InvalidInput(
            f"{source.name!r} is no DuckDB file that can be read.",
            remedy="Check the path, and that nobody writes to it.",
            where="[data] source",
            code="init.file",
        ) from None
    return tuple(str(name) for (name,) in rows)


def _sqlite_tables(source: Path) -> tuple[str, ...]:
    with _sqlite(source) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        return tuple(str(name) for (name,) in rows if not str(name).startswith("sqlite_"))


def _sqlite_header(source: Path, table: str | None, query: str | None) -> Header:
    """Return the columns as they were declared; an engine looks at the types of all values before it reads them."""
    with _sqlite(source) as database:
        types = "SELECT name, type FROM pragma_table_info(?)"
        declared = {} if table is None else dict(database.execute(types, [table]))
        relation = f"({query}\n)" if query is not None else _quoted(str(table))
        database.set_authorizer(_only_reading)
        names = [str(one[0]) for one in database.execute(f"SELECT * FROM {relation} LIMIT 0").description]
    return Header(tuple((name, _kind(str(declared.get(name, "")).upper())) for name in names))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _sqlite(source: Path) -> Iterator[sqlite3.Connection]:
    """Yield a SQLite file, open for reading."""
    try:
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as database:
            yield database
    except sqlite3.Error:
        raise InvalidInput(
            f"{source.name!r} is no SQLite file with this table or query.",
            remedy="Check the file, and the spelling of table or query.",
            where="[data] source",
            code="init.file",
        ) from None


def _only_reading(action: int, _: object, name: object, *__: object) -> int:
    """Return a query attaches no other file, loads no code and changes nothing."""
    reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in reading and name != "load_extension" else sqlite3.SQLITE_DENY


def _kind(declared: str) -> ColumnKind:
    if any(word in declared for word in ("DATE", "TIME")):
        return "date"
    numbers = ("INT", "DECIMAL", "DOUBLE", "FLOAT", "REAL", "NUMERIC")
    return "number" if any(word in declared for word in numbers) else "text" if declared else "unknown"


def read_code_book(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the values of every column that a code book lists them for."""
    return {name: entry.values for name, entry in code_book.read_code_book(path).items() if entry.values}
