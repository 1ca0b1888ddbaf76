"""What all releases about the same people come to by their profiles, at a δ that the steward sets.

Every entry holds the profile of its release beside its guarantees; one that has none, from an earlier version, enters
with its (ε, δ). The ledger keeps the laws of all entries so far, so a new entry is composed with one law only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.calculus.loss_curves import grid_of, together
from crowdblend.guarantees import Differential, Profile, Relation, Uses
from crowdblend.ledger.account import Account
from crowdblend.ledger.entry import Spending
from crowdblend.ledger.running_total import CUT, epsilon_at, loss_under, uses_of
from crowdblend.numerics.profile_curves import LossPair

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


def profile_total(account: Account, delta: float | None = None, *, more: Spending | None = None) -> ProfileTotal:
    """The total of the spent entries about a population, and of one more release that may begin.

    It is at a δ, or else at the sum of all δ, so that it compares with adding up.
    """
    coming = () if more is None else ((0, more),)
    total, releases = account.running(*coming), account.releases + len(coming)
    if total is not None:
        delta = total.delta if delta is None else delta
        epsilon = epsilon_at(total.pair, delta) if delta > 0 else None
        return ProfileTotal(account.population, releases, delta, epsilon, total.relation)
    if delta is None:
        losses = [loss_under(spending, Relation.REPLACE) for _, spending in (*account.spent, *coming)]
        delta = sum(loss.delta for loss in losses if loss is not None)
    nothing = releases == 0 and delta > 0
    relation = Relation.REPLACE if releases else Relation.ADD_REMOVE
    return ProfileTotal(account.population, releases, delta, 0.0 if nothing else None, relation)


def releases_that_fit(account: Account, release: Spending, limit: Differential) -> int | None:
    """How many more releases like this one keep the total within a limit; None where no theorem adds them up."""
    one = uses_of([release], limit.relation)
    together_with = _beside(account, limit.relation)
    if one is None or together_with is None:
        return None

    def fits(count: int) -> bool:
        pair = together_with(tuple(Uses(use.curve, use.releases * count) for use in one))
        found = epsilon_at(pair, limit.delta)
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


def _beside(account: Account, relation: Relation) -> Callable[[tuple[Uses, ...]], LossPair] | None:
    """What gives the laws of all spent entries with more releases under a relation; None where one has no loss."""
    running = account.running()
    serves = running is not None and running.relation is relation
    before = () if serves else uses_of([spending for _, spending in account.spent], relation)
    if before is None:
        return None

    def together_with(more: tuple[Uses, ...]) -> LossPair:
        grown = running.beside(more) if running is not None and serves else None
        if grown is not None:
            return grown
        known = uses_of([spending for _, spending in account.spent], relation) if serves else before
        every = Profile((*(known or ()), *more), relation).uses
        return together(every, grid_of(every), CUT)

    return together_with
