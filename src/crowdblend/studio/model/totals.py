"""Totals of a ledger's releases: before and after one more, and step by step."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees import Differential
from crowdblend.kinds import AnyPlan
from crowdblend.lazy import lazy_imports
from crowdblend.ledger import Ledger
from crowdblend.ledger.budget import SpendingGroup, add_up

with lazy_imports():
    from crowdblend.publishing import pending


@dataclass(frozen=True)
class Totals:
    """The joint guarantee to the people of a population so far, and with one more release."""

    population: str
    releases: int
    before: Differential | None
    after: Differential | None
    """None where no theorem adds the releases up."""
    by_profile: Differential | None = None
    """With one more release, composed by profiles; None where that says nothing more."""


def totals(ledger: Ledger, plan: AnyPlan) -> Totals:
    """Return the totals of the planned release's population, from the policy alone."""
    spending = pending.planned_spending(plan)
    population = spending.population
    try:
        accounts = ledger.accounts()
    except InvalidInput as refused:
        if refused.code != "ledger.missing":
            raise
        # The first release makes it.
        return Totals(population, 0, None, spending.differential or spending.replacement_loss)
    before, after = accounts.budget(population), accounts.budget(population, spending)
    releases = sum(group.count for group in accounts.about(population))
    profile = accounts.total(population, coming=spending).differential if releases else None
    return Totals(population, releases, before.differential, after.differential, profile)


@dataclass(frozen=True)
class Stair:
    """The total of the first releases about a population."""

    releases: int
    created: str
    total: Differential | None


def stairs(ledger: Ledger, population: str) -> tuple[Stair, ...]:
    """Return the totals of a population after each of its releases, added up."""
    entries = [one for one in ledger.entries() if one.spending.population == population]
    spent = [SpendingGroup.of(entry.spending) for entry in entries]
    return tuple(
        Stair(count, entry.created, add_up(population, spent[:count]).differential)
        for count, entry in enumerate(entries, 1)
    )
