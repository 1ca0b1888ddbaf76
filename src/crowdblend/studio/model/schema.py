"""The names and types of the columns of a source, and of a code book: no value of the data is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from crowdblend.errors import InvalidInput
from crowdblend.lazy import lazy_imports
from crowdblend.policies import code_book
from crowdblend.policies.files import format_of
from crowdblend.policies.header import Header, read_header
from crowdblend.policies.key import Key
from crowdblend.policies.proposals import proposed_person
from crowdblend.policies.source import DataSource, is_sqlite

with lazy_imports():
    from crowdblend.engines.databases import local_copy


def source_header(source: Path, table: str | None = None, delimiter: str | None = None) -> Header:
    """Return the columns of CSV or Parquet files, or of a table in a DuckDB or SQLite file."""
    kind = _database_of(source)
    if kind is None:
        return read_header(source, delimiter)
    if table is None or (kind == "duckdb" and table not in tables_of(source)):
        message = f"{source.name!r} is a database with several tables."
        raise InvalidInput(message, remedy="Choose the table to read.", where="[data] table", code="init.table")
    return database_header(DataSource(str(source), kind, table=table, rows_are_people=True))


def database_header(data: DataSource) -> Header:
    """Return the columns of a table or query of a database."""
    return local_copy.header_of(data)


def tables_at(address: str) -> tuple[str, ...]:
    """Return the tables of a PostgreSQL database that the user may see, or of a SQLite file, by their names."""
    return local_copy.tables_of(address, "sqlite" if is_sqlite(address) else "postgres")


def tables_of(source: Path) -> tuple[str, ...]:
    """Return the tables of a DuckDB or SQLite file; none for other files."""
    kind = _database_of(source)
    return () if kind is None else local_copy.tables_of(str(source), kind)


def proposed_data(header: Header, keys: Mapping[str, Key]) -> dict[str, str]:
    """Return what the names of the columns propose: who is told apart, and whether that only numbers the rows."""
    person = proposed_person(header.columns)
    numbered = next((name for name, kind in header.columns if kind == "row number"), None)
    texts = {"person": person or numbered or "", "ids": "table" if not person and numbered else ""}
    return {name: text for name, text in texts.items() if name in keys}


def _database_of(source: Path) -> Literal["duckdb", "sqlite"] | None:
    kind = format_of(source.name) if source.is_file() else None
    return "duckdb" if kind == "duckdb" else "sqlite" if kind == "sqlite" else None


def read_code_book(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the values of every column that a code book lists them for."""
    return {name: entry.values for name, entry in code_book.read_code_book(path).items() if entry.values}
