"""PostgreSQL, read in one read-only transaction that sees one state, with the types that the server names.

Password, certificates and service files come from libpq's own variables and files (PGPASSWORD, ~/.pgpass,
PGSERVICEFILE, PGSSLMODE), never from a policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from crowdblend.errors import Unavailable
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.databases.database import DatabaseColumn, column_of, relation_of, silence
from crowdblend.sources.engines.duckdb.relation import identifier
from crowdblend.trusted.machine.packages import pyarrow as pa

# Types that arrive as what they are. All others are read as the text that the server shows.
_AS_THEY_ARE = {
    *("int2", "int4", "int8", "float4", "float8", "bool", "text", "varchar"),
    *("date", "timestamp", "timestamptz", "uuid"),
}
_BEGIN = (
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO'",
)
_MOST_DIGITS = 38


@contextmanager
def open_postgresql(data: DataSource) -> Iterator[PostgreSQL]:
    """Open a PostgreSQL database in a transaction that changes nothing."""
    try:
        driver = import_module("adbc_driver_postgresql.dbapi")
    except ImportError:
        message = "This source needs the database driver adbc-driver-postgresql, which is not installed."
        remedy = 'Install it in a checkout: pip install ".[postgres]".'
        raise Unavailable(message, remedy=remedy, where="`data.source`", code="system.package") from None
    with silence(data, starting=True):
        made = driver.connect(data.source)
    with silence(data), closing(made) as connection, closing(connection.cursor()) as cursor:
        for statement in _BEGIN:
            cursor.execute(statement)
        yield PostgreSQL(data, cursor)


class PostgreSQL:
    """A table or query of a PostgreSQL database."""

    def __init__(self, data: DataSource, cursor: Any) -> None:
        self._relation, self._cursor = relation_of(data), cursor

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns()]

    def columns(self) -> tuple[DatabaseColumn, ...]:
        """Return the columns with the types that the server gives them."""
        self._cursor.execute(f"SELECT * FROM {self._relation} WHERE 1 = 0")
        with self._cursor.fetch_record_batch() as reader:
            return tuple(map(_column, reader.schema))

    def batches(self, columns: Sequence[DatabaseColumn]) -> pa.RecordBatchReader:
        """Return all rows, in the server's order."""
        selected = ", ".join(f"{column.sql} AS {identifier(column.name)}" for column in columns)
        self._cursor.execute(f"SELECT {selected} FROM {self._relation}")
        reader: pa.RecordBatchReader = self._cursor.fetch_record_batch()
        return reader


def _column(field: pa.Field) -> DatabaseColumn:
    metadata = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    name, kind = identifier(field.name), metadata.get("POSTGRESQL:type")
    if kind == "numeric":
        return _decimal(field.name, int(metadata.get("POSTGRESQL:typmod", -1)))
    if kind in _AS_THEY_ARE or (kind is not None and kind.startswith("_")):
        return column_of(field)
    return DatabaseColumn(field.name, "text", f"{name}::text")


def _decimal(name: str, modifier: int) -> DatabaseColumn:
    """A decimal number with as many digits as were declared; without a declaration, its text without needless zeros."""
    digits, places = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
    if modifier >= 4 and digits <= _MOST_DIGITS and places <= digits:
        return DatabaseColumn(name, "number", f"{identifier(name)}::text", f"DECIMAL({digits}, {places})")
    return DatabaseColumn(name, "number", f"trim_scale({identifier(name)})::text")
