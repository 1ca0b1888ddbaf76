"""Databases of other makes: whatever has an ADBC driver, asked in plain SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from crowdblend.engines.databases.database import DatabaseColumn, driver, kind_of, relation_of, schema_of, silenced
from crowdblend.engines.duckdb.relation import identifier
from crowdblend.policies.source import DataSource


@contextmanager
def open_any(data: DataSource) -> Iterator[AnyDatabase]:
    """The database at an address, through the driver that the policy names; nothing is committed."""
    module = driver(str(data.driver), None)
    with silenced(data), closing(module.connect(data.source)) as connection, closing(connection.cursor()) as cursor:
        yield AnyDatabase(data, cursor)


class AnyDatabase:
    """A table or query of some database; its rows are read by one statement, which sees one state."""

    def __init__(self, data: DataSource, cursor: Any) -> None:
        self._relation, self._cursor = relation_of(data), cursor

    def columns(self) -> tuple[DatabaseColumn, ...]:
        """The columns with the types that the driver gives them."""
        schema = schema_of(self._cursor, f"SELECT * FROM {self._relation} WHERE 1 = 0")
        return tuple(DatabaseColumn(field.name, kind_of(field.type), identifier(field.name)) for field in schema)

    def batches(self, columns: Sequence[DatabaseColumn]) -> Any:
        """All rows."""
        selected = ", ".join(column.sql for column in columns)
        self._cursor.execute(f"SELECT {selected} FROM {self._relation}")
        return self._cursor.fetch_record_batch()
