"""Reading and appending records; whatever the database refuses becomes one sentence."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from crowdblend.errors import DoesNotVerify, InvalidInput, Refused
from crowdblend.ledger import chain, sqlite_file, steps
from crowdblend.ledger.chain import FORMAT, Record
from crowdblend.ledger.connection import Connection, Database, Row, places, scalar
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.history import replay
from crowdblend.ledger.location import Location
from crowdblend.ledger.migrations import LATEST, migrate_tables, version
from crowdblend.ledger.secrets import commitment, matches, new_secret
from crowdblend.ledger.summary import NAME as SUMMARY
from crowdblend.ledger.summary import Summary
from crowdblend.ledger.tables import SCHEMA

_SECRET = "sketches"
_BATCH = 10_000
_RECORD = "number, previous, body, hash"
_MISSING = ("ledger.missing", "has no crowdblend ledger. Make one with crowdblend ledger init, or name another")


class Store:
    """The tables of one ledger. A transaction either reads, or excludes every other writer from its first moment."""

    def __init__(self, location: Location, database: Database) -> None:
        self.location = location
        self._database = database

    @classmethod
    def open(cls, location: Location, *, make: bool, protect: bool = True) -> Store:
        """The store at this location, made when it is missing and `make` allows it."""
        if location.path is not None:
            sqlite_file.check_file(location.path, make=_fill if make else None, protect=protect)
            return cls(location, sqlite_file.SqliteFile(location.path))._checked(make=False)
        return cls(location, server(location))._checked(make=make)

    @classmethod
    def create(cls, location: Location) -> Store:
        """A new store; refuses a location that has one."""
        if location.path is not None:
            if os.path.lexists(location.path):
                raise InvalidInput(
                    f"there is something at {location.path} already. Name a new file.",
                    where="ledger",
                    code="ledger.exists",
                )
            return cls.open(location, make=True)
        return cls(location, server(location))._checked(make=True, new=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the ledger."""
        with self._in_words(), self._database.transaction(writing=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer can overlap; it is durable when the block has ended.

        A ledger of an earlier format comes to the present one here, as part of the transaction.
        """
        with self._alone() as connection:
            since = version(connection)
            if since < LATEST:
                self._upgrade_or_refuse(connection, since)
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        with self._in_words(), self._database.transaction(writing=True) as connection:
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what the database refuses into one sentence that shows no statement and no value."""
        try:
            yield
        except Exception as problem:
            refusal = self._database.refusal(problem, self.location.words())
            if refusal is None:
                raise
            raise refusal from None

    def _upgrade_or_refuse(self, connection: Connection, since: int) -> None:
        try:
            _upgrade(connection, since)
        except Exception as problem:
            if not self._database.lacks_right(problem):
                raise
            raise Refused(
                f"the ledger has the format {since}, and your role may not bring it to the format {LATEST}.",
                remedy="Its owner runs crowdblend ledger upgrade, and then crowdblend ledger roles --apply.",
                where="ledger",
                code="ledger.no-right",
            ) from None

    def _checked(self, *, make: bool, new: bool = False) -> Store:
        with self._alone() if make else self.reading() as connection:
            exists = connection.has_table("about")
            if new and exists:
                raise InvalidInput(
                    f"{self.location.words()} has a ledger already. Name another database.",
                    where="ledger",
                    code="ledger.exists",
                )
            if not exists:
                if not make:
                    code, reason = sqlite_file.DAMAGED if self.location.path is not None else _MISSING
                    raise InvalidInput(f"the ledger {self.location.words()} {reason}.", where="ledger", code=code)
                _upgrade(connection, 0)
                return self
            version(connection)
        return self


def records(connection: Connection) -> list[Record]:
    """Every record, in order."""
    return [Record(*row) for row in connection.execute(f"SELECT {_RECORD} FROM @records ORDER BY number")]


def stream(connection: Connection) -> Generator[Record, None, None]:
    """Every record, in order."""
    with closing(connection.stream(f"SELECT {_RECORD} FROM @records ORDER BY number", steps.BATCH)) as rows:
        yield from map(Record._make, rows)


def last_records(connection: Connection, first: int) -> Iterator[Record]:
    """The records from this number on."""
    found = connection.execute(f"SELECT {_RECORD} FROM @records WHERE number >= ? ORDER BY number", [first])
    for row in found:
        yield Record(*row)


def last_record(connection: Connection) -> Record | None:
    """The last record alone."""
    row = connection.execute(f"SELECT {_RECORD} FROM @records ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else Record(*row)


def hash_of(connection: Connection, number: int) -> str | None:
    """The hash of one record; None where there is no such record."""
    found: str | None = scalar(connection.execute("SELECT hash FROM @records WHERE number = ?", [number]))
    return found


def derived(connection: Connection, name: str) -> str | None:
    """What is kept under this name of that which follows from the records."""
    if version(connection) < 3:
        return None
    found: str | None = scalar(connection.execute("SELECT body FROM @derived WHERE name = ?", [name]))
    return found


def keep_derived(connection: Connection, name: str, body: str) -> None:
    """Keep under this name what follows from the records, instead of what was kept before."""
    if connection.execute("UPDATE @derived SET body = ? WHERE name = ?", [body, name]).rowcount == 0:
        connection.execute("INSERT INTO @derived (body, name) VALUES (?, ?)", [body, name])


def append(
    connection: Connection, last: Record | None, summary: Summary, content: dict[str, Any], entry: Entry | None = None
) -> Record:
    """Append a record that may follow, with the seal of the summary after it, and keep that summary.

    `entry` is the release as the record leaves it, where it is a step of one.
    """
    summary.follow(content, entry)
    made = chain.append(last, {**content, "summary": summary.seal()})
    connection.execute(f"INSERT INTO @records ({_RECORD}) VALUES {places(4)}", made)
    steps.add(connection, steps.rows_of(made.number, content))
    keep_derived(connection, SUMMARY, summary.to_json())
    return made


def keep_key(connection: Connection, entry: int, key: bytes) -> None:
    """Keep the key of an entry, apart from the records."""
    connection.execute('INSERT INTO @keys (entry, "key") VALUES (?, ?)', [entry, key.hex()])


def delete_key(connection: Connection, entry: int) -> None:
    """Forget the key of an entry."""
    connection.execute("DELETE FROM @keys WHERE entry = ?", [entry])


def keys(connection: Connection) -> dict[int, bytes]:
    """Every key that is kept, by entry; one that is no hexadecimal number is empty."""
    return {entry: _bytes(key) for entry, key in connection.execute('SELECT entry, "key" FROM @keys')}


def keep_identity(connection: Connection, entry: int, body: str) -> None:
    """Keep by what the source of an entry is known again, apart from the records."""
    connection.execute("INSERT INTO @identities (entry, body) VALUES (?, ?)", [entry, body])


def identities(connection: Connection, entries: Collection[int]) -> dict[int, str]:
    """By what the sources of some entries are known again, by entry."""
    if version(connection) == 1:
        return {}
    some = f"SELECT entry, body FROM @identities WHERE entry IN {places(len(entries))}"
    return {entry: body for entry, body in connection.execute(some, [*entries])}  # noqa: C416 - rows are no pairs


def stream_identities(connection: Connection) -> Generator[Row, None, None]:
    """By what every source is known again, by entry and one at a time."""
    if version(connection) == 1:
        return
    with closing(connection.stream("SELECT entry, body FROM @identities ORDER BY entry", 16)) as rows:
        yield from rows


def server_day(connection: Connection | None) -> str:
    """The day in UTC on the machine of the database, as YYYY-MM-DD; empty where that is this machine."""
    if connection is None or not connection.on_server:
        return ""
    return str(scalar(connection.execute("SELECT CAST(now() AT TIME ZONE 'UTC' AS date)")))


def may_read_secrets(connection: Connection) -> bool:
    """Whether keys and the ledger's secret can be read: a reader of a ledger in PostgreSQL has no such right."""
    if not connection.on_server:
        return True
    return bool(scalar(connection.execute(f"SELECT has_table_privilege('{SCHEMA}.keys', 'SELECT')")))


def secret(connection: Connection, stated_commitment: str | None) -> bytes:
    """The ledger's secret; raises DoesNotVerify when it is not the one that the records committed to."""
    found = _bytes(scalar(connection.execute("SELECT value FROM @secrets WHERE name = ?", [_SECRET])))
    if not matches(found, stated_commitment or ""):
        raise DoesNotVerify(
            "the secret of the ledger was changed or deleted. Restore the ledger from a backup.",
            where="ledger",
            code="does-not-verify",
        )
    return found


def _bytes(stated: Any) -> bytes:
    try:
        return bytes.fromhex(stated)
    except (TypeError, ValueError):
        return b""


def _fill(path: Path) -> None:
    with Store(Location(path=path), sqlite_file.SqliteFile(path))._alone() as connection:
        _upgrade(connection, 0)


def _upgrade(connection: Connection, since: int) -> None:
    """Bring tables and chain to the present format; the second one brought a secret and commitments to keys."""
    written = [] if since == 0 else records(connection)
    history = replay(content for _, content in chain.contents(written))
    migrate_tables(connection, since)
    content: dict[str, Any] = {"step": "format", "format": FORMAT}
    if since < 2:
        made = new_secret()
        connection.execute("INSERT INTO @secrets (name, value) VALUES (?, ?)", [_SECRET, made.hex()])
        known = {str(entry): commitment(key) for entry, key in keys(connection).items() if entry in history.entries}
        content |= {"secret": commitment(made), "keys": known}
        history.summary.secret = content["secret"]
    # What is earlier is found through the new table too.
    rows = (row for one in written for row in steps.rows_of(one.number, chain.last_content(one)))
    while some := list(islice(rows, _BATCH)):
        steps.add(connection, some)
    append(connection, written[-1] if written else None, history.summary, content)


def server(location: Location) -> Database:
    """The PostgreSQL database at a location."""
    try:
        from crowdblend.ledger.postgresql import PostgresqlServer  # noqa: PLC0415 - SQLAlchemy is heavy
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"a ledger in PostgreSQL needs the package {missing.name}. Install it.",
            where="ledger",
            code="system.package",
        ) from None
    return PostgresqlServer(location)
