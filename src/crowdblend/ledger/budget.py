"""The total of all releases about the same people, as a sum and by their profiles.

Every entry holds the profile of its release beside its guarantees; one without enters with its (ε, δ). Totals by
profiles are true where rules and parameters of no release were chosen by looking at an earlier one, so they inform;
limits are decided by `filters`. Domains that a release proposed may be taken: the curve of what takes them is the same
for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from crowdblend.errors import NotApplicable, NotProved
from crowdblend.ledger.entry import Losses, Spending
from crowdblend.ledger.statements import concentrated_together
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.calculus.encoding import encode
from crowdblend.trusted.calculus.groups import best_for_group
from crowdblend.trusted.calculus.loss_curves import spread, together
from crowdblend.trusted.calculus.rules.composition import (
    differential_releases_add_up,
    iid_sample_releases_add_up,
    network_releases_add_up,
    random_sample_releases_add_up,
)
from crowdblend.trusted.calculus.rules.sampling import differential_for_groups
from crowdblend.trusted.guarantees.guessing import differential_for_one
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Profile, ReplacedCurve, Uses
from crowdblend.trusted.machine.html_summary import html_summary

# Far below any δ that a steward would set, also after thousands of releases.
CUT = 1e-17
_NO_TOTAL = "No theorem adds up what was released."
# The rules by which guarantees of one sort add up; the first that applies does.
_RULES: dict[str, tuple[Any, ...]] = {
    "differential": (differential_releases_add_up,),
    "zero-knowledge": (iid_sample_releases_add_up, network_releases_add_up, random_sample_releases_add_up),
}


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
    stated: tuple[int, ...] = ()
    """The releases that other tools made: what they spent is stated and not derived."""

    def for_group(self, people: int, total: ProfileTotal | None = None) -> tuple[Differential | ZeroKnowledge, ...]:
        """Return what the guarantees come to for this many `people` together; those that guarantee something.

        Zero-knowledge privacy by the best of three propositions, differential privacy by a chain of neighbours, from
        the `total` by profile where there is one. A δ of 1 guarantees nothing.
        """
        made: list[Differential | ZeroKnowledge] = []
        if self.zero_knowledge is not None:
            made.append(best_for_group(self.zero_knowledge, people).conclude(self.zero_knowledge, people=people))
        one = self.differential if total is None or total.differential is None else total.differential
        if one is not None:
            with suppress(NotProved):  # a chain that is too long for a finite number
                made.append(differential_for_groups.conclude(one, people=people))
        return tuple(guarantee for guarantee in made if guarantee.delta < 1)

    def _repr_html_(self) -> str:
        """Return what was released and what that comes to; every text is escaped."""
        totals = [one.words() for one in (self.differential, self.zero_knowledge) if one is not None]
        rows = [("population", self.population), ("releases", ", ".join(map(str, self.releases)) or "none")]
        rows += [("with", ", ".join(self.overlapping))] if self.overlapping else []
        assumptions = [assumption.value for assumption in self.assumptions]
        return html_summary(None, rows, {"In total": totals or [_NO_TOTAL], "Assumptions": assumptions})

    def to_dict(self) -> dict[str, Any]:
        """Return the budget as JSON-ready data."""
        document = {
            "population": self.population,
            "releases": list(self.releases),
            "stated": list(self.stated),
            "differential": encode(self.differential),
            "zero_knowledge": encode(self.zero_knowledge),
            "assumptions": [assumption.value for assumption in self.assumptions],
        }
        return {**document, "overlapping": list(self.overlapping)} if self.overlapping else document


def add_up(
    population: str,
    groups: Sequence[SpendingGroup],
    overlapping: tuple[str, ...] = (),
    releases: tuple[int, ...] = (),
    others: tuple[str, ...] = (),
) -> Budget:
    """Return the budget of the people that are called `population`: the sum of some groups of releases about them.

    `overlapping` are the other populations in the groups, `others` those that were declared to be other people and are
    not in them, and `releases` the numbers of the entries.
    """
    # A survey of a fixed number of people has no guarantee for one person more or less.
    coins, surveys = ({group.differential is None for group in groups if not group.fresh} & {fixed} for fixed in (0, 1))
    taken = {Assumption.FRESH_SAMPLES: sum(group.count for group in groups) > 1}
    taken |= {Assumption.ASSUMED_RATE: bool(coins), Assumption.ASSUMED_SURVEY: bool(surveys)}
    taken |= {Assumption.OTHER_PEOPLE: bool(others), Assumption.STATED_LOSSES: any(group.stated for group in groups)}
    losses = [(group.differential, group.count) for group in groups]
    replaced = [(group.replacement_loss, group.count) for group in groups]
    relative = [(group.zero_knowledge, group.count) for group in groups]
    return Budget(
        population=population,
        releases=releases,
        differential=_sum(losses, "differential") or _sum(replaced, "differential"),
        zero_knowledge=_sum(relative, "zero-knowledge"),
        assumptions=tuple(assumption for assumption in Assumption if taken.get(assumption)),
        overlapping=overlapping,
    )


def _sum(premises: Sequence[tuple[Guarantee | None, int]], rules: str) -> Any:
    """Return what the first rule that applies concludes; None where a release has no such guarantee or none applies."""
    known: Counter[Guarantee] = Counter()
    for premise, count in premises:
        if premise is None:
            return None
        known[premise] += count
    return _conclude(tuple(known.items()), rules) if known else None


@lru_cache(maxsize=64)
def _conclude(premises: tuple[tuple[Guarantee, int], ...], rules: str) -> Any:
    """Return what the first rule that applies concludes; a release asks for its totals before and after it begins."""
    if premises[0][1] == len(premises) == 1:
        return premises[0][0]
    for rule in _RULES[rules]:
        with suppress(NotApplicable):
            return rule.conclude(*(premise for premise, count in premises for _ in range(count)))
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
    stated: bool = False
    """True if other tools made them."""

    @classmethod
    def of(cls, spending: Spending) -> SpendingGroup:
        """Return the group of one release."""
        return cls(spending.population, spending.guarantees, spending.fresh, spending.series, stated=spending.stated)


@dataclass(frozen=True)
class ProfileTotal:
    """The ε of all spent entries of one population at a δ; None where no ε reaches it, or a release has no loss."""

    population: str
    releases: int
    delta: float
    epsilon: float | None
    relation: Relation
    is_sum: bool = False
    """True where the profiles come to no less than the sum, which is then the total."""

    @property
    def tighter(self) -> Differential | None:
        """The total as a guarantee, where it says more than the sum."""
        return None if self.is_sum else self.differential

    @property
    def differential(self) -> Differential | None:
        """The total as a guarantee."""
        return None if self.epsilon is None else Differential(self.epsilon, self.delta, self.relation)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions of composing by profiles, beyond those of adding up."""
        return (Assumption.FIXED_SERIES,) if self.releases > 1 and self.tighter is not None else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the total as JSON-ready data."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation.value,
            "assumptions": [assumption.value for assumption in self.assumptions],
        }


