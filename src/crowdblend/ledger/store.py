"""Where transactions on one ledger begin; whatever its database refuses becomes one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.ledger.chain import FORMAT, next_record
from crowdblend.ledger.database import Database, Transaction
from crowdblend.ledger.location import Location
from crowdblend.ledger.postgresql import PostgresqlServer
from crowdblend.ledger.records import Created, to_body
from crowdblend.ledger.secrets import commitment, new_secret
from crowdblend.ledger.sqlite_file import DAMAGED, SqliteFile, check_file
from crowdblend.ledger.tables import create_tables

_MISSING = ("ledger.missing", "has no crowdblend ledger. Make one with crowdblend ledger init, or name another")


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """The database of one ledger. A transaction either reads, or excludes every other writer from its first moment."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self._database: Database = (
            SqliteFile(location.path) if location.path is not None else PostgresqlServer(str(location.url))
        )

    @classmethod
    def open(cls, location: Location, *, make: bool = False) -> Store:
        """Return the store at a location; a missing file is made where `make` allows it."""
        if location.path is not None:
            check_file(location.path, make=_make if make else None)
        store = cls(location)
        with store.transaction(writing=False) as transaction:
            if not transaction.has_ledger():
                code, reason = DAMAGED if location.path is not None else _MISSING
                raise InvalidInput(f"The ledger {location.words()} {reason}.", where="ledger", code=code)
        return store

    @classmethod
    def create(cls, location: Location) -> Store:
        """Return a new store; refuses a location that has one."""
        if location.path is not None:
            if not location.is_missing:
                raise InvalidInput(
                    f"There is something at {location.path} already. Name a new file.",
                    where="ledger",
                    code="ledger.exists",
                )
            return cls.open(location, make=True)
        store = cls(location)
        with store.transaction(writing=True) as transaction:
            if transaction.has_ledger():
                raise InvalidInput(
                    f"{location.words()} has a ledger already. Name another database.",
                    where="ledger",
                    code="ledger.exists",
                )
            _fill(transaction)
        return store

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Transaction]:
        """Begin a transaction that sees one state, or that no other writer overlaps; then it is durable at its end."""
        try:
            with self._database.transaction(writing=writing) as transaction:
                yield transaction
        except Exception as problem:
            refusal = self._database.refusal(problem, self.location.words())
            if refusal is None:
                raise
            raise refusal from None


def _make(path: Path) -> None:
    with Store(Location(path=path)).transaction(writing=True) as transaction:
        _fill(transaction)


def _fill(transaction: Transaction) -> None:
    """Make the tables of a new ledger, with its secret and the record that commits to it."""
    create_tables(transaction)
    secret = new_secret()
    transaction.add_secret(secret)
    transaction.add_record(next_record(None, to_body(Created(FORMAT, commitment(secret), now()))))
