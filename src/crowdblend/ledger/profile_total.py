"""The total of releases about the same people by their profiles, at the steward's δ.

Every entry holds the profile of its release beside its guarantees; one without enters with its (ε, δ). These totals are
true where rules and parameters of no release were chosen by looking at an earlier one, so they inform; limits are
decided by `filters`. Domains that a release proposed may be taken: the curve of what takes them is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.calculus.loss_curves import spread, together
from crowdblend.frozen import dataclass
from crowdblend.guarantees.guessing import differential_for_one
from crowdblend.guarantees.privacy import Differential, Relation
from crowdblend.guarantees.profiles import ClosenessCurve, Profile, ReplacedCurve, Uses
from crowdblend.ledger.budget import SpendingGroup
from crowdblend.ledger.entry import Losses

# Far below any δ that a steward would set, also after thousands of releases.
CUT = 1e-17

Spent = tuple[Losses, int]
"""What a release loses, and how many such releases there are."""


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
        """Assumptions of composing by profiles, beyond those of adding up."""
        return (Assumption.FIXED_SERIES,) if self.releases > 1 and self.epsilon is not None else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the total as JSON-ready data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation.value,
            "assumptions": [assumption.value for assumption in self.assumptions],
        }


def profile_total(
    population: str, groups: Iterable[SpendingGroup], delta: float | None = None, more: Losses | None = None
) -> ProfileTotal:
    """Return the total of all releases in some groups, and of one more that may begin.

    It is at a δ, or else at the sum of all δ, so that it compares with adding up.
    """
    every: list[Spent] = [(group, group.count) for group in groups] + ([(more, 1)] if more is not None else [])
    relation = Relation.ADD_REMOVE if _uses(every, Relation.ADD_REMOVE) is not None else Relation.REPLACE
    uses, count = _uses(every, relation), sum(releases for _, releases in every)
    if delta is None:
        delta = _sum_of_deltas(every, relation)
    if uses is None or delta == 0:
        return ProfileTotal(population, count, delta, None, relation)
    return ProfileTotal(population, count, delta, _epsilon(uses, delta), relation)


def _epsilon(uses: tuple[Uses, ...], delta: float) -> float | None:
    """Return the smallest ε of all uses together at a δ, the larger of both directions; None where none reaches it."""
    if not uses:
        return 0.0
    pair = together(uses, spread(uses).spacing, CUT)
    up, down = pair.up.epsilon(delta), pair.down.epsilon(delta)
    return None if up is None or down is None else max(up, down)


def _uses(spending: Iterable[Spent], relation: Relation) -> tuple[Uses, ...] | None:
    """Return the curves of all releases under one relation; None where one has no such guarantee."""
    found: list[Uses] = []
    for losses, count in spending:
        uses = uses_of_one(losses, relation)
        if uses is None:
            return None
        found += [Uses(use.curve, use.releases * count) for use in uses]
    return Profile(tuple(found), relation).uses if found else ()


def uses_of_one(losses: Losses, relation: Relation) -> tuple[Uses, ...] | None:
    """Return the curves of one release under a relation; None where it has no such guarantee."""
    profiles = [made for made in losses.guarantees if isinstance(made, Profile) and made.people == 1]
    known = next((made for made in profiles if made.relation is relation), None)
    if known is not None:
        return known.uses
    stated = differential_for_one(losses.guarantees, relation)
    found: list[tuple[Uses, ...]] = [] if stated is None else [(Uses(ClosenessCurve(stated.epsilon, stated.delta), 1),)]
    added = uses_of_one(losses, Relation.ADD_REMOVE) if relation is Relation.REPLACE else None
    if added is not None:
        found.append(tuple(Uses(ReplacedCurve(use.curve), use.releases) for use in added))
    # Each is true; the one whose losses spread less composes to less.
    return min(found, key=lambda uses: spread(uses).distances, default=None)


def _sum_of_deltas(spending: list[Spent], relation: Relation) -> float:
    losses = [
        (one.differential if relation is Relation.ADD_REMOVE else one.replacement_loss, count)
        for one, count in spending
    ]
    return sum(loss.delta for loss, count in losses if loss is not None for _ in range(count))
