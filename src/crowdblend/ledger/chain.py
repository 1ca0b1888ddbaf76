"""The hash chain: every record seals all records before it, so that an edit anywhere is found."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from crowdblend.errors import DoesNotVerify

FIRST_FORMAT = "crowdblend ledger 1"
FORMAT = "crowdblend ledger 4"
_NAME = "crowdblend ledger "
_DECODE = json.JSONDecoder().raw_decode  # without json.loads around it: a ledger has many small records
_GUARANTEES, _AFTER = '"guarantees":', ',"identity":'
_PLACEHOLDER = secrets.token_hex(16)  # no record can have it, whoever wrote it
_KNOWN: dict[str, list[Any]] = {}
_MOST_KNOWN = 1000
GENESIS = hashlib.sha256(FIRST_FORMAT.encode()).hexdigest()
"""What the first record follows, in every format: a ledger that is brought to a new format keeps its chain."""


def version_of(layout: str) -> int:
    """The number in the name of a format.

    >>> version_of(FIRST_FORMAT)
    1
    """
    return int(layout.removeprefix(_NAME)) if layout.startswith(_NAME) else 0


class Record(NamedTuple):
    """One line of the ledger: canonical JSON, the hash of the line before it and its own."""

    number: int
    previous: str
    body: str
    hash: str


def append(last: Record | None, content: dict[str, Any]) -> Record:
    """The record that comes next."""
    body = _canonical(content)
    number, previous = (last.number + 1, last.hash) if last else (1, GENESIS)
    return Record(number, previous, body, _hash(number, previous, body))


def contents(records: Iterable[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """The records with their contents, in order; raises DoesNotVerify when one was edited, removed or inserted."""
    previous = GENESIS
    for number, record in enumerate(records, 1):
        stated, before, body, sealed = record
        if not isinstance(body, str) or (stated, before, sealed) != (number, previous, _hash(number, previous, body)):
            raise _edited(number)
        yield record, _parsed(number, body)
        previous = sealed


def check_links(records: Iterable[Record], first: int) -> None:
    """Refuse a piece of the chain whose records do not follow on one another, the first of which has this number."""
    previous = GENESIS if first == 1 else None
    for number, record in enumerate(records, first):
        if previous is not None and record.previous != previous:
            raise _edited(number)
        whole = isinstance(record.body, str) and record.number == number
        if not whole or record.hash != _hash(number, str(record.previous), record.body):
            raise _edited(number)
        previous = record.hash


def last_content(record: Record) -> dict[str, Any]:
    """The body of one record, whose own hash is right; what came before is not looked at."""
    if not isinstance(record.body, str) or record.hash != _hash(record.number, str(record.previous), record.body):
        raise _edited(record.number)
    return _parsed(record.number, record.body)


def _edited(number: int) -> DoesNotVerify:
    return DoesNotVerify(
        f"record {number} of the ledger is not as it was written: the ledger was edited. Restore it from a backup.",
        where=f"record {number}",
        code="does-not-verify",
    )


def unreadable(number: int) -> DoesNotVerify:
    """The refusal of a record whose hash is right and whose content makes no sense to this version."""
    return DoesNotVerify(
        f"record {number} of the ledger holds nothing that this version understands. "
        "Use the crowdblend that wrote it, or restore a backup.",
        where=f"record {number}",
        code="ledger.unreadable",
    )


def _parsed(number: int, body: str) -> dict[str, Any]:
    start = body.find(_GUARANTEES)
    end = body.find(_AFTER, start)
    if 0 <= start < end:
        return _parsed_begun(number, body, start + len(_GUARANTEES), end)
    return _decoded(number, body)


def _parsed_begun(number: int, body: str, start: int, end: int) -> dict[str, Any]:
    """The content of a record that begins a release; equal guarantees, most of its text, are parsed once.

    Between the two keys stands one value of JSON if it was once found to be one: then the rest is parsed without it.
    Inside of a text every quote has a backslash before it, so that the keys are keys; that they are the record's own,
    and not those of something in it, is looked at.
    """
    stated = body[start:end]
    known = _KNOWN.get(stated)
    if known is not None:
        content = _decoded(number, f'{body[:start]}"{_PLACEHOLDER}"{body[end:]}')
        if content.get("guarantees") == _PLACEHOLDER:
            content["guarantees"] = known
            return content
    content = _decoded(number, body)
    found = content.get("guarantees")
    if isinstance(found, list) and _canonical(found) == stated:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[stated] = found
    return content


def _decoded(number: int, body: str) -> dict[str, Any]:
    try:
        content, end = _DECODE(body)
    except (ValueError, RecursionError):
        raise unreadable(number) from None
    if not isinstance(content, dict) or end != len(body):
        raise unreadable(number)
    return content


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _hash(number: int, previous: str, body: str) -> str:
    return hashlib.sha256(f"{number}\n{previous}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()
