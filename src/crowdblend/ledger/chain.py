"""The hash chain: every record seals all records before it, so that an edit anywhere is found.

Keys and the ledger's secret stay outside the chain, which holds commitments to them. Anyone who keeps a head, how many
records there are and the hash that seals them all, finds a ledger that was cut off, replaced or put back.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.trusted.machine.regular_files import read_regular

FORMAT = "crowdblend ledger 1"
GENESIS = hashlib.sha256(FORMAT.encode()).hexdigest()
"""The hash that the first record follows."""
KEY_BYTES = 32
HEAD_FORMAT = "crowdblend ledger head 1"
HEAD_NAMESPACE = "crowdblend-ledger-head"
"""The purpose of a signature of a head."""
DIGEST = re.compile(r"[0-9a-f]{64}")
Digest = Annotated[str, msgspec.Meta(pattern=rf"\A{DIGEST.pattern}\Z")]


class Record(NamedTuple):
    """One line of the ledger: its content as JSON, the hash of the line before it and its own.

    `role` is the role that the database knows its writer by, which it checks itself; a file knows none.
    """

    number: int
    previous: str
    body: str
    hash: str
    role: str = ""


def next_record(last: Record | None, body: str, role: str = "") -> Record:
    """Return the record with this content that follows the last one."""
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    return Record(number, previous, body, hash_of(number, previous, body, role), role)


def check_record(record: Record, last: Record | None) -> None:
    """Raise DoesNotVerify unless a record follows the last one and is as it was written."""
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    stated, before, body, sealed, role = record
    texts = isinstance(body, str) and isinstance(role, str) and "\n" not in role
    if not texts or (stated, before) != (number, previous) or sealed != hash_of(number, previous, body, role):
        raise DoesNotVerify(
            f"Record {number} of the ledger is not as it was written: the ledger was edited. Restore it from a backup.",
            where=f"record {number}",
            code="does-not-verify",
        )


def hash_of(number: int, previous: str, body: str, role: str = "") -> str:
    """Return the hash that seals a record and, through the hash before it, all earlier ones; a role is one line."""
    return hashlib.sha256(f"{number}\n{previous}\n{role}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()


def commitment(key: bytes) -> str:
    """Return what the chain of records says of a key: enough to know it again, nothing from which to find it.

    The key has 256 random bits, so nobody can try them all, and SHA-256 has no known way back.

    >>> commitment(bytes(32)) == commitment(bytes(32)) != commitment(bytes(31) + b"1")
    True
    """
    return hashlib.sha256(b"crowdblend ledger: commitment to a key\0" + key).hexdigest()


def sample_name(key: bytes) -> str:
    """Return the name of the sample that a key draws: another commitment, so a key that is used twice is noticed."""
    return "drawn:" + hashlib.sha256(b"the name of a sample" + key).hexdigest()[:32]


def matches(key: bytes | None, stated_hash: str | None) -> bool:
    """Return whether a key is the one that a commitment was made from; no key matches no commitment."""
    if key is None or stated_hash is None:
        return key is None and stated_hash is None
    return hmac.compare_digest(commitment(key), stated_hash)


@dataclass(frozen=True)
class Head:
    """The number of records at a time, sealed by a hash."""

    records: int
    hash: str
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Return the head as JSON-ready data."""
        return {"format": HEAD_FORMAT, "records": self.records, "hash": self.hash, "at": self.at}

    def to_json(self) -> str:
        """Return the head as a file holds it, and as it is signed."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_line(self) -> str:
        """Return the head as a line of a log of heads."""
        return json.dumps(self.to_dict()) + "\n"


def read_head(text: str) -> Head:
    """Return the head that a file holds; raises InvalidInput when it holds none."""
    try:
        content: Any = json.loads(text)
        made = Head(content["records"], content["hash"], content["at"])
        if content["format"] != HEAD_FORMAT or type(made.records) is not int or not DIGEST.fullmatch(made.hash):
            raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        message = "This is no head of a ledger. Pass a file that crowdblend ledger check --save-head wrote."
        raise InvalidInput(message, where="`--head`", code="ledger.head") from None
    return made


def load_heads(path: Path) -> list[Head]:
    """Return the heads in a file: one, or one on every line of a log."""
    try:
        text = read_regular(path).decode("utf-8")
    except (OSError, ValueError):
        raise InvalidInput(f"{path} cannot be read. Name a head.", where="`--head`", code="ledger.head") from None
    lines = text.splitlines()
    if len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines):
        return [read_head(line) for line in lines]
    return [read_head(text)]
