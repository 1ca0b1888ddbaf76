"""Heads that are kept beside a ledger, one for every record, so that an older copy in its place is noticed.

A ledger that lacks a kept head has lost records: a backup was put in its place, or its end was cut off. A head is kept
once its record is committed, and heads are read before a transaction begins. So a process that is killed between both,
and others that write at the same time, raise no false alarm.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger.chain import Digest, Head, read_head
from crowdblend.ledger.database import Transaction
from crowdblend.ledger.declarations import DeclarationRecord
from crowdblend.trusted.machine.regular_files import open_regular
from crowdblend.trusted.machine.system import flush, open_appending, state_folder

SUFFIX = ".heads"
# The end of the file that is read: the last hundred heads.
_LAST_BYTES = 1 << 14


class AcceptedLoss(DeclarationRecord, frozen=True, tag="restored"):
    """Heads of which a ledger lacks the records, as after a restore: someone accepts that these are lost."""

    lost: tuple[tuple[int, Digest], ...]
    by: str
    why: str
    at: str = ""
    role: str = ""


class KeptHeads:
    """The file of a ledger's heads, a line each; nothing is kept where it cannot be written, which is said once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._is_said = False

    @classmethod
    def beside(cls, ledger: Path) -> KeptHeads:
        """Return the heads beside a ledger in a file."""
        return cls(ledger.with_name(ledger.name + SUFFIX))

    @classmethod
    def in_state_folder(cls, database: str, first: str) -> KeptHeads:
        """Return the heads of a ledger on a server: of this database, and of the chain with this first hash."""
        name = hashlib.sha256(f"{first}\n{database}".encode()).hexdigest()[:32]
        try:
            return cls(state_folder() / "crowdblend" / "heads" / f"{name}.jsonl")
        except RuntimeError:  # this user has no home
            return cls(None)

    def read(self) -> tuple[Head, ...]:
        """Return the last heads, oldest first, without a line that a failure of the machine cut short."""
        if self.path is None:
            return ()
        try:
            with open_regular(self.path) as file:
                start = max(file.seek(0, os.SEEK_END) - _LAST_BYTES, 0)
                file.seek(start)
                lines = file.read().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as problem:
            self._say(f"{self.path} cannot be read ({problem.strerror})")
            return ()
        found = []
        for line in lines[1 if start else 0 : -1]:
            with suppress(InvalidInput):
                found.append(read_head(line.decode("utf-8", "replace")))
        return tuple(found)

    def add(self, head: Head) -> None:
        """Keep one more head, on the disk before this returns."""
        if self.path is None:
            self._say("this user has no home folder")
            return
        try:
            self._append(self.path, head.to_line().encode())
        except OSError as problem:
            self._say(f"{self.path} cannot be written ({problem.strerror})")

    def _append(self, path: Path, line: bytes) -> None:
        is_new = not path.exists()
        if is_new:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = open_appending(path, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(0, "it is not a regular file")
            # One call, so that lines of two writers do not mix.
            os.write(handle, line if is_new or _ends_whole(path) else b"\n" + line)
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            flush(path.parent)

    def _say(self, why: str) -> None:
        if not self._is_said:
            self._is_said = True
            message = f"Heads of the ledger are not kept: {why}. A backup in its place would not be noticed."
            warnings.warn(message, stacklevel=2)


def _ends_whole(path: Path) -> bool:
    """Return whether the last line of a file is whole."""
    with open_regular(path) as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def lost_heads(
    kept: Sequence[Head], transaction: Transaction, accepted: Collection[tuple[int, str]]
) -> tuple[Head, ...]:
    """Return the kept heads whose records are not in the ledger, without those that someone accepted as lost.

    A replica of a server may be behind for a moment, which is no loss.
    """
    hashes = transaction.hashes_of({head.records for head in kept}) if kept else {}
    lost = [one for one in kept if hashes.get(one.records) != one.hash and (one.records, one.hash) not in accepted]
    return () if lost and transaction.is_replica() else tuple(lost)


def refuse_lost(lost: Sequence[Head], records: int, place: Path | None) -> None:
    """Refuse a ledger that lacks records of which heads were kept."""
    if lost:
        last = max(one.records for one in lost)
        message = (
            f"The ledger has {records} records, and not those of a head that was kept after {last}, in {place}: "
            "a backup or another ledger was put in its place, or its end was cut off."
        )
        remedy = (
            "Put the newer ledger back. If it is lost, accept that: crowdblend ledger heads --accept --why TEXT. Then "
            "enter the releases that it forgot again: crowdblend ledger adopt POPULATION DIR."
        )
        raise DoesNotVerify(message, remedy=remedy, where="ledger", code="ledger.behind")


def refuse_left(heads: KeptHeads) -> None:
    """Refuse a place for a new ledger where an earlier one was, which was deleted or moved away."""
    if heads.read():
        message = f"{heads.path} has heads of an earlier ledger in this place, which was deleted or moved away."
        remedy = "Put it back; or move that file away too if another ledger is to begin here."
        raise InvalidInput(message, remedy=remedy, where="ledger", code="ledger.heads-left")
