"""Where a ledger is, in the user's SQLite file, another file or a PostgreSQL database, and transactions on it.

The database's errors are one sentence. A file is readable by its owner alone, durable, and whole from its first moment.
"""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, NotReachable
from crowdblend.ledger.chain import FORMAT, KEY_BYTES, commitment, next_record
from crowdblend.ledger.database import Transaction, create_tables, create_triggers
from crowdblend.ledger.kept_heads import KeptHeads, refuse_left
from crowdblend.ledger.server import check_address, transaction_on_server
from crowdblend.ledger.steps import CreatedRecord, to_body
from crowdblend.trusted.machine.system import close_to_others, data_folder, flush

VARIABLE = "CROWDBLEND_LEDGER"
_POSTGRES = re.compile(r"(postgres|postgresql)://")
_SQLITE = re.compile(r"(?i)sqlite:///")
_PASSWORD = re.compile(r"://([^/@]*?):[^/]*@")
_PASSWORD_OPTION = re.compile(r"(?i)([?&]password=)[^&]*")


@dataclass(frozen=True)
class Location:
    """A file or a database; `named` says that someone asked for this one, so that it should be there."""

    path: Path | None = None
    url: str | None = None
    named: bool = True

    @property
    def is_missing(self) -> bool:
        """True if this is a file that does not exist."""
        return self.path is not None and not os.path.lexists(self.path)

    def words(self) -> str:
        """Return the location for a message, without a password."""
        if self.url is not None:
            return _PASSWORD_OPTION.sub(r"\1…", _PASSWORD.sub(r"://\1:…@", self.url))
        return str(self.path)


def locate(where: str | os.PathLike[str] | None = None) -> Location:
    """Return the ledger that was asked for, else the one that CROWDBLEND_LEDGER names, else the user's own.

    A password in a URL is refused: libpq reads PGPASSWORD and ~/.pgpass, and PGSSLMODE and PGSSLROOTCERT for TLS.

    >>> locate("postgresql://steward@db/office").words()
    'postgresql://steward@db/office'
    """
    named = _text(where) if where is not None else os.environ.get(VARIABLE, "")
    if not named.strip():
        if where is not None:
            raise InvalidInput(
                "The name of the ledger is blank. Name it or leave it out.", where="ledger", code="ledger-location"
            )
        return Location(path=_data_folder() / "crowdblend" / "ledger.sqlite", named=False)
    if "\0" in named:
        raise InvalidInput(
            "The name of the ledger has a zero byte. Correct it.", where="ledger", code="ledger-location"
        )
    if _POSTGRES.match(named):
        location = Location(url=named)
        if location.words() != named:
            message = f"{location.words()} has a password, which lists of processes and histories of shells show."
            remedy = "Leave it out, and put it into PGPASSWORD or ~/.pgpass."
            raise InvalidInput(message, remedy=remedy, where="ledger", code="ledger.password")
        return location
    name = _SQLITE.sub("", named, count=1)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        scheme = name.partition("://")[0]
        message = f"A ledger cannot be kept at {scheme}://. Name a file, sqlite:/// or postgresql://."
        raise InvalidInput(message, where="ledger", code="ledger-location")
    try:
        return Location(path=Path(name).expanduser())
    except RuntimeError:
        message = f"The home folder in {name} does not exist. Name the ledger in full."
        raise InvalidInput(message, where="ledger", code="ledger-location") from None


def _text(where: object) -> str:
    """Return a path or URL as text."""
    named = os.fspath(where) if isinstance(where, os.PathLike) else where
    if not isinstance(named, str):
        message = f"The ledger is named by a value of type {type(where).__name__}."
        raise InvalidInput(message, remedy="Pass a path or a URL as text.", where="ledger", code="ledger-location")
    return named


def _data_folder() -> Path:
    try:
        return data_folder()
    except RuntimeError:
        raise InvalidInput(
            f"This user has no home folder for the ledger. Set {VARIABLE}.", where=VARIABLE, code="ledger-location"
        ) from None


PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""
_REASONS = {
    "SQLITE_BUSY": ("busy", "is held by another process for {patience:g} seconds. Wait for it and try again"),
    "SQLITE_READONLY": ("not-writable", "cannot be written. Change its permissions or name another"),
    "SQLITE_CANTOPEN": ("not-writable", "cannot be opened, or its folder cannot be written. Change its permissions"),
    "SQLITE_PERM": ("not-readable", "cannot be read. Change its permissions"),
    "SQLITE_AUTH": ("not-readable", "cannot be read. Change its permissions"),
    "SQLITE_FULL": ("disk-full", "is on a disk that is full. Make room and try again"),
    "SQLITE_IOERR": ("disk", "is on a disk that cannot be read or written. Check the disk and its room"),
}
_DAMAGED = ("damaged", "is damaged, or is no crowdblend ledger. Restore it from a backup or name another")
_MISSING = ("missing", "has no crowdblend ledger. Make one with crowdblend ledger init, or name another")


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """The database of one ledger. A transaction either reads, or excludes every other writer from its first moment."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.first_hash = ""
        """The hash of the ledger's first record, which no other ledger has; empty until the store was opened."""
        if location.url is None:
            return
        check_address(location.url)

    @classmethod
    def open(cls, location: Location, *, make: bool = False) -> Store:
        """Return the store at a location; a missing file is made where `make` allows it."""
        if location.path is not None:
            _prepare_file(location.path, make=make)
        store = cls(location)
        with store.transaction(writing=False) as transaction:
            if not transaction.has_ledger():
                raise _refusal(location, *(_MISSING if location.path is None else _DAMAGED))
            store.first_hash = transaction.hash_of(1) or ""
        return store

    @classmethod
    def create(cls, location: Location, fill: Callable[[Transaction], None] | None = None) -> Store:
        """Return a new store; refuses a location that has one. `fill` makes its tables, by default those of no release.

        Nothing is left where it raises.
        """
        fill = fill or _fill
        if location.path is not None:
            if location.is_missing:
                refuse_left(KeptHeads.beside(location.path))
            if not location.is_missing or not _make_file(location.path, fill):
                message = f"There is something at {location.path} already. Name a new file."
                raise InvalidInput(message, where="ledger", code="ledger.exists")
            return cls.open(location)
        store = cls(location)
        with store.transaction(writing=True) as transaction:
            refuse_ledger(transaction, location)
            fill(transaction)
        return store

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Transaction]:
        """Begin a transaction that sees one state, or that no other writer overlaps; then it is durable at its end."""
        try:
            with self._begin(writing=writing) as transaction:
                yield transaction
        except sqlite3.Error as problem:
            name = str(getattr(problem, "sqlite_errorname", ""))
            code, reason = next((known for prefix, known in _REASONS.items() if name.startswith(prefix)), _DAMAGED)
            raise _refusal(self.location, code, reason.format(patience=PATIENCE)) from None

    def _begin(self, *, writing: bool) -> AbstractContextManager[Transaction]:
        path, words = self.location.path, self.location.words()
        if path is not None:
            return _of_file(path, writing)
        return transaction_on_server(str(self.location.url), words, writing=writing, patience=PATIENCE)


@contextmanager
def _of_file(path: Path, writing: bool) -> Iterator[Transaction]:
    """Begin a transaction on an existing file, which syncs what it commits and overwrites what it deletes."""
    # Never made by opening it, so a wrong path is no empty ledger.
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
        # EXTRA also syncs the folder: a commit that was reported survives a power cut.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        try:
            yield Transaction(connection, on_server=False)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                with suppress(sqlite3.Error):  # the first failure is reported
                    connection.execute("ROLLBACK")


# What another try may meet differently, and what a scheduler waits for room with.
_KINDS = {"busy": NotReachable, "disk-full": NoRoom, "disk": NoRoom}


def _refusal(location: Location, code: str, reason: str) -> CrowdblendError:
    return _KINDS.get(code, InvalidInput)(
        f"The ledger {location.words()} {reason}.", where="ledger", code=f"ledger.{code}"
    )


def refuse_ledger(transaction: Transaction, location: Location) -> None:
    """Refuse a database that has a ledger, where a new one is to be made."""
    if transaction.has_ledger():
        message = f"{location.words()} has a ledger already. Name another database."
        raise InvalidInput(message, where="ledger", code="ledger.exists")


def _prepare_file(path: Path, *, make: bool) -> None:
    """Refuse a path without a ledger, or make one there; close an existing one to others."""
    try:
        if path.is_dir():
            message = f"The ledger is a file, and {path} is a folder. Name a file in it."
            raise InvalidInput(message, where="ledger", code="ledger.folder")
        if not path.exists():
            if not make:
                raise InvalidInput(
                    f"There is no ledger at {path}. Correct the path, or make a new one: crowdblend ledger init {path}",
                    where="ledger",
                    code="ledger.missing",
                )
            _make_file(path, _fill)
        elif not path.is_file():
            raise InvalidInput(f"{path} is not a regular file. Name another.", where="ledger", code="ledger.folder")
        else:
            close_to_others(path)
    except OSError as problem:
        raise _not_writable(path, problem) from None


def _not_writable(path: Path, problem: OSError) -> InvalidInput:
    message = f"The folder of the ledger {path} cannot be written: {problem.strerror}. Name another."
    return InvalidInput(message, where="ledger", code="ledger.not-writable")


def _make_file(path: Path, fill: Callable[[Transaction], None]) -> bool:
    """Build the tables under another name and link them into place, so that nobody sees half a ledger.

    Returns False where another process was quicker; its ledger stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)  # mode 600
        os.close(handle)
        building = Path(name)
        try:
            with Store(Location(path=building)).transaction(writing=True) as transaction:
                fill(transaction)
            close_to_others(building)
            try:
                os.link(building, path)
            except FileExistsError:
                return False
            flush(path.parent)
        finally:
            building.unlink(missing_ok=True)
    except OSError as problem:
        raise _not_writable(path, problem) from None
    return True


def _fill(transaction: Transaction) -> None:
    """Make the tables of a new ledger, with its secret and the record that commits to it."""
    create_tables(transaction)
    create_triggers(transaction)
    secret = secrets.token_bytes(KEY_BYTES)
    transaction.add_secret(secret)
    body = to_body(CreatedRecord(FORMAT, commitment(secret), now()))
    transaction.add_record(next_record(None, body, transaction.role()))
