"""From records to entries: a release is begun and finished, and stewards declare what holds for a population."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.ledger.chain import FORMAT, Record, check_record
from crowdblend.ledger.declarations import Declarations
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.records import Begun, Created, Finished, Step, to_step
from crowdblend.ledger.spending_groups import SpendingGroup


@dataclass
class History:
    """What the records of a ledger say together, up to the last one that was followed."""

    last: Record | None = None
    entries: dict[int, Entry] = field(default_factory=dict)
    groups: Counter[SpendingGroup] = field(default_factory=Counter)
    """How many releases spent the same about the same people, in the order of the first."""
    declarations: Declarations = field(default_factory=Declarations)
    secret: str | None = None
    """The commitment to the ledger's secret."""
    latest: str = ""
    """The latest time that a record has."""

    def follow(self, records: Iterable[Record]) -> None:
        """Take more records into account; raises DoesNotVerify at the first that is not as it was written."""
        for record in records:
            check_record(record, self.last)
            try:
                self._take(to_step(record.body))
            except (msgspec.MsgspecError, LookupError, TypeError, ValueError, RecursionError, CrowdblendError):
                raise DoesNotVerify(
                    f"Record {record.number} of the ledger holds nothing that this version understands. "
                    "Use the crowdblend that wrote it, or restore a backup.",
                    where=f"record {record.number}",
                    code="ledger.unreadable",
                ) from None
            self.last = record

    def _take(self, step: Step) -> None:
        if not step.at.isprintable():
            raise ValueError("a time is a printable text")
        match step:
            case Created():
                if self.last is not None or step.format != FORMAT:
                    raise ValueError("a ledger is created once, in the format of this version")
                self.secret = step.secret
            case Begun():
                if self.last is None or step.entry != len(self.entries) + 1:
                    raise ValueError("entries are numbered one after the other")
                entry = self.entries[step.entry] = step.to_entry()
                self.groups[SpendingGroup.of(entry.spending)] += 1
            case Finished():
                if self.entries[step.entry].status == "finished":
                    raise ValueError("a release is finished once")
                self.entries[step.entry] = replace(
                    self.entries[step.entry],
                    status="finished",
                    certificate_digest=step.certificate_digest,
                    data_sha256=step.data_sha256,
                    internal=step.internal,
                )
            case _:
                self.declarations.add(step)
        self.latest = max(self.latest, step.at)

    @property
    def accounts(self) -> Accounts:
        """What was spent and declared."""
        return Accounts(tuple(replace(group, count=count) for group, count in self.groups.items()), self.declarations)

    def releases(self, populations: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of the releases about some populations."""
        names = set(populations)
        return tuple(entry.id for entry in self.entries.values() if entry.spending.population in names)

    def populations(self) -> tuple[str, ...]:
        """Return every population that something was released about, in the order of the first release."""
        return tuple(dict.fromkeys(group.population for group in self.groups))
