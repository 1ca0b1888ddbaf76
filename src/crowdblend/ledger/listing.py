"""Entries one after the other, without holding a whole ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

from crowdblend.errors import CrowdblendError
from crowdblend.ledger.chain import unreadable
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.history import after, begun


def in_order(contents: Iterable[dict[str, Any]], unfinished: Set[int]) -> Iterator[Entry]:
    """Every entry as the records leave it, oldest first.

    An entry waits until its last record has been read; those that are `unfinished` have none and wait for nothing.
    """
    open_entries: dict[int, Entry] = {}
    for number, content in enumerate(contents, 1):
        try:
            if content["step"] == "begun":
                entry = begun(content)
                open_entries[entry.id] = entry
            elif content.get("entry") is not None:
                entry_id = content["entry"]
                if entry_id in open_entries:
                    open_entries[entry_id] = after(open_entries[entry_id], content)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError, CrowdblendError):
            raise unreadable(number) from None
        while open_entries:
            first = next(iter(open_entries.values()))
            if first.status == "unfinished" and not (first.id in unfinished and len(open_entries) > _WINDOW):
                break
            yield open_entries.pop(first.id)
    yield from open_entries.values()


# How many later entries an unfinished one waits for, so that its step `output` is still seen.
_WINDOW = 1000
