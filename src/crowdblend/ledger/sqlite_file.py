"""A ledger in a SQLite file: readable by its owner alone, durable, and whole from its first moment."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from crowdblend.errors import InvalidInput

PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""


def sqlite_engine(path: Path) -> Engine:
    """Connections to an existing file, each of which syncs what it commits and overwrites what it deletes."""
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


def check_file(path: Path, *, make: Callable[[Path], None] | None, protect: bool) -> None:
    """Refuse a path without a ledger, or let `make` fill a new file; close an existing one to others."""
    try:
        if path.is_dir():
            raise InvalidInput(
                f"the ledger is a file, and {path} is a folder. Name a file in it.",
                where="ledger",
                code="ledger.folder",
            )
        if not path.exists():
            if make is None:
                raise InvalidInput(
                    f"there is no ledger at {path}. Correct the path, or make a new one: crowdblend ledger init {path}",
                    where="ledger",
                    code="ledger.missing",
                )
            _make_file(path, make)
        elif protect and path.stat().st_mode & 0o077:
            with suppress(PermissionError):  # somebody else's file is theirs to protect
                path.chmod(0o600)
    except OSError as problem:
        raise InvalidInput(
            f"the folder of the ledger {path} cannot be written: {problem.strerror}. Name another.",
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