def profile_total(population: str, groups: Sequence[SpendingGroup], delta: float | None = None) -> ProfileTotal:
    """Return the total of all releases in some groups, at a δ or else at the sum of all δ, as adding up has it.

    It is never above what adding up comes to at that δ.
    """
    uses, relation = _uses(groups, Relation.ADD_REMOVE), Relation.ADD_REMOVE
    if uses is None:
        uses, relation = _uses(groups, Relation.REPLACE), Relation.REPLACE
    count = sum(group.count for group in groups)
    losses = [(group.loss_under(relation), group.count) for group in groups]
    added: Differential | None = _sum(losses, "differential")
    if delta is None:
        delta = 0.0 if added is None else added.delta
    if uses == ():
        return ProfileTotal(population, count, delta, 0.0, relation)
    composed: float | None = None
    if uses is not None and delta > 0:
        pair = together(uses, spread(uses).spacing, CUT)
        up, down = pair.up.epsilon(delta), pair.down.epsilon(delta)
        # The larger of both directions.
        composed = None if up is None or down is None else max(up, down)
    if added is not None and added.delta <= delta and (composed is None or added.epsilon <= composed):
        return ProfileTotal(population, count, delta, added.epsilon, relation, is_sum=True)
    return ProfileTotal(population, count, delta, composed, relation)


def _uses(groups: Iterable[SpendingGroup], relation: Relation) -> tuple[Uses, ...] | None:
    """Return the curves of all releases under one relation; None where one has no such guarantee."""
    found: list[Uses] = []
    for group in groups:
        uses = uses_of_one(group, relation)
        if uses is None:
            return None
        found += [Uses(use.curve, use.releases * group.count) for use in uses]
    return Profile(concentrated_together(found), relation).uses if found else ()


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
