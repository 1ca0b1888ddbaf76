"""The database of a ledger: its tables in plain SQL that SQLite and PostgreSQL both understand.

A statement has ? where a parameter goes and @ before the name of a table: PostgreSQL databases are shared, so there the
tables live in a schema of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from crowdblend.errors import CrowdblendError
from crowdblend.ledger.chain import Record

SCHEMA = "crowdblend"
_SECRET = "sketches"


class Rows(Protocol):
    """The rows that a statement found."""

    def fetchone(self) -> Any:
        """Return the next row; None at the end."""

    def __iter__(self) -> Iterator[Any]: ...


class Driver(Protocol):
    """A connection of a database driver."""

    def execute(self, statement: Any, parameters: Any = ..., /) -> Rows:
        """Run a statement."""


@dataclass(frozen=True)
class Transaction:
    """A transaction on the tables of a ledger; whoever began it commits it."""

    driver: Driver
    on_server: bool
    """Whether this is PostgreSQL."""

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> Rows:
        """Run a statement."""
        text = statement.replace("@", f"{SCHEMA}." if self.on_server else "")
        if not parameters:
            return self.driver.execute(text)
        return self.driver.execute(text.replace("?", "%s") if self.on_server else text, parameters)

    def value(self, statement: str, parameters: Sequence[object] = ()) -> Any:
        """Return the first value that a statement finds; None where it finds none."""
        row = self.execute(statement, parameters).fetchone()
        return None if row is None else row[0]

    def has_ledger(self) -> bool:
        """Return whether the tables of a ledger are there."""
        if self.on_server:
            return self.value(f"SELECT to_regclass('{SCHEMA}.records')") is not None
        return self.value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'records'") is not None

    def records(self, first: int = 1) -> Iterator[Record]:
        """Return the records from a number on, in order."""
        statement = "SELECT number, previous, body, hash FROM @records WHERE number >= ? ORDER BY number"
        return (Record(*row) for row in self.execute(statement, [first]))

    def add_record(self, record: Record) -> None:
        """Append a record."""
        self.execute("INSERT INTO @records (number, previous, body, hash) VALUES (?, ?, ?, ?)", record)

    def hash_of(self, number: int) -> str | None:
        """Return the hash of one record; None where there is no such record."""
        found: str | None = self.value("SELECT hash FROM @records WHERE number = ?", [number])
        return found

    def has_hash(self, hashed: str) -> bool:
        """Return whether a record has this hash, or follows it."""
        return self.value("SELECT 1 FROM @records WHERE hash = ? OR previous = ?", [hashed, hashed]) is not None

    def keys(self) -> dict[int, bytes]:
        """Return every key that is kept, by entry; one that is no hexadecimal number is empty."""
        return {entry: _bytes(key) for entry, key in self.execute('SELECT entry, "key" FROM @keys')}

    def add_key(self, entry: int, key: bytes) -> None:
        """Keep the key of an entry, apart from the records."""
        self.execute('INSERT INTO @keys (entry, "key") VALUES (?, ?)', [entry, key.hex()])

    def delete_key(self, entry: int) -> None:
        """Destroy the key of an entry."""
        self.execute("DELETE FROM @keys WHERE entry = ?", [entry])

    def identities(self, digests: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """Return the identities of sources as texts, each with its digest: those of some digests, or all."""
        if digests is None:
            return iter(self.execute("SELECT digest, body FROM @identities"))
        places = ", ".join("?" * len(digests))
        return iter(self.execute(f"SELECT digest, body FROM @identities WHERE digest IN ({places})", [*digests]))

    def add_identity(self, digest: str, text: str) -> None:
        """Keep the identity of a source, apart from the records; releases from one source share it."""
        if self.value("SELECT 1 FROM @identities WHERE digest = ?", [digest]) is None:
            self.execute("INSERT INTO @identities (digest, body) VALUES (?, ?)", [digest, text])

    def secret(self) -> bytes:
        """Return the ledger's secret; empty where it was deleted."""
        return _bytes(self.value("SELECT value FROM @secrets WHERE name = ?", [_SECRET]))

    def add_secret(self, secret: bytes) -> None:
        """Keep the secret of a new ledger."""
        self.execute("INSERT INTO @secrets (name, value) VALUES (?, ?)", [_SECRET, secret.hex()])

    def may_read_secrets(self) -> bool:
        """Return whether keys and the secret can be read: a reader of a ledger in PostgreSQL has no such right."""
        return not self.on_server or bool(self.value(f"SELECT has_table_privilege('{SCHEMA}.keys', 'SELECT')"))

    def server_day(self) -> str:
        """Return the day in UTC on the machine of the database, as YYYY-MM-DD; empty where that is this machine."""
        return str(self.value("SELECT CAST(now() AT TIME ZONE 'UTC' AS date)")) if self.on_server else ""


class Database(Protocol):
    """Where transactions begin."""

    def transaction(self, *, writing: bool) -> AbstractContextManager[Transaction]:
        """Begin a transaction that sees one state, or excludes other writers; committed unless the block fails."""

    def refusal(self, problem: Exception, words: str) -> CrowdblendError | None:
        """Return what the database refused, as an error about the ledger of this name; None for other problems."""


def _bytes(stated: object) -> bytes:
    try:
        return bytes.fromhex(str(stated))
    except ValueError:
        return b""
