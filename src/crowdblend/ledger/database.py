"""The database of a ledger: its tables in plain SQL that SQLite and PostgreSQL both understand.

A statement has ? where a parameter goes and @ before the name of a table: PostgreSQL databases are shared, so there the
tables live in a schema of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from crowdblend.ledger.chain import Record
from crowdblend.ledger.roles import APPEND_ONLY, REFUSED, SCHEMA, TURN, postgresql_triggers

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
    """A transaction on the tables of a ledger; the code that began it commits it."""

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
        statement = "SELECT number, previous, body, hash, role FROM @records WHERE number >= ? ORDER BY number"
        return map(Record._make, self.execute(statement, [first]))

    def role(self) -> str:
        """Return the role that the database knows this writer by; empty for a file, which knows none."""
        return str(self.value("SELECT session_user")) if self.on_server else ""

    def add_record(self, record: Record) -> None:
        """Append a record."""
        self.execute("INSERT INTO @records (number, previous, body, hash, role) VALUES (?, ?, ?, ?, ?)", record)

    def hash_of(self, number: int) -> str | None:
        """Return the hash of one record; None where there is no such record."""
        found: str | None = self.value("SELECT hash FROM @records WHERE number = ?", [number])
        return found

    def hashes_of(self, numbers: Collection[int]) -> dict[int, str]:
        """Return the hashes of some records by their numbers; nothing for those that there are not."""
        places = ", ".join("?" * len(numbers))
        return dict(self.execute(f"SELECT number, hash FROM @records WHERE number IN ({places})", [*numbers]))

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

    def is_replica(self) -> bool:
        """Return whether this is a server that follows another one."""
        return self.on_server and bool(self.value("SELECT pg_is_in_recovery()"))

    def server_day(self) -> str:
        """Return the day in UTC on the machine of the database, as YYYY-MM-DD; empty where that is this machine."""
        return str(self.value("SELECT CAST(now() AT TIME ZONE 'UTC' AS date)")) if self.on_server else ""


def _bytes(statement: object) -> bytes:
    try:
        return bytes.fromhex(str(statement))
    except ValueError:
        return b""


_TABLES = (
    # A chain cannot fork, whatever the isolation: no two records follow the same one.
    """CREATE TABLE @records (
        number INTEGER NOT NULL,
        previous VARCHAR(64) NOT NULL,
        body TEXT NOT NULL,
        hash VARCHAR(64) NOT NULL,
        role VARCHAR(64) NOT NULL,
        PRIMARY KEY (number),
        UNIQUE (previous)
    )""",
    'CREATE TABLE @keys (entry INTEGER NOT NULL, "key" VARCHAR(64) NOT NULL, PRIMARY KEY (entry))',
    "CREATE TABLE @secrets (name VARCHAR(64) NOT NULL, value VARCHAR(64), PRIMARY KEY (name))",
    "CREATE TABLE @identities (digest VARCHAR(64) NOT NULL, body TEXT NOT NULL, PRIMARY KEY (digest))",
)

_COLUMNS = {
    "records": ("number", "previous", "body", "hash", "role"),
    "keys": ("entry", '"key"'),
    "secrets": ("name", "value"),
    "identities": ("digest", "body"),
}


def copy_rows(source: Transaction, target: Transaction) -> None:
    """Copy every row of a ledger as it is into new tables, records in order, before any trigger is made there."""
    for table, columns in _COLUMNS.items():
        names, places = ", ".join(columns), ", ".join("?" * len(columns))
        for row in source.execute(f"SELECT {names} FROM @{table} ORDER BY {columns[0]}"):
            target.execute(f"INSERT INTO @{table} ({names}) VALUES ({places})", row)


def create_tables(transaction: Transaction) -> None:
    """Make the tables of a new ledger, inside the caller's transaction."""
    if transaction.on_server:
        transaction.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        transaction.execute(TURN)
    for statement in _TABLES:
        transaction.execute(statement)


def create_triggers(transaction: Transaction) -> None:
    """Make the triggers that refuse whatever is not appended, inside the caller's transaction."""
    for statement in postgresql_triggers() if transaction.on_server else _sqlite_triggers():
        transaction.execute(statement)


def _sqlite_triggers() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END"
    return [
        *(
            f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} {refuse}"
            for table, verbs in REFUSED.items()
            for verb in verbs
        ),
        # INSERT OR REPLACE deletes without firing a delete trigger, so the number of a new record is checked as well.
        "CREATE TRIGGER records_INSERT BEFORE INSERT ON records "
        f"WHEN NEW.number <> (SELECT COALESCE(MAX(number), 0) + 1 FROM records) {refuse}",
    ]
