"""The populations of a ledger: who answers for them, who the people are, what was read, and which limit holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.ledger.declarations import Limit
from crowdblend.ledger.entry import Spending
from crowdblend.ledger.history import History
from crowdblend.ledger.identity import UNKNOWN


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
