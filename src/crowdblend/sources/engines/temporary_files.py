"""Where temporary files lie, and how much room they may take: rows of databases, and what the database spills."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdblend.errors import InvalidInput


@dataclass(frozen=True)
class TemporaryRoom:
    """A folder for temporary files, and the bytes that the database may take there: nine tenths of what is free."""

    folder: Path
    most_bytes: int

    def words(self) -> str:
        """Return folder and room for people."""
        return f"at most {self.most_bytes / 1e9:,.1f} GB in {self.folder} (TMPDIR), nine tenths of what is free there"


def temporary_room() -> TemporaryRoom:
    """Return the room for temporary files; refuse a TMPDIR that cannot be written, where Python would take another."""
    folder, wanted = tempfile.gettempdir(), os.environ.get("TMPDIR")
    if wanted and not _can_be_written(wanted):
        message = f"TMPDIR is {wanted!r}, which is no folder that you can write."
        raise InvalidInput(message, remedy="Make the folder, or name another.", where="TMPDIR", code="system.temporary")
    return TemporaryRoom(Path(folder), shutil.disk_usage(folder).free * 9 // 10)


def _can_be_written(folder: str) -> bool:
    """Return whether a file can be made in a folder; os.access asks for the rights of the real user alone."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder only the owner can look into, gone afterwards."""
    folder = temporary_room().folder
    with tempfile.TemporaryDirectory(prefix="crowdblend-", dir=folder, ignore_cleanup_errors=True) as name:
        yield Path(name)
