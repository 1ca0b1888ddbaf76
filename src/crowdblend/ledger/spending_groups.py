"""Releases about one population with the same guarantees, which enter every total as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from crowdblend.guarantees import Guarantee
from crowdblend.ledger.entry import Losses, Spending


@dataclass(frozen=True)
class SpendingGroup(Losses):
    """So many releases about one population with the same guarantees, all from fresh samples or none."""

    population: str
    guarantees: tuple[Guarantee, ...]
    fresh: bool
    count: int = 1

    @classmethod
    def of(cls, spending: Spending) -> SpendingGroup:
        """Return the group of one release."""
        return cls(spending.population, spending.guarantees, spending.fresh)


def group_spendings(spendings: Iterable[Spending]) -> tuple[SpendingGroup, ...]:
    """Return releases by group, in the order of the first."""
    found = Counter(map(SpendingGroup.of, spendings))
    return tuple(replace(group, count=count) for group, count in found.items())
