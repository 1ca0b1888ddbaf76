"""What was spent about one population, grouped by what the releases guarantee.

Many releases have the same guarantees, so a ledger of 100,000 entries is a few groups. A group knows the numbers of
its entries as ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus.encoding import encode
from crowdblend.guarantees import Guarantee
from crowdblend.ledger.entry import Entry, Losses, decoded_guarantees


@dataclass(frozen=True)
class SpentGroup(Losses):
    """Entries about one population with the same guarantees; `fresh` as in their spending."""

    population: str
    guarantees: tuple[Guarantee, ...]
    fresh: bool
    ids: tuple[range, ...]

    @property
    def count(self) -> int:
        """How many releases they are."""
        return sum(map(len, self.ids))

    def to_dict(self) -> dict[str, Any]:
        """The group as JSON-ready data."""
        return {
            "population": self.population,
            "guarantees": [encode(guarantee) for guarantee in self.guarantees],
            "fresh": self.fresh,
            "ids": [[some.start, some.stop] for some in self.ids],
        }


def group_of(document: dict[str, Any]) -> SpentGroup:
    """The group that JSON-ready data describe."""
    return SpentGroup(
        str(document["population"]),
        decoded_guarantees(document["guarantees"]),
        bool(document["fresh"]),
        tuple(range(int(start), int(stop)) for start, stop in document["ids"]),
    )


def groups_of(entries: Iterable[Entry]) -> tuple[SpentGroup, ...]:
    """The spent entries by population and guarantees, in the order of their first release."""
    found: dict[tuple[str, tuple[Guarantee, ...], bool], list[int]] = {}
    # Hashing guarantees takes long, and those of most entries are one and the same object.
    known: dict[tuple[str, int, bool], list[int]] = {}
    for entry in entries:
        if entry.counts:
            spending = entry.spending
            at = (spending.population, id(spending.guarantees), spending.fresh)
            if at not in known:
                known[at] = found.setdefault((spending.population, spending.guarantees, spending.fresh), [])
            known[at].append(entry.id)
    return tuple(SpentGroup(*what, _ranges(ids)) for what, ids in found.items())


def releases_of(groups: Iterable[SpentGroup]) -> tuple[int, ...]:
    """The numbers of all entries of these groups, in order."""
    return tuple(sorted(number for group in groups for some in group.ids for number in some))


def _ranges(ids: Sequence[int]) -> tuple[range, ...]:
    made: list[range] = []
    for number in ids:
        if made and made[-1].stop == number:
            made[-1] = range(made[-1].start, number + 1)
        else:
            made.append(range(number, number + 1))
    return tuple(made)
