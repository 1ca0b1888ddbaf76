"""The names and types of the columns of a source, and of a code book: no value of the data is read."""

from __future__ import annotations

import csv
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import format_of
from crowdblend.policies.header import Header, read_header

_MOST_LINES = 100_000


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
    """The values of every column in a code book: a CSV file with a column and one of its values on every line.

    The first two columns of the file count, whatever they are called; others, such as labels, are for people.
    """
    found: dict[str, list[str]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            mark = max(",;\t|", key=head.count)
            for number, line in enumerate(csv.reader(file, delimiter=mark)):
                if number >= _MOST_LINES:
                    break
                if len(line) >= 2 and line[0].strip() and line[1].strip():
                    found.setdefault(line[0].strip(), []).append(line[1].strip())
    except (OSError, UnicodeDecodeError, csv.Error):
        found = {}
    if not found:
        raise InvalidInput(
            f"{path.name!r} is no code book: a CSV file with a column and one of its values on every line.",
            remedy="Write a first line such as column,value, and below it lines such as sex,Female.",
            where="code book",
            code="init.code-book",
        )
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}
