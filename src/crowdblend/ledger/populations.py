"""The populations of a ledger: who answers for each, what was read, and which limit holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.ledger.declarations import Limit, Threshold
from crowdblend.ledger.entry import Spending
from crowdblend.ledger.history import History
from crowdblend.ledger.identity import UNKNOWN


@dataclass(frozen=True)
class Population:
    """A population in a ledger; `sources` are the sources that releases read, oldest first."""

    name: str
    owner: str | None
    description: str | None
    sources: tuple[str, ...]
    releases: int
    limits: tuple[Limit, ...]
    overlapping: tuple[str, ...]
    others: tuple[str, ...]
    threshold: Threshold | None

    @property
    def limit(self) -> Limit | None:
        """The limit in force."""
        return self.limits[-1] if self.limits else None

    def to_dict(self) -> dict[str, Any]:
        """Return the population as JSON-ready data."""
        return {
            **vars(self),
            "sources": list(self.sources),
            "limits": [limit.to_dict() for limit in self.limits],
            "overlapping": list(self.overlapping),
            "others": list(self.others),
            "threshold": self.threshold and self.threshold.to_dict(),
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
            others=declared.others(name),
            threshold=declared.threshold(name),
        )
        for name, made in spent.items()
    )
