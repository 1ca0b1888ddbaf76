"""A ledger in PostgreSQL, shared by a team."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crowdblend.errors import CrowdblendError, InvalidInput, Refused
from crowdblend.ledger.database import Transaction
from crowdblend.packages import psycopg

_ADVISORY_LOCK = 7021800464  # any constant: all writers of one database take the same lock


class PostgresqlServer:
    """The database that a URL names."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except ImportError:
            raise InvalidInput(
                "A ledger in PostgreSQL needs the package psycopg. Install crowdblend[postgres].",
                where="ledger",
                code="system.package",
            ) from None
        except psycopg.Error:
            raise InvalidInput(
                "The address of the ledger is no PostgreSQL URL. Correct it.", where="ledger", code="ledger-location"
            ) from None

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Transaction]:
        """Begin a transaction that sees one state, or excludes other writers; committed unless the block fails."""
        with psycopg.connect(self._url, client_encoding="utf8") as connection:
            if writing:
                connection.execute(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
            else:  # one state for everything that is read: by default every statement sees a newer one
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield Transaction(connection, on_server=True)

    def refusal(self, problem: Exception, words: str) -> CrowdblendError | None:
        """Return what the database refused, as an error about the ledger of this name; None for other problems."""
        if isinstance(problem, psycopg.errors.InsufficientPrivilege):
            return Refused(
                f"Your role may not do this in the ledger {words}.",
                remedy="Ask its owner for the rights that crowdblend ledger roles prints.",
                where="ledger",
                code="ledger.no-right",
            )
        if not isinstance(problem, psycopg.Error):
            return None
        return InvalidInput(
            f"The ledger {words} does not answer or does not allow this. Check the address and your rights.",
            where="ledger",
            code="ledger.unreachable",
        )
