"""The hash chain: every record seals all records before it, so that an edit anywhere is found."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from crowdblend.errors import DoesNotVerify

FORMAT = "crowdblend ledger 1"
GENESIS = hashlib.sha256(FORMAT.encode()).hexdigest()
"""The hash that the first record follows."""


class Record(NamedTuple):
    """One line of the ledger: its content as JSON, the hash of the line before it and its own."""

    number: int
    previous: str
    body: str
    hash: str


def next_record(last: Record | None, body: str) -> Record:
    """Return the record with this content that follows the last one."""
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    return Record(number, previous, body, hash_of(number, previous, body))


def check_record(record: Record, last: Record | None) -> None:
    """Raise DoesNotVerify unless a record follows the last one and is as it was written."""
    number = last.number + 1 if last else 1
    if not isinstance(record.body, str) or record != next_record(last, record.body):
        raise DoesNotVerify(
            f"Record {number} of the ledger is not as it was written: the ledger was edited. Restore it from a backup.",
            where=f"record {number}",
            code="does-not-verify",
        )


def hash_of(number: int, previous: str, body: str) -> str:
    """Return the hash that seals a record and, through the hash before it, all earlier ones."""
    return hashlib.sha256(f"{number}\n{previous}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()
