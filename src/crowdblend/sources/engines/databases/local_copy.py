"""The rows of a database in a private file: a release reads its rows more than once, and must see the same ones.

The file lies in a folder that only the owner can look into, is readable for the owner alone, and is deleted when the
release is done. Rows are sorted, since those of a database have no order: so a release that is resumed finds the same
file, and the places of rows mean the same people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from crowdblend.methods.recoding.reading import quote
from crowdblend.policies.header import Header
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.databases.database import Database, DatabaseColumn, column_of, relation_of
from crowdblend.sources.engines.databases.postgresql import open_postgresql
from crowdblend.sources.engines.databases.sqlite import open_sqlite
from crowdblend.sources.engines.duckdb.database import attach, database, redact, small_database, table_remedy
from crowdblend.sources.engines.duckdb.relation import check_names, check_repeats, identifier, source_name
from crowdblend.trusted.machine.packages import duckdb

_OPEN: dict[str, Callable[[DataSource], AbstractContextManager[Database]]] = {
    "postgres": open_postgresql,
    "sqlite": open_sqlite,
}
_FILE = "rows.parquet"
# Whole numbers of 128 bits, which a Parquet file would have as doubles: other numbers, and some people as one.
_WIDE = ("HUGEINT", "UHUGEINT")
_TABLES = {
    "duckdb": "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'origin' ORDER BY 1",
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
    "postgres": "SELECT table_schema || '.' || table_name AS name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
}


def columns_of(data: DataSource) -> tuple[DatabaseColumn, ...]:
    """Return the columns of a source in a database."""
    if data.format != "duckdb":
        with _OPEN[data.format](data) as opened:
            return opened.columns()
    with small_database() as connection, _readable(connection, data):
        schema = connection.sql(f"SELECT * FROM {relation_of(data)} LIMIT 0").to_arrow_table().schema
    return tuple(map(column_of, schema))


def _readable(connection: duckdb.DuckDBPyConnection, data: DataSource) -> AbstractContextManager[None]:
    """Open a DuckDB file; whatever is selected inside is from its tables."""
    attach(connection, data)
    connection.execute("USE origin")
    return redact(f"{source_name(data)} cannot be read in this file.", table_remedy(data), code="table")


def header_of(data: DataSource) -> Header:
    """Return the names and kinds of the columns of a source in a database."""
    return Header(tuple((column.name, column.kind) for column in columns_of(data)))


def tables_of(source: str, kind: Literal["duckdb", "sqlite", "postgres"]) -> tuple[str, ...]:
    """Return the names of the tables of a database that the user may see."""
    data = DataSource(source, kind, query=_TABLES[kind], rows_are_people=True)
    if kind == "duckdb":
        with small_database() as connection:
            attach(connection, data)
            return tuple(str(name) for (name,) in connection.sql(_TABLES[kind]).fetchall())
    with _OPEN[kind](data) as opened:
        return tuple(sorted(opened.batches(opened.columns()).read_all().column(0).to_pylist()))


def check_database(data: DataSource, columns: Sequence[str]) -> None:
    """Refuse a database that does not answer, or a table that lacks a column."""
    if data.format == "duckdb":
        names = [column.name for column in columns_of(data)]
    else:
        with _OPEN[data.format](data) as opened:
            names = opened.names()
    check_names(data, names, columns)


def local_copy(data: DataSource, folder: Path, resources: Resources) -> DataSource:
    """The same source as a Parquet file in a private folder."""
    path = folder / _FILE
    with database(resources, folder) as connection:
        if data.format == "duckdb":
            with _readable(connection, data):
                found = connection.sql(f"SELECT * FROM {relation_of(data)} LIMIT 0")
            kinds = zip(map(identifier, found.columns), map(str, found.types), strict=True)
            texts = [f"CAST({name} AS VARCHAR) AS {name}" for name, kind in kinds if kind in _WIDE]
            every = f"* REPLACE ({', '.join(texts)})" if texts else "*"
            _write(connection, f"SELECT {every} FROM {relation_of(data)}", path)
        else:
            with _OPEN[data.format](data) as opened:
                columns = opened.columns()
                names = [column.name for column in columns]
                check_repeats(data, names, names)
                connection.register("incoming", opened.batches(columns))
                casts = {identifier(column.name): column.cast for column in columns}
                stored = [name if kind is None else f"CAST({name} AS {kind}) AS {name}" for name, kind in casts.items()]
                _write(connection, f"SELECT {', '.join(stored)} FROM incoming", path)
    return replace(data, source=str(path), format="parquet", table=None, query=None)


def _write(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Sort the rows of a query into a Parquet file."""
    failed = "The rows of the database cannot be read to their end."
    with redact(failed, "Check `data.table` or `data.query`, and the server.", code="database"):
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"COPY ({query} ORDER BY ALL) TO {quote(str(path))} (FORMAT parquet)")
        path.chmod(0o600)
