"""Reading and appending records through SQLAlchemy; whatever the database refuses becomes one sentence."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from crowdblend.errors import DoesNotVerify, InvalidInput, Refused
from crowdblend.ledger import chain, sqlite_file, steps
from crowdblend.ledger.chain import FORMAT, Record
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.history import replay
from crowdblend.ledger.location import Location
from crowdblend.ledger.migrations import LATEST, migrate_tables, version
from crowdblend.ledger.secrets import commitment, matches, new_secret
from crowdblend.ledger.summary import NAME as SUMMARY
from crowdblend.ledger.summary import Summary
from crowdblend.ledger.tables import ABOUT, DERIVED, IDENTITIES, KEYS, RECORDS, SCHEMA, SECRETS

_ADVISORY_LOCK = 7021800464  # any constant: all writers of one database take the same lock
_SECRET = "sketches"
_BATCH = 10_000
_NO_RIGHT = "42501"  # PostgreSQL: insufficient_privilege

_REASONS = {
    "SQLITE_BUSY": ("ledger.busy", "is held by another process for {patience:g} seconds. Wait for it and try again"),
    "SQLITE_READONLY": ("ledger.not-writable", "cannot be written. Change its permissions or name another"),
    "SQLITE_CANTOPEN": (
        "ledger.not-writable",
        "cannot be opened, or its folder cannot be written. Change its permissions",
    ),
    "SQLITE_PERM": ("ledger.not-readable", "cannot be read. Change its permissions"),
    "SQLITE_AUTH": ("ledger.not-readable", "cannot be read. Change its permissions"),
    "SQLITE_FULL": ("ledger.disk-full", "is on a disk that is full. Make room and try again"),
    "SQLITE_IOERR": ("ledger.disk", "is on a disk that cannot be read or written. Check the disk and its room"),
}
_DAMAGED = ("ledger.damaged", "is damaged, or is no crowdblend ledger. Restore it from a backup or name another")
_MISSING = ("ledger.missing", "has no crowdblend ledger. Make one with crowdblend ledger init, or name another")
_UNREACHABLE = ("ledger.unreachable", "does not answer or does not allow this. Check the address and your rights")


class Store:
    """The tables of one ledger. A transaction either reads, or excludes every other writer from its first moment."""

    def __init__(self, location: Location, engine: Engine) -> None:
        self.location = location
        self._engine = engine

    @classmethod
    def open(cls, location: Location, *, make: bool, protect: bool = True) -> Store:
        """The store at this location, made when it is missing and `make` allows it."""
        if location.path is not None:
            sqlite_file.check_file(location.path, make=_fill if make else None, protect=protect)
            return cls(location, sqlite_file.sqlite_engine(location.path))._checked(make=False)
        return cls(location, _postgresql(location))._checked(make=make)

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
        return cls(location, _postgresql(location))._checked(make=True, new=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the ledger."""
        with _in_words(self.location), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer can overlap; it is durable when the block has ended.

        A ledger of an earlier format comes to the present one here, as part of the transaction.
        """
        with self._alone() as connection:
            since = version(connection)
            if since < LATEST:
                _upgrade_or_refuse(connection, since)
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        options = {"crowdblend_writing": True}
        with (
            _in_words(self.location),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def _checked(self, *, make: bool, new: bool = False) -> Store:
        with self._alone() if make else self.reading() as connection:
            exists = inspect(connection).has_table(ABOUT.name, schema=_schema(connection))
            if new and exists:
                raise InvalidInput(
                    f"{self.location.words()} has a ledger already. Name another database.",
                    where="ledger",
                    code="ledger.exists",
                )
            if not exists:
                if not make:
                    code, reason = _DAMAGED if self.location.path is not None else _MISSING
                    raise InvalidInput(f"the ledger {self.location.words()} {reason}.", where="ledger", code=code)
                _upgrade(connection, 0)
                return self
            version(connection)
        return self


def records(connection: Connection) -> list[Record]:
    """Every record, in order."""
    return [Record(*row) for row in connection.execute(select(RECORDS).order_by(RECORDS.c.number))]


def stream(connection: Connection) -> Iterator[Record]:
    """Every record, in order."""
    every = select(RECORDS).order_by(RECORDS.c.number)
    with closing(steps.stream_rows(connection, every)) as rows:
        yield from map(Record._make, rows)


def last_records(connection: Connection, first: int) -> Iterator[Record]:
    """The records from this number on."""
    for row in connection.execute(select(RECORDS).where(RECORDS.c.number >= first).order_by(RECORDS.c.number)):
        yield Record(*row)


def last_record(connection: Connection) -> Record | None:
    """The last record alone."""
    row = connection.execute(select(RECORDS).order_by(RECORDS.c.number.desc()).limit(1)).first()
    return None if row is None else Record(*row)


def hash_of(connection: Connection, number: int) -> str | None:
    """The hash of one record; None where there is no such record."""
    found: str | None = connection.execute(select(RECORDS.c.hash).where(RECORDS.c.number == number)).scalar()
    return found


def derived(connection: Connection, name: str) -> str | None:
    """What is kept under this name of that which follows from the records."""
    if version(connection) < 3:
        return None
    found: str | None = connection.execute(select(DERIVED.c.body).where(DERIVED.c.name == name)).scalar()
    return found


def keep_derived(connection: Connection, name: str, body: str) -> None:
    """Keep under this name what follows from the records, instead of what was kept before."""
    if connection.execute(DERIVED.update().where(DERIVED.c.name == name).values(body=body)).rowcount == 0:
        connection.execute(DERIVED.insert().values(name=name, body=body))


def append(
    connection: Connection, last: Record | None, summary: Summary, content: dict[str, Any], entry: Entry | None = None
) -> Record:
    """Append a record that may follow, with the seal of the summary after it, and keep that summary.

    `entry` is the release as the record leaves it, where it is a step of one.
    """
    summary.follow(content, entry)
    made = chain.append(last, {**content, "summary": summary.seal()})
    connection.execute(RECORDS.insert().values(**made._asdict()))
    steps.add(connection, steps.rows_of(made.number, content))
    keep_derived(connection, SUMMARY, summary.to_json())
    return made


def keep_key(connection: Connection, entry: int, key: bytes) -> None:
    """Keep the key of an entry, apart from the records."""
    connection.execute(KEYS.insert().values(entry=entry, key=key.hex()))


def delete_key(connection: Connection, entry: int) -> None:
    """Forget the key of an entry."""
    connection.execute(KEYS.delete().where(KEYS.c.entry == entry))


def keys(connection: Connection) -> dict[int, bytes]:
    """Every key that is kept, by entry; one that is no hexadecimal number is empty."""
    return {entry: _bytes(key) for entry, key in connection.execute(select(KEYS))}


def keep_identity(connection: Connection, entry: int, body: str) -> None:
    """Keep by what the source of an entry is known again, apart from the records."""
    connection.execute(IDENTITIES.insert().values(entry=entry, body=body))


def identities(connection: Connection, entries: Collection[int]) -> dict[int, str]:
    """By what the sources of some entries are known again, by entry."""
    if version(connection) == 1:
        return {}
    some = select(IDENTITIES).where(IDENTITIES.c.entry.in_(entries))
    return {entry: body for entry, body in connection.execute(some)}  # noqa: C416 - rows are no pairs


def stream_identities(connection: Connection) -> Iterator[tuple[int, str]]:
    """By what every source is known again, by entry and one at a time."""
    if version(connection) == 1:
        return
    every = select(IDENTITIES).order_by(IDENTITIES.c.entry)
    with connection.execute(every, execution_options={"yield_per": 16}) as rows:
        for row in rows:
            yield row.entry, row.body


def server_day(connection: Connection | None) -> str:
    """The day in UTC on the machine of the database, as YYYY-MM-DD; empty where that is this machine."""
    if connection is None or connection.dialect.name != "postgresql":
        return ""
    return str(connection.exec_driver_sql("SELECT (now() AT TIME ZONE 'UTC')::date").scalar())


def may_read_secrets(connection: Connection) -> bool:
    """Whether keys and the ledger's secret can be read: a reader of a ledger in PostgreSQL has no such right."""
    if connection.dialect.name != "postgresql":
        return True
    return bool(connection.exec_driver_sql(f"SELECT has_table_privilege('{SCHEMA}.keys', 'SELECT')").scalar())


