"""Transactions on a ledger in PostgreSQL, each on a connection of its own, with an end to every wait.

Nothing is asked of a session beyond its transaction, so that PgBouncer may give every transaction to another one.
Limits of time are the server's own, and a little later this machine's: a server that is frozen answers to none.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, NotReachable, RefusedByLedger, reason_of
from crowdblend.ledger.database import Rows, Transaction
from crowdblend.ledger.roles import SCHEMA
from crowdblend.trusted.machine.packages import psycopg

CONNECT = 10
"""Seconds to wait for a connection, where neither URL nor PGCONNECT_TIMEOUT says another number."""
STATEMENT = 60.0
"""Seconds that a statement may take."""
_ON_TOP = 10.0  # seconds more for an answer to come back
# A connection that nobody answers on any more is noticed within half a minute.
_ALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_SINCE = "crowdblend writes since "
CUT = "ledger.cut"


def check_address(url: str) -> None:
    """Refuse what is no address of a PostgreSQL database, and a machine without a driver for it."""
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except ImportError:
        message = "A ledger in PostgreSQL needs the package psycopg."
        remedy = 'Install it in a checkout: pip install ".[postgres]".'
        raise InvalidInput(message, remedy=remedy, where="ledger", code="system.package") from None
    except psycopg.Error:
        message = "The address of the ledger is no PostgreSQL URL. Correct it."
        raise InvalidInput(message, where="ledger", code="ledger-location") from None


def database_of(url: str) -> str:
    """Return which database an address names: host and database, not the user."""
    stated = psycopg.conninfo.conninfo_to_dict(url)
    return "\n".join(f"{name}={stated.get(name, '')}" for name in ("service", "host", "hostaddr", "port", "dbname"))


@contextmanager
def transaction_on_server(url: str, words: str, *, writing: bool, patience: float) -> Iterator[Transaction]:
    """Begin a transaction; one that writes waits this many seconds for its turn. Errors of the server are sentences."""
    try:
        connection = _connect(url)
    except psycopg.Error as problem:
        message = f"The ledger {words} does not answer: {reason_of(problem)}. Check the address, or try again."
        raise _not_reachable("unreachable", message) from None
    timed_connection = _TimedConnection(connection, socket.socket(fileno=socket.dup(connection.fileno())))
    committing = False
    try:
        _begin(timed_connection, writing=writing, patience=patience)
        yield Transaction(timed_connection, on_server=True)
        committing = True
        with timed_connection.limit():
            connection.commit()
    except psycopg.errors.LockNotAvailable:
        raise _busy(timed_connection, words, patience) from None
    except psycopg.Error as problem:
        raised = _translate(problem, words, late=timed_connection.late)
        # Whether a commit was lost on its way there or back is not known.
        raised.recorded = None if committing and writing else False
        raise raised from None
    finally:
        with suppress(psycopg.Error), timed_connection.limit():
            connection.close()
        timed_connection.line.close()


def _connect(url: str) -> Any:
    stated = psycopg.conninfo.conninfo_to_dict(url)
    settings = {**_ALIVE, "connect_timeout": os.environ.get("PGCONNECT_TIMEOUT", CONNECT), "client_encoding": "utf8"}
    missing = {name: value for name, value in settings.items() if name not in stated}
    # A prepared statement would be looked for in the session of another transaction.
    return psycopg.connect(url, prepare_threshold=None, **missing)


@dataclass(frozen=True)
class _TimedConnection:
    """A connection whose statements end: where no answer comes, its line is cut from here."""

    connection: Any
    line: socket.socket

    def execute(self, statement: Any, parameters: Any = None, /) -> Rows:
        """Run a statement."""
        with self.limit():
            found: Rows = self.connection.execute(statement, parameters)
        return found

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Cut the line where what is inside takes too long."""
        timer = threading.Timer(STATEMENT + _ON_TOP, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        object.__setattr__(self, "late", True)
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    late: bool = False


def _begin(timed_connection: _TimedConnection, *, writing: bool, patience: float) -> None:
    if not writing:  # one state for everything that is read: by default every statement sees a newer one
        timed_connection.connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    # The driver takes several commands at once where they have no parameters.
    timed_connection.execute(
        f"SET LOCAL statement_timeout = {round(STATEMENT * 1000)}; SET LOCAL lock_timeout = {round(patience * 1000)}"
    )
    if writing:
        # Where tables are not yet there, they are made in this transaction.
        if timed_connection.execute(f"SELECT to_regclass('{SCHEMA}.turn')").fetchone()[0] is not None:
            timed_connection.execute(f"LOCK TABLE {SCHEMA}.turn IN EXCLUSIVE MODE")
        timed_connection.execute(
            f"SELECT set_config('application_name', '{_SINCE}' || extract(epoch FROM clock_timestamp())::bigint, true)"
        )


def _busy(timed_connection: _TimedConnection, words: str, patience: float) -> CrowdblendError:
    """Return the refusal of a writer whose turn did not come, with who has it, as far as the server says that."""
    holder = None
    with suppress(psycopg.Error):
        timed_connection.connection.rollback()
        holder = timed_connection.execute(
            "SELECT usename, CASE WHEN starts_with(application_name, %(since)s) THEN extract(epoch "
            "FROM clock_timestamp())::bigint - substr(application_name, length(%(since)s) + 1)::bigint END "
            "FROM pg_locks JOIN pg_stat_activity USING (pid) "
            f"WHERE relation = '{SCHEMA}.turn'::regclass AND mode = 'ExclusiveLock' AND granted",
            {"since": _SINCE},
        ).fetchone()
    who, seconds = holder or (None, None)
    name = f", with the role {who!r}," if who else ""
    so_long = f"for {seconds} s" if seconds is not None else f"for more than {patience:g} s"
    message = f"Another steward{name} has been publishing {so_long}, and holds the ledger {words}. Wait and try again."
    return _not_reachable("busy", message)


def _translate(problem: Any, words: str, *, late: bool) -> CrowdblendError:
    """Return a failure of the server as an error of ours."""
    errors, why = psycopg.errors, reason_of(problem)
    if isinstance(problem, errors.InsufficientPrivilege):
        needed = problem.diag.message_detail
        message = f"Your role may not do this in the ledger {words}{f': it takes {needed}' if needed else ''}."
        remedy = "Ask its owner for the rights that crowdblend ledger roles prints."
        return RefusedByLedger(message, remedy=remedy, where="ledger", code="ledger.no-right")
    if isinstance(problem, errors.DiskFull | errors.OutOfMemory):
        message = f"The server of the ledger {words} has no room left: {why}."
        return NoRoom(message, remedy="Make room there and try again.", where="ledger", code="ledger.disk-full")
    if isinstance(problem, errors.UniqueViolation | errors.DuplicateTable):
        message = f"{words} got a ledger at this very moment. Use that one."
        return InvalidInput(message, where="ledger", code="ledger.exists")
    if late or isinstance(problem, errors.QueryCanceled):
        message = f"The ledger {words} has not answered for {STATEMENT:g} s. Try again later, or ask its owner."
        error = _not_reachable("slow", message)
    elif isinstance(problem, errors.ReadOnlySqlTransaction):
        message = f"The ledger {words} is on a server that only reads, such as a replica. Name the one that writes."
        error = _not_reachable("read-only", message)
    elif isinstance(problem, psycopg.OperationalError):  # of the connection, not of a record
        error = _not_reachable("cut", f"The connection to the ledger {words} was cut: {why}. Try again.")
    else:
        message = f"The ledger {words} does not allow this. Check your rights."
        error = InvalidInput(message, where="ledger", code="ledger.not-allowed")
    return error


def _not_reachable(code: str, message: str) -> CrowdblendError:
    return NotReachable(message, where="ledger", code=f"ledger.{code}")
