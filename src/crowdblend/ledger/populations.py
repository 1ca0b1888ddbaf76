"""The populations of a ledger: who answers for them, who the people are, what was read, and which limit holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.ledger.history import History
from crowdblend.ledger.identity import UNKNOWN
from crowdblend.ledger.statements import Limit


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
    """Every population that something was released about or stated of, in the order in which it first appears."""
    stated = history.summary.stated
    spent = [entry.spending for entry in history.entries.values() if entry.counts]
    pairs = [name for one in stated.overlaps for name in (one.population, one.other)]
    names = dict.fromkeys([*(made.population for made in spent), *stated.limits, *stated.descriptions, *pairs])
    return tuple(_population(name, history) for name in names)


def _population(name: str, history: History) -> Population:
    about = history.summary.stated.descriptions.get(name)
    spent = [one.spending for one in history.entries.values() if one.counts and one.spending.population == name]
    return Population(
        name=name,
        owner=None if about is None else about.owner,
        description=None if about is None else about.description,
        sources=tuple(dict.fromkeys(made.source for made in spent if made.source != UNKNOWN)),
        releases=len(spent),
        limits=tuple(history.summary.stated.limits.get(name, ())),
        overlapping=history.summary.stated.overlapping(name),
    )