def secret(connection: Connection, stated_commitment: str | None) -> bytes:
    """The ledger's secret; raises DoesNotVerify when it is not the one that the records committed to."""
    stated = connection.execute(select(SECRETS.c.value).where(SECRETS.c.name == _SECRET)).scalar()
    found = _bytes(stated)
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
    with Store(Location(path=path), sqlite_file.sqlite_engine(path))._alone() as connection:
        _upgrade(connection, 0)


def _upgrade_or_refuse(connection: Connection, since: int) -> None:
    try:
        _upgrade(connection, since)
    except DBAPIError as problem:
        if getattr(problem.orig, "sqlstate", None) != _NO_RIGHT:
            raise
        raise Refused(
            f"the ledger has the format {since}, and your role may not bring it to the format {LATEST}.",
            remedy="Its owner runs crowdblend ledger upgrade, and then crowdblend ledger roles --apply.",
            where="ledger",
            code="ledger.no-right",
        ) from None


def _upgrade(connection: Connection, since: int) -> None:
    """Bring tables and chain to the present format; the second one brought a secret and commitments to keys."""
    written = [] if since == 0 else records(connection)
    history = replay(content for _, content in chain.contents(written))
    migrate_tables(connection, since)
    content: dict[str, Any] = {"step": "format", "format": FORMAT}
    if since < 2:
        made = new_secret()
        connection.execute(SECRETS.insert().values(name=_SECRET, value=made.hex()))
        known = {str(entry): commitment(key) for entry, key in keys(connection).items() if entry in history.entries}
        content |= {"secret": commitment(made), "keys": known}
        history.summary.secret = content["secret"]
    # What is earlier is found through the new table too.
    rows = (row for one in written for row in steps.rows_of(one.number, chain.last_content(one)))
    while some := list(islice(rows, _BATCH)):
        steps.add(connection, some)
    append(connection, written[-1] if written else None, history.summary, content)


