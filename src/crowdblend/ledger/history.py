"""From records to entries: a release is begun and finished, and stewards declare what holds for a population."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.ledger.budget import Budget, SpendingGroup
from crowdblend.ledger.chain import FORMAT, Record, check_record
from crowdblend.ledger.declarations import Declarations, Limit
from crowdblend.ledger.entry import Entry, Spending
from crowdblend.ledger.identity import UNKNOWN
from crowdblend.ledger.limits import Accounts
from crowdblend.ledger.records import Begun, Created, Finished, Step, to_step


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

    def entry(self, entry_id: int) -> Entry:
        """The release of that number; refuses one that there is not."""
        if entry_id not in self.entries:
            says = f"The ledger has no release {entry_id}. crowdblend ledger list shows them."
            raise InvalidInput(says, where=f"release {entry_id}", code="ledger.no-release")
        return self.entries[entry_id]

    def budget(self, population: str) -> Budget:
        """What was released about a population, and about those that overlap with it."""
        names = {population, *self.declarations.overlapping(population)}
        releases = tuple(entry.id for entry in self.entries.values() if entry.spending.population in names)
        return self.accounts.budget(population, releases=releases)

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

    def names(self) -> tuple[str, ...]:
        """Every name of a population, of releases and of declarations."""
        return *self.populations(), *self.declarations.populations()

    def populations(self) -> tuple[str, ...]:
        """Return every population that something was released about, in the order of the first release."""
        return tuple(dict.fromkeys(group.population for group in self.groups))


@dataclass(frozen=True)
class Population:
    """What a ledger knows of a population; `sources` are the names of the sources that releases read, oldest first."""

    name: str
    owner: str | None
    description: str | None
    sources: tuple[str, ...]
    releases: int
    limits: tuple[Limit, ...]
    overlapping: tuple[str, ...]

    @property
    def limit(self) -> Limit | None:
        """The limit in force."""
        return self.limits[-1] if self.limits else None

    def to_dict(self) -> dict[str, Any]:
        """The population as JSON-ready data."""
        return {
            **vars(self),
            "sources": list(self.sources),
            "limits": [limit.to_dict() for limit in self.limits],
            "overlapping": list(self.overlapping),
        }


def populations_of(history: History) -> tuple[Population, ...]:
    """Return every population that something was released about or declared of, in the order of its appearance."""
    declared = history.declarations
    spent: dict[str, list[Spending]] = {name: [] for name in (*history.populations(), *declared.populations())}
    for entry in history.entries.values():
        spent[entry.spending.population].append(entry.spending)
    return tuple(
        Population(
            name=name,
            owner=declared.descriptions[name].owner if name in declared.descriptions else None,
            description=declared.descriptions[name].description if name in declared.descriptions else None,
            sources=tuple(dict.fromkeys(one.source for one in made if one.source != UNKNOWN)),
            releases=len(made),
            limits=tuple(declared.limits.get(name, ())),
            overlapping=declared.overlapping(name),
        )
        for name, made in spent.items()
    )
