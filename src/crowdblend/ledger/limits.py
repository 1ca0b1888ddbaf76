"""Whether a release keeps the limits of its population, and of every population that overlaps with it.

A release fits when the sum of all losses is within the limit, or when the profiles together are: each is a proof. The
ledger decides in the transaction that records the release, so no two releases can both be the last one that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crowdblend.errors import NotApplicable, Refused
from crowdblend.guarantees import Differential
from crowdblend.guarantees.wording import at_least, at_most
from crowdblend.ledger.budget import Budget, SpendingGroup, add_up
from crowdblend.ledger.declarations import Declarations, Limit
from crowdblend.ledger.entry import Losses, Spending
from crowdblend.ledger.profile_total import ProfileTotal, profile_total

HIGH = 5.0
"""Above this ε a guarantee says little, and a release says so before it begins."""
_STEPS = 4


@dataclass(frozen=True)
class Accounts:
    """What was spent and declared in one ledger."""

    groups: tuple[SpendingGroup, ...]
    declared: Declarations

    def about(self, population: str) -> list[SpendingGroup]:
        """Return the releases about a population, and about those that overlap with it."""
        names = (population, *self.declared.overlapping(population))
        return [group for group in self.groups if group.population in names]

    def budget(self, population: str, coming: Losses | None = None, releases: tuple[int, ...] = ()) -> Budget:
        """Return what releases about a population add up to, with one more of a fresh sample or without."""
        more = [] if coming is None else [SpendingGroup(population, coming.guarantees, fresh=True)]
        return add_up(population, [*self.about(population), *more], self.declared.overlapping(population), releases)

    def check(self, coming: Spending, today: str) -> None:
        """Refuse a release that would exceed a limit, with what would fit; `today` as YYYY-MM-DD."""
        for population in (coming.population, *self.declared.overlapping(coming.population)):
            limit = self.declared.limit(population)
            if limit is None:
                continue
            if limit.has_ended(today):
                raise Refused(
                    f"The limit of {population!r} ended on {limit.until}.",
                    remedy="Set a new one: crowdblend ledger limit.",
                    where=population,
                    code="limit.ended",
                )
            if not self.fits(limit, coming):
                raise self._refusal(limit, coming)

    def fits(self, limit: Limit, coming: Losses) -> bool:
        """Return whether the total with one more release is within a limit, plainly added up or by profile."""
        try:
            plain = self.budget(limit.population, coming).differential
        except NotApplicable:
            plain = None
        if plain is not None and plain.epsilon <= limit.epsilon and plain.delta <= limit.delta:
            return True
        total = self.total(limit.population, limit.delta, coming)
        return total.epsilon is not None and total.epsilon <= limit.epsilon

    def total(self, population: str, delta: float | None = None, coming: Losses | None = None) -> ProfileTotal:
        """Return what all releases about a population, and those that overlap with it, come to by profile."""
        return profile_total(population, self.about(population), delta, coming)

    def largest_epsilon(self, limit: Limit, coming: Losses) -> float | None:
        """Return an ε, rounded down to three digits, of a release that fits at the δ of this one; None where none is.

        It is composed as the worst release with that ε and δ, so every release that states them fits. It is what adding
        up leaves, or more where a few halvings show that profiles allow it: small steps need fine grids, and take long.
        """
        loss = coming.differential or coming.replaced
        if loss is None:
            return None

        def fits(epsilon: float) -> bool:
            return self.fits(
                limit, SpendingGroup(limit.population, (Differential(epsilon, loss.delta, loss.relation),), True)
            )

        spent = self.budget(limit.population).differential
        left = limit.epsilon if spent is None else limit.epsilon - spent.epsilon
        low, high = max(left, 0.0), min(limit.epsilon, loss.epsilon)
        low = low if low < high and fits(low) else 0.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        rounded = float(f"{low:.2e}")
        rounded = rounded if rounded <= low else float(f"{low * 0.995:.2e}")
        return rounded if rounded > 0 and fits(rounded) else None

    def high_totals(self, coming: Spending) -> Sequence[str]:
        """Return sentences about a release, or a total with it, whose ε is so large that it says little."""
        found = []
        alone = coming.differential or coming.replaced
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

    def _refusal(self, limit: Limit, coming: Losses) -> Refused:
        total = self.total(limit.population, limit.delta, coming)
        reached = "no epsilon" if total.epsilon is None else f"epsilon {at_most(total.epsilon)}"
        largest = self.largest_epsilon(limit, coming)
        loss = coming.differential or coming.replaced
        fitting = "No further release fits"
        if largest is not None and loss is not None:
            fitting = f"A release with epsilon {at_least(largest)} at delta {at_most(loss.delta)} fits"
        return Refused(
            f"With this release all those about {limit.population!r} would come to {reached} at delta "
            f"{at_most(limit.delta)}; the limit is {limit.words()}.",
            remedy=f"{fitting}; crowdblend ledger limit raises the limit.",
            where=limit.population,
            code="limit.exceeded",
        )
