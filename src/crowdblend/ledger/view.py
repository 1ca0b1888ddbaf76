"""One state of a ledger, as a transaction sees it: what may be trusted without reading every record, and the rest.

**What is trusted.** The last record, whose own hash is right, seals the summary; so totals, limits, overlaps and the
groups of earlier releases are those of the writer of that record. An entry is read from its own records, each with its
own hash, and belongs to the group that the summary has. Whoever changes an earlier record without the rest of the chain
changes no decision, and where that was lately, nothing is added. Whoever seals a summary that is not true is found by
`check`, which follows every record and compares every seal. Where a name is looked up in the table of steps, that table
is append-only as the records are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.ledger import chain, steps, store
from crowdblend.ledger.connection import Connection
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.history import SEALED_SINCE, History, entry_of, replay
from crowdblend.ledger.identity import Identity
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.migrations import version
from crowdblend.ledger.running_total import digest_of
from crowdblend.ledger.sound import identities_of
from crowdblend.ledger.summary import NAME as SUMMARY
from crowdblend.ledger.summary import Summary, edited, edited_steps, edited_total, read_summary, total_name

LATELY = 1000
"""So many records before the end are compared with their hashes before one is added."""


@dataclass(frozen=True)
class View:
    """The last record and the summary; with all entries where the summary could not be used."""

    connection: Connection | None
    """None where there is no ledger yet."""
    last: chain.Record | None
    summary: Summary
    history: History | None = None

    @classmethod
    def of(cls, connection: Connection, *, to_write: bool = False) -> View:
        """What a transaction sees; all records are read where no summary is kept.

        Whoever is to write compares the hashes of the last records too, so that nothing is added to a chain that was
        edited lately, whatever its length.
        """
        if version(connection) >= SEALED_SINCE:
            last = store.last_record(connection)
            if last is None:
                raise edited()
            sealed = chain.last_content(last).get("summary")
            kept = read_summary(store.derived(connection, SUMMARY), sealed)
            if kept is not None:
                if to_write:
                    first = max(1, last.number - LATELY + 1)
                    chain.check_links(store.last_records(connection, first), first)
                return cls(connection, last, kept)
        last, history = replayed(connection)
        return cls(connection, last, history.summary, history)

    @property
    def _opened(self) -> Connection:
        assert self.connection is not None, "whoever has no ledger yet has all entries: none"
        return self.connection

    def entry(self, entry_id: int) -> Entry:
        """One entry; refuses a number that no release has."""
        found = self.entries([entry_id]) if type(entry_id) is int and 0 < entry_id <= self.summary.entries else {}
        if entry_id not in found:
            raise InvalidInput(
                f"the ledger has no release {entry_id}. crowdblend ledger list shows them.",
                where=f"release {entry_id}",
                code="ledger.no-release",
            )
        return found[entry_id]

    def entries(self, ids: Collection[int]) -> dict[int, Entry]:
        """Some entries by their numbers, in order."""
        if self.history is not None:
            return {number: self.history.entries[number] for number in sorted(ids)}
        found: dict[int, list[dict[str, Any]]] = {}
        for number, record in steps.records_of(self._opened, ids):
            found.setdefault(number, []).append(chain.last_content(record))
        waiting = self.summary.unfinished
        made: dict[int, Entry] = {}
        for number in sorted(ids):
            try:
                entry = entry_of(found.get(number, ()), number)
            except (LookupError, TypeError, ValueError, AttributeError, CrowdblendError):
                entry = None
            if entry is None or (entry.status == "unfinished") != (number in waiting):
                raise edited_steps()
            made[number] = entry
        return made

    def earlier(self, coming: Spending) -> list[tuple[Entry, Identity | None]]:
        """An entry of every group, and those with the same name of a sample, each with what its source is known by.

        Entries of one group differ in nothing by which a release is judged but the names of samples that they drew.
        """
        first = self.summary.first_entries()
        names = (coming.sample, coming.population)
        if self.history is None:
            named = steps.of_samples(self._opened, names)
        else:
            named = {one.id for one in self.history.entries.values() if one.spending.sample in names}
        entries = self.entries({*first, *named})
        for number, known in first.items():
            if self.summary.group_digest(entries[number]) != known:
                raise edited_steps()
        identities = self._identities(entries)
        return [(entry, identities.get(number)) for number, entry in entries.items()]

    def first_identities(self) -> dict[int, Identity | None]:
        """By what the source of every group is known again, by an entry of the group; None where it has nothing."""
        entries = self.entries(self.summary.first_entries())
        known = self._identities(entries)
        return {number: known.get(number) for number in entries}

    def _identities(self, entries: Mapping[int, Entry]) -> dict[int, Identity]:
        if not entries:
            return {}
        return identities_of(entries, store.identities(self._opened, list(entries)))

    def releases(self, populations: Iterable[str]) -> tuple[int, ...]:
        """The numbers of the spent entries about some populations."""
        names = set(populations)
        if self.history is None:
            return steps.of_populations(self._opened, names)
        return tuple(one.id for one in self.history.entries.values() if one.counts and one.spending.population in names)

    def accounts(self, populations: Collection[str] | None = None) -> Accounts:
        """What was spent and stated; with the kept totals of some populations, else of all."""
        totals = self.summary.totals
        wanted = {name: totals[name] for name in totals if populations is None or name in populations}
        return Accounts(self.summary.groups, self.summary.stated, kept_totals(self.connection, wanted))

    def accounts_for(self, coming: Spending) -> Accounts:
        """What was spent and stated, with the kept totals that matter to one release."""
        return self.accounts({coming.population, *self.summary.stated.overlapping(coming.population)})


def replayed(
    connection: Connection, follow: Callable[[chain.Record, dict[str, Any]], None] | None = None
) -> tuple[chain.Record | None, History]:
    """The last record, and what all of them come to; `follow` is called with every record."""
    last: chain.Record | None = None

    def read(records: Iterable[chain.Record]) -> Iterator[dict[str, Any]]:
        nonlocal last
        for record, content in chain.contents(records):
            last = record
            yield content
            if follow is not None:  # only when it has made sense
                follow(record, content)

    with closing(store.stream(connection)) as records:
        history = replay(read(records))
    return last, history


def kept_totals(connection: Connection | None, digests: Mapping[str, str]) -> dict[str, str]:
    """The composed totals that are kept; raises DoesNotVerify unless they are those that the records name."""
    found = {}
    for population, stated in digests.items():
        assert connection is not None, "whoever has no ledger yet has no totals"
        text = store.derived(connection, total_name(population))
        if not isinstance(text, str) or digest_of(text) != stated:
            raise edited_total(population)
        found[population] = text
    return found
