"""A ledger in a SQLite file: readable by its owner alone, durable, and whole from its first moment."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.ledger.database import Transaction

PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

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
DAMAGED = ("ledger.damaged", "is damaged, or is no crowdblend ledger. Restore it from a backup or name another")


class SqliteFile:
    """An existing file; every connection syncs what it commits and overwrites what it deletes."""

    def __init__(self, path: Path) -> None:
        # Never made by opening it, so a wrong path is no empty ledger.
        self._address = f"{path.absolute().as_uri()}?mode=rw"

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Transaction]:
        """Begin a transaction that sees one state, or excludes other writers; committed unless the block fails."""
        with closing(sqlite3.connect(self._address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
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

    def refusal(self, problem: Exception, words: str) -> CrowdblendError | None:
        """Return what the database refused, as an error about the ledger of this name; None for other problems."""
        if not isinstance(problem, sqlite3.Error):
            return None
        name = str(getattr(problem, "sqlite_errorname", ""))
        code, reason = next((known for prefix, known in _REASONS.items() if name.startswith(prefix)), DAMAGED)
        return InvalidInput(f"The ledger {words} {reason.format(patience=PATIENCE)}.", where="ledger", code=code)


def check_file(path: Path, *, make: Callable[[Path], None] | None) -> None:
    """Refuse a path without a ledger, or let `make` fill a new file; close an existing one to others."""
    try:
        if path.is_dir():
            raise InvalidInput(
                f"The ledger is a file, and {path} is a folder. Name a file in it.",
                where="ledger",
                code="ledger.folder",
            )
        if not path.exists():
            if make is None:
                raise InvalidInput(
                    f"There is no ledger at {path}. Correct the path, or make a new one: crowdblend ledger init {path}",
                    where="ledger",
                    code="ledger.missing",
                )
            _make_file(path, make)
        elif path.stat().st_mode & 0o077:
            with suppress(PermissionError):  # somebody else's file is theirs to protect
                path.chmod(0o600)
    except OSError as problem:
        raise InvalidInput(
            f"The folder of the ledger {path} cannot be written: {problem.strerror}. Name another.",
            where="ledger",
            code="ledger.not-writable",
        ) from None


def _make_file(path: Path, fill: Callable[[Path], None]) -> None:
    """Build the tables under another name and link them into place, so that nobody sees half a ledger."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)  # mode 600
    os.close(handle)
    building = Path(name)
    try:
        fill(building)
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
