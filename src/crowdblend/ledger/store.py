"""Reading and appending records through SQLAlchemy; whatever the database refuses becomes one sentence."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from crowdblend.errors import InvalidInput
from crowdblend.ledger.chain import FORMAT, Record
from crowdblend.ledger.location import Location
from crowdblend.ledger.tables import ABOUT, KEYS, RECORDS, SCHEMA, create

PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

_ADVISORY_LOCK = 7021800464  # any constant: all writers of one database take the same lock

_REASONS = {
    "SQLITE_BUSY": "free within {patience:g} seconds, and another process holds it. Wait for it and try again",
    "SQLITE_READONLY": "writable, and it is not. Change its permissions or name another",
    "SQLITE_CANTOPEN": "a file that can be opened, with a writable folder, and it is not. Change its permissions",
    "SQLITE_PERM": "readable, and it is not. Change its permissions",
    "SQLITE_AUTH": "readable, and it is not. Change its permissions",
    "SQLITE_FULL": "on a disk with room, and the disk is full. Make room and try again",
    "SQLITE_IOERR": "on a disk that can be read and written, and it fails. Check the disk and its room",
}
_DAMAGED = "an undamaged crowdblend ledger, and it is not. Restore it from a backup or name another"
_MISSING = "a database with a crowdblend ledger, and it has none. Make a release first or name another"
_UNREACHABLE = "a database that answers and allows this, and it does not. Check the address and your rights"


class Store:
    """The tables of one ledger. A transaction either reads, or excludes every other writer from its first moment."""

    def __init__(self, location: Location, engine: Engine) -> None:
        self.location = location
        self._engine = engine

    @classmethod
    def open(cls, location: Location, *, make: bool) -> Store:
        """The store at this location, made when it is missing and `make` allows it."""
        if location.path is not None:
            _prepare_file(location.path, make=make)
            return cls(location, _sqlite(location.path))._checked(make=False)
        return cls(location, _postgresql(location))._checked(make=make)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the ledger."""
        with _in_words(self.location), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer can overlap; it is durable when the block has ended."""
        options = {"crowdblend_writing": True}
        with (
            _in_words(self.location),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def _checked(self, *, make: bool) -> Store:
        with self.writing() if make else self.reading() as connection:
            if not inspect(connection).has_table(ABOUT.name, schema=_schema(connection)):
                if not make:
                    reason = _DAMAGED if self.location.path is not None else _MISSING
                    raise InvalidInput(f"the ledger {self.location.words()} must be {reason}.")
                create(connection, FORMAT)
            found = connection.execute(select(ABOUT.c.format)).scalars().all()
        if found != [FORMAT]:
            given = ", ".join(map(repr, found)) or "none"
            raise InvalidInput(
                f"the ledger's format must be {FORMAT!r}, got {given}. Use the crowdblend that wrote it."
            )
        return self


def records(connection: Connection) -> list[Record]:
    """Every record, in order."""
    return [Record(*row) for row in connection.execute(select(RECORDS).order_by(RECORDS.c.number))]


def write(connection: Connection, record: Record) -> None:
    """Append a record."""
    connection.execute(RECORDS.insert().values(**vars(record)))


def seal(connection: Connection, entry: int, key: bytes) -> None:
    """Keep the key of an entry, apart from the records."""
    connection.execute(KEYS.insert().values(entry=entry, key=key.hex()))


def unseal(connection: Connection, entry: int) -> bytes | None:
    """The key that was sealed for an entry, if it is still there."""
    found = connection.execute(select(KEYS.c.key).where(KEYS.c.entry == entry)).scalar()
    return bytes.fromhex(found) if found else None


def _schema(connection: Connection) -> str | None:
    return SCHEMA if connection.dialect.name == "postgresql" else None


def _sqlite(path: Path) -> Engine:
    address = f"{path.absolute().as_uri()}?mode=rw"  # never made by opening it, so a wrong path is no empty ledger

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        # EXTRA also syncs the folder: a commit that was reported survives a power cut.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("crowdblend_writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _postgresql(location: Location) -> Engine:
    scheme, _, rest = str(location.url).partition("://")
    driver = scheme.partition("+")[2] or "psycopg"
    try:
        made = create_engine(f"postgresql+{driver}://{rest}", poolclass=NullPool, hide_parameters=True)
    except (ImportError, NoSuchModuleError):
        raise InvalidInput(
            f"a ledger in PostgreSQL needs the package {driver}, and it is missing. Install it."
        ) from None
    except (SQLAlchemyError, ValueError):
        raise InvalidInput(f"the ledger must be a PostgreSQL URL, got {location.words()}. Correct it.") from None
    engine = made.execution_options(schema_translate_map={None: SCHEMA})

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("crowdblend_writing"):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")

    return engine


def _prepare_file(path: Path, *, make: bool) -> None:
    """A file that only its owner can read, whole from its first moment."""
    try:
        if path.is_dir():
            raise InvalidInput(f"the ledger must be a file, got the folder {path}. Name a file in it.")
        if not path.exists():
            if not make:
                raise InvalidInput(f"the ledger must exist, got {path}. Correct the path, or make a release first.")
            _make_file(path)
        elif make and path.stat().st_mode & 0o077:
            with suppress(PermissionError):  # somebody else's file is theirs to protect
                path.chmod(0o600)
    except OSError as problem:
        raise InvalidInput(
            f"the ledger must be in a folder that can be written, got {path}: {problem.strerror}. Name another."
        ) from None


def _make_file(path: Path) -> None:
    """Build the tables under another name and link them into place, so that nobody sees half a ledger."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)  # mode 600
    os.close(handle)
    building = Path(name)
    try:
        location = Location(path=building)
        with Store(location, _sqlite(building)).writing() as connection:
            create(connection, FORMAT)
        building.chmod(0o600)
        try:
            os.link(building, path)
        except FileExistsError:  # another process was quicker, and its ledger is as good
            return
        _sync_folder(path.parent)
    finally:
        building.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _in_words(location: Location) -> Iterator[None]:
    """Turn what the database refuses into one sentence that shows no statement and no value."""
    try:
        yield
    except SQLAlchemyError as problem:
        origin: Any = problem.orig if isinstance(problem, DBAPIError) else None
        name = str(getattr(origin, "sqlite_errorname", ""))
        known = next((reason for prefix, reason in _REASONS.items() if name.startswith(prefix)), None)
        reason = known or (_DAMAGED if location.path is not None else _UNREACHABLE)
        raise InvalidInput(f"the ledger {location.words()} must be {reason.format(patience=PATIENCE)}.") from None
