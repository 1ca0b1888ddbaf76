"""What was spent about one population, grouped by everything by which a later release is judged.

Many releases have the same guarantees and the same source, so a ledger of 100,000 entries is a few groups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.calculus.encoding import encode
from crowdblend.guarantees import Guarantee
from crowdblend.ledger.entry import Entry, Losses
from crowdblend.ledger.identity import UNKNOWN


@dataclass(frozen=True)
class SpentGroup(Losses):
    """Entries about one population with the same guarantees and the same source; fields as in their spending.

    `sample` is None where every entry drew its own.
    """

    population: str
    guarantees: tuple[Guarantee, ...]
    fresh: bool
    source: str = UNKNOWN
    rate: float | None = None
    identity: str | None = None
    sample: str | None = None
    count: int = 1

    def facts(self, guarantees: str) -> list[Any]:
        """By what the group is told apart from others, as JSON-ready data; its guarantees by their digest."""
        return [self.population, guarantees, self.fresh, self.source, self.rate, self.identity, self.sample]


def group_of(entry: Entry) -> SpentGroup:
    """The group that an entry belongs to."""
    made = entry.spending
    sample = None if made.fresh else made.sample
    return SpentGroup(made.population, made.guarantees, made.fresh, made.source, made.rate, entry.identity, sample)


def groups_of(entries: Iterable[Entry]) -> tuple[SpentGroup, ...]:
    """The spent entries by group, in the order of their first release."""
    found: dict[SpentGroup, int] = {}
    for entry in entries:
        if entry.counts:
            group = group_of(entry)
            found[group] = found.get(group, 0) + 1
    return tuple(replace(group, count=count) for group, count in found.items())


def encoded(guarantees: tuple[Guarantee, ...]) -> list[Any]:
    """Guarantees as JSON-ready data."""
    return [encode(guarantee) for guarantee in guarantees]


def digest_of(content: Any) -> str:
    """The SHA-256 of JSON-ready data; equal data have equal ones."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
