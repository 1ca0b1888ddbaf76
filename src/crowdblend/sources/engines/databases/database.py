"""A database that is open for reading: which columns a table or query has, and its rows as a stream of Arrow batches.

What a driver says of a failure may quote an address or a row, so none of it reaches anyone once rows are read:
`silence` looks at what kind of failure it was and says it in our words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from crowdblend.errors import CrowdblendError, InvalidInput, NotReachable, reason_of
from crowdblend.policies.header import ColumnKind, kind_of
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.relation import identifier, source_name
from crowdblend.sources.engines.refusals import refusal
from crowdblend.trusted.machine.packages import pyarrow as pa


@dataclass(frozen=True)
class DatabaseColumn:
    """A column: its name, what kind of values it has, and how the database is asked for it.

    `cast` is the type of DuckDB that its text is turned into; None leaves values as the driver hands them over.
    """

    name: str
    kind: ColumnKind
    sql: str
    cast: str | None = None


class Database(Protocol):
    """A database that is open, in a read-only transaction: whatever is read of it is one state."""

    def names(self) -> list[str]:
        """Return the names of the columns; no row is read for it."""

    def columns(self) -> tuple[DatabaseColumn, ...]:
        """Return the columns of the table or query; no row is read for it, or none is kept."""

    def batches(self, columns: Sequence[DatabaseColumn]) -> pa.RecordBatchReader:
        """Return the rows as an Arrow record batch reader."""


def column_of(field: pa.Field) -> DatabaseColumn:
    """Return a column that arrives as what it is."""
    return DatabaseColumn(field.name, kind_of(field.type), identifier(field.name))


# Classes of SQLSTATE: the connection, the server's resources, an operator, the server's system.
_AWAY = ("08", "53", "57", "58")


@contextmanager
def silence(data: DataSource, *, starting: bool = False) -> Iterator[None]:
    """Failures of a driver inside, as refusals without a word of theirs; while it is `starting`, with their reason."""
    try:
        yield
    except InvalidInput:
        raise
    except Exception as error:
        kinds = {"adbc_driver_manager": "Error", "sqlite3": "Error", "pyarrow": "ArrowException", "duckdb": "Error"}
        failures = [getattr(sys.modules[name], kind) for name, kind in kinds.items() if name in sys.modules]
        if not isinstance(error, (*failures, OSError, UnicodeError)):
            raise
        raise _refusal(data, error, starting) from None


def _refusal(data: DataSource, error: Exception, starting: bool) -> CrowdblendError:
    state = str(getattr(error, "sqlstate", None) or "")
    what, where = name_table(data)
    if state in ("42P01", "3F000", "42703"):
        return refusal(
            "table", f"{what} names something that the database does not have.", "Check its spelling.", where
        )
    if state.startswith(("42501", "28")):
        message = "Check user, PGPASSWORD or ~/.pgpass, and the permission to SELECT."
        return refusal("permission", "The database does not let this user read the data.", message, "`data.source`")
    if state == "25006":
        return refusal("read-only", f"{what} would write to the database.", "Write a query that only reads.", where)
    if state.startswith("42"):
        return refusal("query", f"{what} is no single SELECT that the database can run.", "Correct the query.", where)
    message = "Check source, the password (PGPASSWORD, ~/.pgpass) and the server."
    why = "The database stopped answering."
    away = "://" in data.source and (not state or state[:2] in _AWAY)
    if starting:
        why = f"The database does not answer: {reason_of(error)}."
    if away:
        return NotReachable(why, remedy=message, where="`data.source`", code="data.database")
    return refusal("database", why, message, "`data.source`")


def name_table(data: DataSource) -> tuple[str, str]:
    """Return what a refusal calls the table or query, and where it is declared."""
    return source_name(data), "`data.table`" if data.query is None else "`data.query`"


def relation_of(data: DataSource) -> str:
    """Return the table or query as something to select from."""
    if data.query is not None:
        return f"({data.query.strip().rstrip(';')}\n) AS given"  # a comment at its end ends with the line
    return ".".join(identifier(part) for part in str(data.table).split(".", 1))
