"""`crowdblend ledger`: from where on releases wait for an approval, and approvals."""

from __future__ import annotations

from typing import Any

import click

from crowdblend.cli.engines import engine_option
from crowdblend.cli.ledger_team import by_option, ledger_option, why_option
from crowdblend.cli.output import Parameter, answer, answers, wrong_use
from crowdblend.ledger import Ledger
from crowdblend.ledger.approvals import NumberedApproval
from crowdblend.ledger.chain import DIGEST
from crowdblend.sources.engines.choice import engine_named
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend import kinds
    from crowdblend.policies import load
    from crowdblend.publishing import approving


@click.command("threshold", epilog="Example: crowdblend ledger threshold residents --epsilon 0.5")
@click.argument("population", required=False)
@click.option("--epsilon", type=Parameter(), metavar="E", help="A release beyond this epsilon waits.")
@click.option("--delta", type=Parameter(), metavar="D", help="A release beyond this delta waits.")
@click.option("--lift", is_flag=True, help="No release waits any longer.")
@by_option
@why_option
@ledger_option
@answers
def threshold(
    population: str | None,
    *,
    epsilon: float | None,
    delta: float | None,
    lift: bool,
    by: str | None,
    why: str | None,
    where: str | None,
) -> None:
    """Let releases about POPULATION beyond an epsilon or a delta wait for an approval, or show from where they wait.

    Without POPULATION it is about all of them. A release that waits is refused before its data are read, and says what
    to ask for. A release without an epsilon that adds up waits too. Who changes a threshold says why.
    """
    if lift and (epsilon is not None or delta is not None):
        raise wrong_use("--lift takes neither --epsilon nor --delta.", "Leave them out.", "--lift")
    if epsilon is None and delta is None and not lift:
        found = Ledger.open(where, make=False).thresholds(population)
        lines = [
            f"{one.at[:10]}  {one.words()} waits, set by {one.author}{f': {one.why}' if one.why else ''}"
            for one in found
        ] or ["No release waits for an approval."]
        answer({"population": population, "thresholds": [one.to_dict() for one in found]}, *lines)
        return
    made = Ledger.open(where).threshold(population, epsilon=epsilon, delta=delta, by=by, why=why)
    answer(made.to_dict(), f"{made.words()[:1].upper()}{made.words()[1:]} waits for an approval, set by {made.author}.")


@click.command("approve", epilog="Example: crowdblend ledger approve residents --policy policy.toml")
@click.argument("population")
@click.option("--policy", "named", required=True, metavar="FILE|DIGEST", help="The policy, or its digest.")
@click.option("--epsilon", type=Parameter(), metavar="E", help="What it may spend; by default what FILE says.")
@click.option("--delta", type=Parameter(), metavar="D", help="What it may spend; by default what FILE says.")
@engine_option
@by_option
@why_option
@ledger_option
@answers
def approve(
    population: str,
    *,
    named: str,
    epsilon: float | None,
    delta: float | None,
    engine: str,
    where: str | None,
    **who: Any,
) -> None:
    """Approve one release about POPULATION: of one policy, up to an epsilon and a delta.

    FILE is the policy, which is read and planned, and no data are; a release that waits says the DIGEST. One release
    uses the approval, also where it is stopped and resumed.
    """
    ledger = Ledger.open(where)
    if DIGEST.fullmatch(named):
        made = ledger.approve(population, policy=named, epsilon=epsilon, delta=delta, **who)
    else:
        plan = kinds.plan(load.load_policy(named))
        with engine_named(engine) as reads:
            made = approving.approve_policy(ledger, population, plan, reads, epsilon=epsilon, delta=delta, **who)
    answer(made.to_dict(), f"Approved by {made.author}: {made.words()}.")


@click.command("approvals")
@ledger_option
@answers
def approvals(*, where: str | None) -> None:
    """List all approvals, with the releases that used them."""
    found = Ledger.open(where, make=False).approvals()
    lines = [_line(one) for one in found] or ["The ledger has no approvals yet."]
    answer({"approvals": [one.to_dict() for one in found]}, *lines)


def _line(one: NumberedApproval) -> str:
    made = one.approval
    use = "not used" if one.used_by is None else f"used by release {one.used_by}"
    why = f": {made.why}" if made.why else ""
    return f"{one.number}  {made.at[:10]}  {made.words()}, {use}; approved by {made.author}{why}"


COMMANDS = (threshold, approve, approvals)
