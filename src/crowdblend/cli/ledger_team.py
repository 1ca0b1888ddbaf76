"""`crowdblend ledger`: limits, what fits them, populations, and what the owner of a shared ledger does."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from crowdblend.cli.output import Parameter, answer, answers
from crowdblend.errors import InvalidInput, Refused
from crowdblend.ledger import Ledger
from crowdblend.ledger.declarations import Limit
from crowdblend.ledger.filters import order_for
from crowdblend.ledger.populations import Population
from crowdblend.ledger.roles import role_script, role_statements
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend import kinds
    from crowdblend.policies import load
    from crowdblend.publishing import pending

ledger_option = click.option(
    "--ledger", "where", metavar="URL|PATH", help="The ledger to use; else CROWDBLEND_LEDGER, else your own."
)
by_option = click.option("--by", metavar="NAME", help="Who states it; by default the user of this process.")
why_option = click.option("--why", metavar="TEXT", help="For what reason.")


@click.command("limit")
@click.argument("population")
@click.option("--epsilon", type=Parameter(), metavar="E", help="What all releases may come to.")
@click.option("--delta", type=Parameter(), metavar="D", help="The delta at which they come to it.")
@click.option(
    "--until", metavar="DATE", help="The last day, after which a new limit is needed: a year, month, day or never."
)
@click.option(
    "--relation",
    type=click.Choice([Relation.ADD_REMOVE.value, Relation.REPLACE.value]),
    default=Relation.ADD_REMOVE.value,
    show_default=True,
    help="What it compares: one person more or less, or one person's data replaced.",
)
@click.option("--renyi", is_flag=True, help="Count by Rényi divergence instead of sums: better for many releases.")
@by_option
@why_option
@ledger_option
@answers
def limit(
    population: str, *, epsilon: float | None, delta: float | None, relation: str, where: str | None, **limits: Any
) -> None:
    """Set what all releases about POPULATION may come to, or show it.

    A release that would exceed the limit is refused before its data are read. The limit holds also where a release
    reacts to earlier ones: losses are added up, those of a declared series (releases in a policy) as one by its curve.
    Anyone who changes a limit says why; every limit is an entry of its own. Without --epsilon and --delta the limits so
    far are shown.
    """
    if epsilon is None and delta is None:
        found = Ledger.open(where, make=False).limits(population)
        lines = [
            f"{one.at[:10]}  {one.words()}, set by {one.author}{f': {one.why}' if one.why else ''}" for one in found
        ] or [f"{population} has no limit."]
        answer({"population": population, "limits": [one.to_dict() for one in found]}, *lines)
        return
    if epsilon is None or delta is None:
        raise click.UsageError("A limit needs both --epsilon and --delta.")
    made = Ledger.open(where).limit(population, epsilon=epsilon, delta=delta, relation=Relation(relation), **limits)
    answer(made.to_dict(), f"{made.population}: {made.words()}, set by {made.author}")


@click.command("record", epilog="Example: crowdblend ledger record residents --tool OpenDP --epsilon 0.5 ...")
@click.argument("population")
@click.option("--tool", required=True, metavar="NAME", help="What spent it, such as OpenDP.")
@click.option("--tool-version", "version", metavar="V", help="Its version.")
@click.option("--why", required=True, metavar="TEXT", help="For what it was spent.")
@click.option("--reference", metavar="TEXT", help="Where it can be read: an address, a file, a number.")
@click.option(
    "--relation",
    required=True,
    type=click.Choice([Relation.ADD_REMOVE.value, Relation.REPLACE.value]),
    help="What the tool's guarantee compares: one person more or less, or one person's data replaced.",
)
@click.option("--epsilon", type=Parameter(), metavar="E", help="The epsilon that it spent.")
@click.option("--delta", type=Parameter(), metavar="D", help="Its delta; of rho and points, the one that sums count.")
@click.option("--rho", type=Parameter(), metavar="R", help="Instead of epsilon: rho of zero-concentrated privacy.")
@click.option(
    "--point",
    "curve",
    type=(float, float),
    multiple=True,
    metavar="E D",
    help="Instead of epsilon: an epsilon and its delta; repeat it for a curve.",
)
@by_option
@ledger_option
@answers
def record(population: str, *, curve: tuple[tuple[float, float], ...], where: str | None, **spending: Any) -> None:
    """Record what another tool spent on POPULATION, so that totals and limits count it.

    It is marked as stated and not derived wherever it is shown, it cannot be taken back, and it is recorded also where
    it exceeds a limit.
    """
    entry = Ledger.open(where).record(population, curve=curve or None, **spending)
    assert entry.statement is not None
    answer(entry.to_dict(), f"Entry {entry.id} about {entry.spending.population}: {entry.statement.words()}.")


@click.command("populations")
@ledger_option
@answers
def populations(*, where: str | None) -> None:
    """List the populations: who answers for them, who the people are, which sources were read, which limit holds."""
    found = Ledger.open(where, make=False).populations()
    lines = [line for one in found for line in _about(one)] or ["The ledger has no populations yet."]
    answer({"populations": [one.to_dict() for one in found]}, *lines)


def _about(one: Population) -> list[str]:
    facts = {
        "owner": one.owner,
        "people": one.description,
        "limit": one.limit and one.limit.words(),
        "waits": one.threshold and one.threshold.words(),
        "overlaps": ", ".join(one.overlapping),
        "others": ", ".join(one.others),
        "sources": ", ".join(one.sources),
    }
    told = [f"  {name:<9} {value}" for name, value in facts.items() if value]
    return [f"{one.name}: {one.releases} releases", *told]


@click.command("describe")
@click.argument("population")
@click.option("--owner", required=True, metavar="NAME", help="Who answers for what is released about these people.")
@click.option("--description", required=True, metavar="TEXT", help="Who the people are.")
@by_option
@ledger_option
@answers
def describe(population: str, *, owner: str, description: str, by: str | None, where: str | None) -> None:
    """State who answers for POPULATION, and who its people are."""
    made = Ledger.open(where).describe(population, owner=owner, description=description, by=by)
    answer(made.to_dict(), f"{made.population}: {made.description}; owner {made.owner}")


@click.command("overlap")
@click.argument("population")
@click.argument("other")
@why_option
@by_option
@ledger_option
@answers
def overlap(population: str, other: str, *, why: str | None, by: str | None, where: str | None) -> None:
    """Declare that two populations have people in common: from then on what was released about both adds up.

    An overlap cannot be taken back.
    """
    made = Ledger.open(where).overlap(population, other, why=why, by=by)
    answer(made.to_dict(), f"{made.population} and {made.other} have people in common, and add up.")


@click.command("distinct")
@click.argument("population")
@click.argument("other")
@why_option
@by_option
@ledger_option
@answers
def distinct(population: str, other: str, *, why: str | None, by: str | None, where: str | None) -> None:
    """Declare that two populations are other people, although some of their ids agree as small numbers do.

    The certificates of releases that need it list it as an assumption. More ids in common than chance gives, or equal
    rows, are still refused.
    """
    made = Ledger.open(where).distinct(population, other, why=why, by=by)
    answer(
        made.to_dict(),
        f"{made.population} and {made.other} are other people: ids that agree by chance do not make them overlap.",
    )


@click.command("plan")
@click.argument("policy", type=click.Path(dir_okay=False))
@click.option("--epsilon", type=Parameter(), metavar="E", help="The limit of the total; by default the population's.")
@click.option("--delta", type=Parameter(), metavar="D", help="The limit of the total.")
@ledger_option
@answers
def plan_releases(policy: str, *, epsilon: float | None, delta: float | None, where: str | None) -> None:
    """Say how many more releases like POLICY fit a limit, next to all earlier ones about the same people.

    Each draws a fresh sample. They are counted as the limit counts, which holds also where a release reacts to earlier
    ones; without a limit of the population they are added up, those of a declared series as one by its curve.
    """
    ledger = Ledger.open(where, make=False)
    spending = pending.planned_spending(kinds.plan(load.load_policy(policy)))
    known = ledger.limits(spending.population)
    epsilon = known[-1].epsilon if epsilon is None and known else epsilon
    delta = known[-1].delta if delta is None and known else delta
    if epsilon is None or delta is None:
        message = f"{spending.population!r} has no limit. Pass --epsilon and --delta."
        raise InvalidInput(message, where="--epsilon", code="limit.missing")
    limit = known[-1] if known else Limit(spending.population, epsilon, delta, None, "--epsilon")
    order = None if limit.order is None else order_for(epsilon, delta)
    limit = msgspec.structs.replace(limit, epsilon=epsilon, delta=delta, order=order)
    count, so_far = ledger.releases_that_fit(spending, limit), ledger.accounts().usage(limit)
    if count is None or so_far is None:
        message = f"These releases have no differential privacy for {limit.relation.words} that adds up. Plan others."
        raise Refused(message, where="POLICY", code="does-not-add-up")
    stated = {"epsilon": epsilon, "delta": delta, "relation": limit.relation.value, "filter": limit.filter}
    together = f"; {spending.series} of them are one declared series" if spending.series > 1 else ""
    answer(
        {"population": spending.population, "releases": count, "so_far": so_far.to_dict(), "limit": stated},
        f"{spending.population}: {so_far.words()} so far ({so_far.reason()})",
        f"{count} more releases like this one fit epsilon {at_most(epsilon)}, delta {at_most(delta)}, each from a "
        f"fresh sample{together}.",
    )


@click.command("roles")
@answers
def roles() -> None:
    """Print the SQL of the roles for a ledger in PostgreSQL; its owner, who may make roles, runs it with psql.

    An operator begins and finishes releases, a steward also declares who the people are; an approver sets limits and
    thresholds, approves, and does not release. A reader sees releases and totals, and no keys. The database enforces
    all of it.
    """
    answer({"statements": list(role_statements())}, role_script())


COMMANDS = (limit, record, plan_releases, populations, describe, overlap, distinct, roles)
