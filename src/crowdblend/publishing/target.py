"""The folder that a release is to appear as: checked before anything is spent, and worked on by one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from crowdblend.errors import InvalidInput, NoRoom, NotReachable, of_system
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.system import file_lock, has_room

# Where the ledger says that a release is which Python keeps.
IN_MEMORY = "in memory"
# File systems allow 255 bytes, and staging folders and locks have longer names.
LONGEST_NAME = 200
# Rough: certificate and report of a small release take a quarter of it. The rest shows when it is written.
LEAST_ROOM = 1 << 20
LEAST_FILES = 20


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a target that exists, or that could not be written, before anything is spent."""
    if os.path.lexists(folder):
        if not (folder / CERTIFICATE).is_file():
            reason = f"{folder} exists and is not a release, which alone could be replaced. Choose another folder."
            raise InvalidInput(reason, where="`--out`", code="not-a-release" if force else "output-exists")
        if not force:
            reason = f"{folder} exists. Choose another folder, or pass `--force` to replace the release in it."
            raise InvalidInput(reason, where="`--out`", code="output-exists")
    check_place(folder)


def remove_empty(folder: Path) -> None:
    """Remove an empty folder that was left under the name of a release; a link or a folder with files stays."""
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        with suppress(OSError):  # another user put a file there, or forbids it
            folder.rmdir()


def check_place(folder: Path) -> None:
    """Refuse a name or a place in which no folder could appear."""
    if not folder.parent.is_dir() or not os.access(folder.parent, os.W_OK | os.X_OK):
        reason = f"{folder.parent} is not a folder that can be written. Make it, or choose another."
        raise InvalidInput(reason, where="`--out`", code="output-parent")
    if not folder.name or len(folder.name.encode()) > LONGEST_NAME or not str(folder).isprintable():
        reason = f"The output folder's name has 1 to {LONGEST_NAME} bytes, all printable. Choose another name."
        raise InvalidInput(reason, where="`--out`", code="output-name")
    if not has_room(folder.parent, LEAST_ROOM, LEAST_FILES):
        reason = f"The disk of {folder.parent} is full. Make room, or choose another folder."
        raise NoRoom(reason, code="disk-full", where="`--out`")


@contextmanager
def exclusive_use(folder: Path) -> Iterator[None]:
    """Refuse to work on a folder that another process or thread is working on; the lock is a file beside the folder."""
    with ExitStack() as lock:
        try:
            lock.enter_context(file_lock(folder.with_name(f".{folder.name}.lock")))
        except BlockingIOError:
            reason = f"Another release is working on {folder}. Wait for it, or choose another folder."
            raise NotReachable(reason, code="output-busy", where="`--out`") from None
        except OSError as problem:
            reason = f"{folder.parent} cannot be written: {problem.strerror}. Choose another folder."
            raise of_system(problem)(reason, code="write-failed", where="`--out`") from None
        yield
