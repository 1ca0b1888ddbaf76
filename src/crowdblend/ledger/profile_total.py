"""What all releases about the same people come to by their profiles, at a δ that the steward sets.

Every entry holds the profile of its release beside its guarantees; one that has none, from an earlier version, enters
with its (ε, δ). The laws of all entries so far are kept in the ledger, so a new entry is composed with one law only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.guarantees import Differential, Profile, Relation, Uses
from crowdblend.ledger.entry import Losses
from crowdblend.ledger.running_total import RunningTotal, Spent, epsilon_at, total_of, uses_of
from crowdblend.ledger.spent import SpentGroup

# A limit that more releases than this would keep is not much of a limit.
MOST_RELEASES = 100_000


@dataclass(frozen=True)
class ProfileTotal:
    """The ε of all spent entries of one population at a δ; None where no ε reaches it, or a release has no loss."""

    population: str
    releases: int
    delta: float
    epsilon: float | None
    relation: Relation

    @property
    def differential(self) -> Differential | None:
        """The total as a guarantee."""
        return None if self.epsilon is None else Differential(self.epsilon, self.delta, self.relation)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What composing by profiles takes for granted beyond adding up."""
        return (Assumption.FIXED_SERIES,) if self.releases > 1 and self.epsilon is not None else ()

    def to_dict(self) -> dict[str, Any]:
        """The total as JSON-ready data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation.value,
            "assumptions": [assumption.value for assumption in self.assumptions],
        }


def profile_total(
    population: str,
    groups: Iterable[SpentGroup],
    delta: float | None = None,
    *,
    more: Losses | None = None,
    kept: RunningTotal | None = None,
    overlapping: tuple[str, ...] = (),
) -> ProfileTotal:
    """The total of the spent entries about a population, and of one more release that may begin.

    It is at a δ, or else at the sum of all δ, so that it compares with adding up. Releases about `overlapping`
    populations count as releases about this one. `kept` is a total of some of them.
    """
    every = about(groups, population, overlapping) + ([(more, 1)] if more is not None else [])
    relation = Relation.ADD_REMOVE if uses_of(every, Relation.ADD_REMOVE) is not None else Relation.REPLACE
    uses, count = uses_of(every, relation), sum(releases for _, releases in every)
    if delta is None:
        delta = _sum_of_deltas(every, relation)
    if uses is None or delta == 0:
        return ProfileTotal(population, count, delta, None, relation)
    epsilon = epsilon_at(total_of(uses, relation, kept).pair, delta) if uses else 0.0
    return ProfileTotal(population, count, delta, epsilon, relation)


def releases_that_fit(
    population: str,
    groups: Iterable[SpentGroup],
    release: Losses,
    limit: Differential,
    kept: RunningTotal | None = None,
    overlapping: tuple[str, ...] = (),
) -> int | None:
    """How many more releases like this one keep the total within a limit; None where no theorem adds them up."""
    before = uses_of(about(groups, population, overlapping), limit.relation)
    one = uses_of([(release, 1)], limit.relation)
    if before is None or one is None:
        return None
    base = total_of(before, limit.relation, kept) if before else None

    def fits(count: int) -> bool:
        many = tuple(Uses(use.curve, use.releases * count) for use in one)
        every = Profile((*before, *many), limit.relation).uses
        found = epsilon_at(total_of(every, limit.relation, base).pair, limit.delta)
        return found is not None and found <= limit.epsilon

    if not fits(1):
        return 0
    low, high = 1, 2
    while high < MOST_RELEASES and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def about(groups: Iterable[SpentGroup], population: str, overlapping: tuple[str, ...] = ()) -> list[Spent]:
    """What was spent about a population, and about those that overlap with it."""
    return [(group, group.count) for group in groups if group.population in (population, *overlapping)]


def _sum_of_deltas(spent: list[Spent], relation: Relation) -> float:
    found = [(loss.delta, count) for losses, count in spent if (loss := _loss(losses, relation)) is not None]
    return sum(delta for delta, count in found for _ in range(count))


def _loss(losses: Losses, relation: Relation) -> Differential | None:
    return losses.differential if relation is Relation.ADD_REMOVE else losses.replaced