def _schema(connection: Connection) -> str | None:
    return SCHEMA if connection.dialect.name == "postgresql" else None


def _postgresql(location: Location) -> Engine:
    scheme, _, rest = str(location.url).partition("://")
    driver = scheme.partition("+")[2] or "psycopg"
    try:
        made = create_engine(f"postgresql+{driver}://{rest}", poolclass=NullPool, hide_parameters=True)
    except (ImportError, NoSuchModuleError):
        raise InvalidInput(
            f"a ledger in PostgreSQL needs the package {driver}. Install it.", where="ledger", code="system.package"
        ) from None
    except (SQLAlchemyError, ValueError):
        raise InvalidInput(
            f"{location.words()} is no PostgreSQL URL. Correct it.", where="ledger", code="ledger-location"
        ) from None
    engine = made.execution_options(schema_translate_map={None: SCHEMA})

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("crowdblend_writing"):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        else:  # one state for all that is read: by default every statement sees a newer one
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")

    return engine


@contextmanager
def _in_words(location: Location) -> Iterator[None]:
    """Turn what the database refuses into one sentence that shows no statement and no value."""
    try:
        yield
    except SQLAlchemyError as problem:
        origin: Any = problem.orig if isinstance(problem, DBAPIError) else None
        name = str(getattr(origin, "sqlite_errorname", ""))
        if getattr(origin, "sqlstate", None) == _NO_RIGHT:
            raise Refused(
                f"your role may not do this in the ledger {location.words()}.",
                remedy="Ask its owner, who gives roles their rights with crowdblend ledger roles --apply.",
                where="ledger",
                code="ledger.no-right",
            ) from None
        known = next((known for prefix, known in _REASONS.items() if name.startswith(prefix)), None)
        code, reason = known or (_DAMAGED if location.path is not None else _UNREACHABLE)
        patience = sqlite_file.PATIENCE
        raise InvalidInput(
            f"the ledger {location.words()} {reason.format(patience=patience)}.", where="ledger", code=code
        ) from None
