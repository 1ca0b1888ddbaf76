"""Whether a release keeps the limits of its population, and of every population that overlaps with it.

A release fits when the sum of all losses is within the limit, or when the profiles together are: each is a proof. The
ledger decides in the transaction that records the release, so no two releases can both be the last one that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crowdblend.errors import NotApplicable, Refused
from crowdblend.guarantees import Differential, Guarantee
from crowdblend.guarantees.wording import at_least, at_most
from crowdblend.ledger.budget import add_up
from crowdblend.ledger.entry import Losses, Spending
from crowdblend.ledger.profile_total import ProfileTotal, about, profile_total
from crowdblend.ledger.running_total import RunningTotal, read_total, total_of_spent
from crowdblend.ledger.spent import SpentGroup
from crowdblend.ledger.stated import Stated
from crowdblend.ledger.statements import Limit

HIGH = 5.0
"""Above this ε a guarantee says little, and a release says so before it begins."""
_STEPS = 4


@dataclass(frozen=True)
class Accounts:
    """What was spent and stated in one ledger; `totals` are the texts of those that it keeps, by population."""

    groups: tuple[SpentGroup, ...]
    stated: Stated
    totals: Mapping[str, str] = field(default_factory=dict)

    def check(self, coming: Spending, today: str) -> None:
        """Refuse a release that would exceed a limit, with what would fit; `today` as YYYY-MM-DD."""
        for population in (coming.population, *self.stated.overlapping(coming.population)):
            limit = self.stated.limit(population)
            if limit is None:
                continue
            if limit.has_ended(today):
                raise Refused(
                    f"the limit of {population!r} ended on {limit.until}.",
                    remedy="Set a new one: crowdblend ledger limit.",
                    where=population,
                    code="limit.ended",
                )
            if not self.fits(limit, coming):
                raise self._refusal(limit, coming)

    def fits(self, limit: Limit, coming: Losses) -> bool:
        """Whether the total with one more release is within a limit, plainly added up or by profile."""
        others = self.stated.overlapping(limit.population)
        one = SpentGroup(limit.population, coming.guarantees, fresh=True)
        try:
            plain = add_up(limit.population, (*self.groups, one), others).differential
        except NotApplicable:
            plain = None
        if plain is not None and plain.epsilon <= limit.epsilon and plain.delta <= limit.delta:
            return True
        total = self.total(limit.population, limit.delta, coming)
        return total.epsilon is not None and total.epsilon <= limit.epsilon

    def total(self, population: str, delta: float | None = None, coming: Losses | None = None) -> ProfileTotal:
        """What all releases about a population, and those that overlap with it, come to by profile."""
        return profile_total(
            population,
            self.groups,
            delta,
            more=coming,
            kept=self.kept(population),
            overlapping=self.stated.overlapping(population),
        )

    def kept(self, population: str) -> RunningTotal | None:
        """The composed total that the ledger keeps of a population, without those that overlap with it."""
        text = self.totals.get(population)
        return None if text is None else read_total(text)

    def composed(self, coming: Spending) -> str | None:
        """The total of a population with one more release, as the ledger keeps it; None where nothing adds it up."""
        own = about(self.groups, coming.population)
        total = total_of_spent([*own, (coming, 1)], self.kept(coming.population))
        return None if total is None else total.to_json()

    def largest_epsilon(self, limit: Limit, coming: Losses) -> float | None:
        """An ε, rounded down to three digits, of a release that fits at the δ of this one; None where none was found.

        It is composed as the worst release with that ε and δ, so every release that states them fits. It is what adding
        up leaves, or more where a few halvings show that profiles allow it: small steps need fine grids, and take long.
        """
        loss = coming.differential or coming.replaced
        if loss is None:
            return None

        def fits(epsilon: float) -> bool:
            return self.fits(limit, _Stated((Differential(epsilon, loss.delta, loss.relation),)))

        spent = add_up(limit.population, self.groups, self.stated.overlapping(limit.population)).differential
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
        """Sentences about a release, or a total with it, whose ε is so large that it says little."""
        found = []
        alone = coming.differential or coming.replaced
        if alone is not None and alone.epsilon > HIGH:
            found.append(f"epsilon {at_most(alone.epsilon)} of this release is above {HIGH:g}: it guarantees little.")
        others = self.stated.overlapping(coming.population)
        one = SpentGroup(coming.population, coming.guarantees, coming.fresh)
        plain = add_up(coming.population, (*self.groups, one), others).differential
        if len(self.groups) and plain is not None and plain.epsilon > HIGH:
            total = self.total(coming.population, coming=coming)
            together = plain.epsilon if total.epsilon is None else min(total.epsilon, plain.epsilon)
            if together > HIGH and (alone is None or together > alone.epsilon):
                found.append(
                    f"all releases about {coming.population!r} come to epsilon {at_most(together)} with this one, "
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
            f"with this release all those about {limit.population!r} would come to {reached} at delta "
            f"{at_most(limit.delta)}; the limit is {limit.words()}.",
            remedy=f"{fitting}; crowdblend ledger limit raises the limit.",
            where=limit.population,
            code="limit.exceeded",
        )


@dataclass(frozen=True)
class _Stated(Losses):
    guarantees: tuple[Guarantee, ...]
