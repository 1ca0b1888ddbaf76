"""Limits of a population, and of every population that overlaps with it.

A release fits when all releases together use no more of the limit than it allows, counted in the way that the limit has
fixed and that holds whatever later releases react to. The ledger decides in the transaction that records the release,
so no two releases can both be the last one that fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context

from crowdblend.errors import RefusedByLedger
from crowdblend.ledger.budget import Budget, ProfileTotal, SpendingGroup, add_up, profile_total
from crowdblend.ledger.declarations import Declarations, Limit
from crowdblend.ledger.entry import MOST_RELEASES, Losses, Spending
from crowdblend.ledger.filters import Usage, usage_of
from crowdblend.trusted.guarantees.privacy import Differential
from crowdblend.trusted.guarantees.wording import at_least, at_most

HIGH = 5.0
"""Above this ε a guarantee says little, and a release says so before it begins."""
_STEPS = 6


@dataclass(frozen=True)
class Accounts:
    """The spending and the declarations of one ledger."""

    groups: tuple[SpendingGroup, ...]
    declared: Declarations

    def about(self, population: str) -> list[SpendingGroup]:
        """Return the releases about a population, and about those that overlap with it."""
        names = (population, *self.declared.overlapping(population))
        return [group for group in self.groups if group.population in names]

    def budget(self, population: str, coming: Losses | None = None, releases: tuple[int, ...] = ()) -> Budget:
        """Return what releases about a population add up to, with one more of a fresh sample or without."""
        overlapping, others = self.declared.overlapping(population), self.declared.others(population)
        return add_up(population, self.with_one_more(population, coming), overlapping, releases, others)

    def with_one_more(self, population: str, coming: Losses | None) -> list[SpendingGroup]:
        """Return the releases about a population and those that overlap with it, and one more of a fresh sample."""
        more = [] if coming is None else [SpendingGroup(population, coming.guarantees, fresh=True)]
        return [*self.about(population), *more]

    def check(self, coming: Spending, today: str) -> None:
        """Refuse a release that would exceed a limit, with what would fit; `today` as YYYY-MM-DD."""
        for population in (coming.population, *self.declared.overlapping(coming.population)):
            limit = self.declared.limit(population)
            if limit is None:
                continue
            if limit.until is not None and today > limit.until:
                message = f"The limit of {population!r} ended on {limit.until}."
                remedy = "Set a new limit."
                raise RefusedByLedger(message, remedy=remedy, where=population, code="limit.ended")
            if not self.fits(limit, SpendingGroup.of(coming)):
                raise self._refusal(limit, coming)

    def overruns(self, population: str) -> list[str]:
        """Return a sentence for every limit that what was spent on a population exceeds."""
        found = []
        for name in (population, *self.declared.overlapping(population)):
            limit = self.declared.limit(name)
            used = None if limit is None else self.usage(limit)
            if limit is not None and used is None:
                found.append(
                    f"The limit of {name!r} compares {limit.relation.words}, and what was spent has no such "
                    "guarantee: no further release fits. Set a limit with --relation replace."
                )
            elif limit is not None and used is not None and not used.fits:
                found.append(
                    f"The limit of {name!r}, {limit.words()}, is exceeded: {used.words()} was spent "
                    f"({used.reason()}). No further release fits."
                )
        return found

    def usage(self, limit: Limit, coming: SpendingGroup | None = None) -> Usage | None:
        """Return what all releases use of a limit, with more or without; None where one has no such guarantee."""
        groups = Counter({replace(group, count=1): group.count for group in self.about(limit.population)})
        if coming is not None:
            groups[replace(coming, count=1)] += coming.count
        return usage_of(limit, [replace(group, count=count) for group, count in groups.items()])

    def usage_after(self, coming: Spending) -> Usage | None:
        """Return what is used of the limit of a population with one more release; None without a limit."""
        limit = self.declared.limit(coming.population)
        return None if limit is None else self.usage(limit, SpendingGroup.of(coming))

    def fits(self, limit: Limit, coming: SpendingGroup) -> bool:
        """Return whether a limit is kept with these releases too."""
        usage = self.usage(limit, coming)
        return usage is not None and usage.fits

    def releases_that_fit(self, limit: Limit, coming: Spending) -> int | None:
        """Return how many more such releases keep a limit; None where they, or earlier ones, have no such guarantee."""
        one = SpendingGroup.of(coming)
        if self.usage(limit, one) is None:
            return None
        low, high = 0, 1
        while high < MOST_RELEASES and self.fits(limit, replace(one, count=high)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(limit, replace(one, count=middle)) else (low, middle)
        return low

    def total(self, population: str, delta: float | None = None, coming: Losses | None = None) -> ProfileTotal:
        """Return what all releases about a population, and those that overlap with it, come to by profile."""
        return profile_total(population, self.with_one_more(population, coming), delta)

    def largest_epsilon(self, limit: Limit, delta: float) -> float | None:
        """Return an ε, rounded down to three digits, of a release that fits at this δ; None where none is found.

        A few halvings look for it, and every release that states this ε and δ fits.
        """

        def fits(epsilon: float) -> bool:
            loss = Differential(epsilon, delta, limit.relation)
            return self.fits(limit, SpendingGroup(limit.population, (loss,), fresh=True))

        usage = self.usage(limit)
        low, high = 0.0, limit.epsilon
        if usage is not None and limit.order is None:
            low = high = max(0.0, float(usage.allowed[0] - usage.used[0]))
        for _ in range(_STEPS if low < high else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        rounded = float(Context(prec=3, rounding=ROUND_FLOOR).create_decimal(repr(low)))
        return rounded if rounded > 0 and fits(rounded) else None

    def place_in_series(self, spending: Spending) -> int:
        """Return how many releases of a declared series there are already: with the same guarantees, about these."""
        alike = SpendingGroup.of(spending)
        return sum(group.count for group in self.groups if replace(group, count=alike.count) == alike)

    def high_totals(self, coming: Spending) -> Sequence[str]:
        """Return sentences about a release beyond its series, or a total with it whose ε says little."""
        found = []
        made = self.place_in_series(coming)
        if coming.series > 1 and made and made % coming.series == 0:
            found.append(
                f"All {coming.series} releases that were planned together are published: this one begins another "
                f"series, and what is guaranteed about {coming.population!r} is then {made // coming.series + 1} times "
                "what the policy says."
            )
        alone = coming.loss
        if alone is not None and alone.epsilon > HIGH:
            found.append(f"epsilon {at_most(alone.epsilon)} of this release is above {HIGH:g}: it guarantees little.")
        plain = self.budget(coming.population, coming).differential
        if len(self.groups) and plain is not None and plain.epsilon > HIGH:
            total = self.total(coming.population, coming=coming)
            together = plain.epsilon if total.epsilon is None else min(total.epsilon, plain.epsilon)
            if together > HIGH and (alone is None or together > alone.epsilon):
                found.append(
                    f"All releases about {coming.population!r} come to epsilon {at_most(together)} with this one, "
                    f"which is above {HIGH:g}: together they guarantee little."
                )
        return found

    def _refusal(self, limit: Limit, coming: Spending) -> RefusedByLedger:
        usage = self.usage(limit, SpendingGroup.of(coming))
        if usage is None:
            return RefusedByLedger(
                f"The limit of {limit.population!r} compares {limit.relation.words}, and a release about these people "
                "has no such guarantee.",
                remedy="Release with such a guarantee, or set a limit whose relation is replace.",
                where=limit.population,
                code="limit.relation",
            )
        loss = coming.loss_under(limit.relation)
        largest = None if loss is None else self.largest_epsilon(limit, loss.delta)
        fitting = "No further release fits"
        if largest is not None and loss is not None:
            fitting = f"A release with epsilon {at_least(largest)} at delta {at_most(loss.delta)} fits"
        return RefusedByLedger(
            f"With this release all those about {limit.population!r} would come to {usage.words()} ({usage.reason()}); "
            f"the limit is {limit.words()}.",
            remedy=f"{fitting}. Or raise the limit.",
            where=limit.population,
            code="limit.exceeded",
        )
