"""The total of all releases about the same people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.calculus.encoding import encode
from crowdblend.calculus.groups import best_for_group
from crowdblend.calculus.rules.composition import (
    differential_releases_add_up,
    iid_sample_releases_add_up,
    network_releases_add_up,
    random_sample_releases_add_up,
)
from crowdblend.errors import NotApplicable
from crowdblend.frozen import dataclass
from crowdblend.guarantees.privacy import Differential, Guarantee, ZeroKnowledge
from crowdblend.ledger.entry import Losses, Spending


@dataclass(frozen=True)
class Budget:
    """The spent entries of one population, added up; None where no theorem adds them up.

    Differential privacy is for one person more or less where every release has that, and else for one person's
    data replaced. Zero-knowledge privacy adds up the rounds, or the number of random people, that it is relative to.
    """

    population: str
    releases: tuple[int, ...]
    differential: Differential | None
    zero_knowledge: ZeroKnowledge | None
    assumptions: tuple[Assumption, ...]
    overlapping: tuple[str, ...] = ()
    """Populations that have people in common with this one; their releases are in the sum."""

    def for_group(self, people: int) -> ZeroKnowledge | None:
        """Return what the zero-knowledge guarantees come to for several people, by the best of three propositions."""
        if self.zero_knowledge is None:
            return None
        made: ZeroKnowledge = best_for_group(self.zero_knowledge, people).conclude(self.zero_knowledge, people=people)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as JSON-ready data."""
        document = {
            "population": self.population,
            "releases": list(self.releases),
            "differential": encode(self.differential),
            "zero_knowledge": encode(self.zero_knowledge),
            "assumptions": [assumption.value for assumption in self.assumptions],
        }
        return {**document, "overlapping": list(self.overlapping)} if self.overlapping else document


def add_up(
    population: str, groups: Sequence[SpendingGroup], overlapping: tuple[str, ...] = (), releases: tuple[int, ...] = ()
) -> Budget:
    """Return the budget of the people that are called `population`: the sum of some groups of releases about them.

    `overlapping` are the other populations in the groups, and `releases` the numbers of the entries.
    """
    # A survey of a fixed number of people has no guarantee for one person more or less.
    coins, surveys = ({group.differential is None for group in groups if not group.fresh} & {fixed} for fixed in (0, 1))
    taken = {Assumption.FRESH_SAMPLES: sum(group.count for group in groups) > 1}
    taken |= {Assumption.ASSUMED_RATE: bool(coins), Assumption.ASSUMED_SURVEY: bool(surveys)}
    losses = [(group.differential, group.count) for group in groups]
    replaced = [(group.replacement_loss, group.count) for group in groups]
    relative = [(group.zero_knowledge, group.count) for group in groups]
    return Budget(
        population=population,
        releases=releases,
        differential=_sum(losses, differential_releases_add_up) or _sum(replaced, differential_releases_add_up),
        zero_knowledge=_sum(
            relative, iid_sample_releases_add_up, network_releases_add_up, random_sample_releases_add_up
        ),
        assumptions=tuple(assumption for assumption in Assumption if taken.get(assumption)),
        overlapping=overlapping,
    )


def _sum(premises: Sequence[tuple[Guarantee | None, int]], *rules: Any) -> Any:
    """Return what the first rule that applies concludes; None where a release has no such guarantee or none applies."""
    known = [(premise, count) for premise, count in premises if premise is not None]
    if not known or len(known) < len(premises):
        return None
    if [count for _, count in known] == [1]:
        return known[0][0]
    for rule in rules:
        with suppress(NotApplicable):
            return rule.conclude(*(premise for premise, count in known for _ in range(count)))
    return None


@dataclass(frozen=True)
class SpendingGroup(Losses):
    """A number of releases about one population with equal guarantees, all fresh or none."""

    population: str
    guarantees: tuple[Guarantee, ...]
    fresh: bool
    series: int = 1
    """Of this many releases each was declared together with others of the group; 1 where they were not."""
    count: int = 1

    @classmethod
    def of(cls, spending: Spending) -> SpendingGroup:
        """Return the group of one release."""
        return cls(spending.population, spending.guarantees, spending.fresh, spending.series)
