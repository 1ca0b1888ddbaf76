"""A ledger in PostgreSQL, shared by a team, reached through SQLAlchemy with whichever driver its address names."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection as ServerConnection
from sqlalchemy import TextClause, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from crowdblend.errors import CrowdblendError, InvalidInput, Refused
from crowdblend.ledger.connection import Row
from crowdblend.ledger.location import Location
from crowdblend.ledger.tables import SCHEMA

_ADVISORY_LOCK = 7021800464  # any constant: all writers of one database take the same lock
_NO_RIGHT = "42501"  # PostgreSQL: insufficient_privilege


class PostgresqlServer:
    """The database that an address names."""

    def __init__(self, location: Location) -> None:
        scheme, _, rest = str(location.url).partition("://")
        driver = scheme.partition("+")[2] or "psycopg"
        try:
            self._engine = create_engine(f"postgresql+{driver}://{rest}", poolclass=NullPool, hide_parameters=True)
        except (ImportError, NoSuchModuleError):
            raise InvalidInput(
                f"a ledger in PostgreSQL needs the package {driver}. Install it.", where="ledger", code="system.package"
            ) from None
        except (SQLAlchemyError, ValueError):
            raise InvalidInput(
                f"{location.words()} is no PostgreSQL URL. Correct it.", where="ledger", code="ledger-location"
            ) from None

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[PostgresqlConnection]:
        """A transaction that sees one state, or excludes other writers; committed unless the block fails."""
        with self._engine.connect() as connection, connection.begin():
            if writing:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            else:  # one state for all that is read: by default every statement sees a newer one
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield PostgresqlConnection(connection)

    def lacks_right(self, problem: Exception) -> bool:
        """Whether the role may not do what it tried."""
        return isinstance(problem, DBAPIError) and getattr(problem.orig, "sqlstate", None) == _NO_RIGHT

    def refusal(self, problem: Exception, words: str) -> CrowdblendError | None:
        """What the database refused, in one sentence about the ledger of this name; None where it was not that."""
        if self.lacks_right(problem):
            return Refused(
                f"your role may not do this in the ledger {words}.",
                remedy="Ask its owner, who gives roles their rights with crowdblend ledger roles --apply.",
                where="ledger",
                code="ledger.no-right",
            )
        if not isinstance(problem, SQLAlchemyError):
            return None
        reason = "does not answer or does not allow this. Check the address and your rights."
        return InvalidInput(f"the ledger {words} {reason}", where="ledger", code="ledger.unreachable")


class PostgresqlConnection:
    """A transaction on a server."""

    on_server = True

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """Run a statement about tables of the ledger."""
        return self._connection.execute(_clause(statement), _named(parameters))

    def add(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement once for each of some rows of parameters."""
        self._connection.execute(_clause(statement), [_named(row) for row in rows])

    def stream(self, statement: str, batch: int) -> Generator[Row, None, None]:
        """What a statement finds, so many rows at a time: there may be very many."""
        with self._connection.execute(_clause(statement), execution_options={"yield_per": batch}) as result:
            for rows in result.partitions():
                yield from map(tuple, rows)

    def run(self, statement: str) -> None:
        """Run a statement as it stands, about whatever it names."""
        self._connection.exec_driver_sql(statement)

    def has_table(self, name: str) -> bool:
        """Whether the ledger has a table of this name."""
        return bool(inspect(self._connection).has_table(name, schema=SCHEMA))


def _clause(statement: str) -> TextClause:
    """A statement with its schema, and with names for its parameters."""
    first, *more = statement.replace("@", f"{SCHEMA}.").split("?")
    return text(first + "".join(f":p{number}{part}" for number, part in enumerate(more)))


def _named(parameters: Sequence[Any]) -> dict[str, Any]:
    return {f"p{number}": value for number, value in enumerate(parameters)}
