"""The names and types of the columns of a source, and of a code book: no value of the data is read."""

from __future__ import annotations

from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies import code_book
from crowdblend.policies.files import format_of
from crowdblend.policies.header import Header, read_header


def source_header(source: Path, table: str | None = None, delimiter: str | None = None) -> Header:
    """The columns of a CSV or Parquet file, of a folder of such files, or of a table in a DuckDB file."""
    if format_of(source.name) == "duckdb" and source.is_file():
        return _duckdb_header(source, table)
    return read_header(source, delimiter)


def tables_of(source: Path) -> tuple[str, ...]:
    """The tables of a DuckDB file; none for other files."""
    if format_of(source.name) != "duckdb" or not source.is_file():
        return ()
    query = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
    return tuple(str(name) for (name,) in _asked(source, query))


def _duckdb_header(source: Path, table: str | None) -> Header:
    if table is None or table not in tables_of(source):
        raise InvalidInput(
            f"{source.name!r} is a database with several tables.",
            remedy="Choose the table to read.",
            where="[data] table",
            code="init.table",
        )
    query = (
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
    )
    rows = _asked(source, query, table)
    return Header(tuple((str(name), _kind(str(kind))) for name, kind in rows))  # type: ignore[misc]


def _kind(declared: str) -> str:
    if any(word in declared for word in ("DATE", "TIME")):
        return "date"
    return "number" if any(word in declared for word in ("INT", "DECIMAL", "DOUBLE", "FLOAT")) else "text"


def _asked(source: Path, query: str, *given: str) -> list[tuple[object, ...]]:
    import duckdb  # noqa: PLC0415 - heavy

    try:
        with duckdb.connect(str(source), read_only=True) as connection:
            return connection.execute(query, list(given)).fetchall()
    except duckdb.Error:
        raise InvalidInput(
            f"{source.name!r} is no DuckDB file that can be read.",
            remedy="Check the path, and that nobody writes to it.",
            where="[data] source",
            code="init.file",
        ) from None


def read_code_book(path: Path) -> dict[str, tuple[str, ...]]:
    """The values of every column that a code book lists them for."""
    return {name: entry.values for name, entry in code_book.read_code_book(path).items() if entry.values}
