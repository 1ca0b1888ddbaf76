"""The hash chain: every record seals all records before it, so that an edit anywhere is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import DoesNotVerify

FIRST_FORMAT = "crowdblend ledger 1"
FORMAT = "crowdblend ledger 2"
GENESIS = hashlib.sha256(FIRST_FORMAT.encode()).hexdigest()
"""What the first record follows, in every format: a ledger that is brought to a new format keeps its chain."""


@dataclass(frozen=True)
class Record:
    """One line of the ledger: canonical JSON, the hash of the line before it and its own."""

    number: int
    previous: str
    body: str
    hash: str


def append(last: Record | None, content: dict[str, Any]) -> Record:
    """The record that comes next."""
    body = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    return Record(number, previous, body, _hash(number, previous, body))


def verify(records: Sequence[Record]) -> None:
    """Raise DoesNotVerify when a record was edited, removed or inserted."""
    previous = GENESIS
    for number, record in enumerate(records, 1):
        body, stated = record.body, (record.number, record.previous, record.hash)
        if not isinstance(body, str) or stated != (number, previous, _hash(number, previous, body)):
            raise DoesNotVerify(
                f"record {number} of the ledger is not as it was written: the ledger was edited. "
                "Restore it from a backup.",
                where=f"record {number}",
                code="does-not-verify",
            )
        previous = record.hash


def contents(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The bodies of the records, in order; raises DoesNotVerify when one was edited, removed or inserted."""
    verify(records)
    return [content(record) for record in records]


def head(records: Sequence[Record]) -> str:
    """The hash that seals everything recorded so far."""
    return records[-1].hash if records else GENESIS


def unreadable(number: int) -> DoesNotVerify:
    """The refusal of a record whose hash is right and whose content makes no sense to this version."""
    return DoesNotVerify(
        f"record {number} of the ledger holds nothing that this version understands. "
        "Use the crowdblend that wrote it, or restore a backup.",
        where=f"record {number}",
        code="ledger.unreadable",
    )


def content(record: Record) -> dict[str, Any]:
    """What one record says, once its hash was checked."""
    try:
        found = json.loads(record.body)
    except (ValueError, RecursionError):
        raise unreadable(record.number) from None
    if not isinstance(found, dict):
        raise unreadable(record.number)
    return found


def _hash(number: int, previous: str, body: str) -> str:
    return hashlib.sha256(f"{number}\n{previous}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()
