"""The hash chain: every record seals all records before it, so that an edit anywhere is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import DoesNotVerify

FORMAT = "crowdblend ledger 1"
GENESIS = hashlib.sha256(FORMAT.encode()).hexdigest()


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


def contents(records: Iterable[Record]) -> list[dict[str, Any]]:
    """What the records say, in order; raises DoesNotVerify when one was edited, removed or slipped in."""
    found: list[dict[str, Any]] = []
    previous = GENESIS
    for number, record in enumerate(records, 1):
        sealed = _hash(number, previous, record.body)
        if (record.number, record.previous, record.hash) != (number, previous, sealed):
            raise DoesNotVerify(
                f"record {number} of the ledger must be as it was written, and it is not: the ledger was edited. "
                "Restore it from a backup."
            )
        found.append(json.loads(record.body))
        previous = record.hash
    return found


def head(records: list[Record]) -> str:
    """The hash that seals everything recorded so far."""
    return records[-1].hash if records else GENESIS


def _hash(number: int, previous: str, body: str) -> str:
    return hashlib.sha256(f"{number}\n{previous}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()
