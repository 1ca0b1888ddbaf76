"""All statements of stewards together: the limit in force, who the people are, and which populations overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crowdblend.ledger.statements import Description, Limit, Overlap, Statement


@dataclass
class Stated:
    """The statements of a ledger by population; limits with their history, the one in force last."""

    limits: dict[str, list[Limit]] = field(default_factory=dict)
    descriptions: dict[str, Description] = field(default_factory=dict)
    overlaps: list[Overlap] = field(default_factory=list)

    def follow(self, statement: Statement) -> None:
        """Take one more statement into account."""
        if isinstance(statement, Limit):
            self.limits.setdefault(statement.population, []).append(statement)
        elif isinstance(statement, Description):
            self.descriptions[statement.population] = statement
        else:
            self.overlaps.append(statement)

    def limit(self, population: str) -> Limit | None:
        """The limit in force."""
        found = self.limits.get(population)
        return found[-1] if found else None

    def overlapping(self, population: str) -> tuple[str, ...]:
        """The populations that were declared to have people in common with this one, in the order of declaration."""
        pairs = ((one.population, one.other) for one in self.overlaps)
        others = (second if first == population else first for first, second in pairs if population in (first, second))
        return tuple(dict.fromkeys(others))

    def to_dict(self) -> dict[str, Any]:
        """The statements as JSON-ready data."""
        return {
            "limits": [limit.to_dict() for limits in self.limits.values() for limit in limits],
            "descriptions": [one.to_dict() for one in self.descriptions.values()],
            "overlaps": [one.to_dict() for one in self.overlaps],
        }


def stated_of(document: dict[str, Any]) -> Stated:
    """The statements that JSON-ready data describe."""
    made = Stated()
    for kind, name in ((Limit, "limits"), (Description, "descriptions"), (Overlap, "overlaps")):
        for one in document[name]:
            made.follow(kind(**one))
    return made
