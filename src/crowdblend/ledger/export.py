"""The records of a ledger for another system's log: who did what about which population, and what that spends.

Keys, commitments to them, fingerprints of sources and samples, digests of policies and what only the steward may know
are left out: a field that is not listed here does not leave the ledger. The hash of each record is that of the chain,
so that a copy of the lines is a list of heads of the ledger too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.ledger.chain import Record
from crowdblend.ledger.entry import Entry, public_name
from crowdblend.ledger.ledger import Ledger

_FIELDS = (
    *("entry", "population", "other", "kind", "by", "why", "software", "folder", "series", "certificate_digest"),
    "approval",
    *("tool", "version", "reference", "owner", "description", "until", "relation", "order"),
)


def export(ledger: Ledger, since: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the records after a number, or from a day on, as JSON-ready data; all of them without `since`."""
    after, day = _since(since)
    records, entries = ledger.chain()
    for record in records:
        body = json.loads(record.body)
        if record.number > after and body["at"] >= day:
            yield _document(record, body, entries)


def _document(record: Record, body: Mapping[str, Any], entries: Mapping[int, Entry]) -> dict[str, Any]:
    document = {"record": record.number, "time": body["at"], "event": body["step"]}
    document |= {name: body[name] for name in _FIELDS if body.get(name) is not None}
    document |= {name: public_name(document[name]) for name in ("population", "other") if name in document}
    if body["step"] in ("limit", "threshold", "approval"):
        document |= {"epsilon": body["epsilon"], "delta": body["delta"]}
    elif body["step"] in ("begun", "stated"):
        spending = entries[body["entry"]].spending
        loss = spending.loss
        if loss is not None:
            document |= {"epsilon": loss.epsilon, "delta": loss.delta, "relation": loss.relation.value}
    return {**document, **({"role": record.role} if record.role else {}), "hash": record.hash}


def _since(since: str | None) -> tuple[int, str]:
    """Return the number after which and the day from which records are wanted."""
    if since is None:
        return 0, ""
    if since.isdecimal() and len(since) != 8:  # eight digits may be a day
        return int(since), ""
    try:
        return 0, date.fromisoformat(since).isoformat()
    except ValueError:
        message = f"{since!r} is neither the number of a record nor a day."
        remedy = "Pass the last number that you have, or a day such as 2026-11-19."
        raise InvalidInput(message, remedy=remedy, where="`--since`", code="ledger.since") from None
