"""`crowdblend plan`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import click

from crowdblend.cli.output import Parameter, answer, answers, asks_for_json, emit, print_table, show, wrong_use
from crowdblend.kinds.shared.delta_limit import LARGEST_DELTA
from crowdblend.kinds.shared.facts import planned_releases
from crowdblend.methods.planning.designs import costs
from crowdblend.methods.planning.plan import SolvedPlan, plan
from crowdblend.notation import TOML, spell
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.guessing import guess_sentence, lead
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.guarantees.wording import at_least, at_most, close, exactly
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend import kinds
    from crowdblend.kinds.programme import plan as programme
    from crowdblend.kinds.programme.programme import ProgrammePlan
    from crowdblend.policies import load

NUMBER = Parameter()
TITLES = {"k": "crowd size k", "rate": "sampling rate", "epsilon": "epsilon", "delta": "delta"}


@click.command("plan", epilog="Example: crowdblend plan --rate 0.1 --epsilon 1 --delta 1e-6")
@click.argument("policy", required=False, type=click.Path(dir_okay=False))
@click.option("--rate", type=NUMBER, help="Share of people kept by the sampling, between 0 and 1.")
@click.option("--k", type=NUMBER, help="Crowd size, the person included.")
@click.option("--epsilon", type=NUMBER, help="Privacy loss: a person multiplies probabilities by at most e^epsilon …")
@click.option("--delta", type=NUMBER, help="… plus this much.")
@click.option("--releases", type=NUMBER, help="Epsilon and delta are for that many releases, each of a fresh sample.")
@click.option("--parts", type=NUMBER, help="How many tables, each from its own part of the sample.")
@answers
def command(policy: str | None, **parameters: Any) -> None:
    """Plan a policy, or a table from its parameters: leave exactly one of k, rate, epsilon and delta out.

    The answer is the smallest k, epsilon or delta, or the largest rate, for which the guarantee is proved, under every
    theorem that applies. No data are read.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if policy is None:
        _answer(plan(**given))
        return
    if given:
        message = f"{', '.join(f'--{name}' for name in given)} cannot be combined with a policy."
        raise wrong_use(message, "Write it into the policy, or leave POLICY out.", "POLICY")
    loaded = load.load_policy(policy)
    planned = kinds.plan(loaded)
    if loaded.is_programme:
        planned = programme.with_other_splits(cast("ProgrammePlan", planned))
    answer(plan_document(planned), *plan_lines(planned))


def plan_document(plan: kinds.AnyPlan) -> dict[str, object]:
    """Return the plan of a policy as JSON-ready data."""
    certificate = plan.certificate()
    words = [guarantee.words() for guarantee in certificate.guarantees]
    return {"kind": plan.policy.kind, **plan.summary(), "guarantees": words, "facts": certificate.facts}


def plan_lines(plan: kinds.AnyPlan, assumptions: tuple[Assumption, ...] = ()) -> list[str]:
    """Return what a policy will publish, what that guarantees, and what is assumed."""
    certificate = plan.certificate()
    stated = replace(certificate, stated=tuple(dict.fromkeys((*certificate.stated, *assumptions))))
    rows = [*plan.describe()]
    if sentence := lead(certificate.guarantees, planned_releases(certificate)):
        rows.append(("would mean", sentence))
    rows += [("guarantees", guarantee.words()) for guarantee in certificate.guarantees]
    rows += [("assuming", assumed.sentence()) for assumed in stated.assumptions()]
    return [f"{what:<14} {spell(how, TOML)}" for what, how in rows]


def _answer(plan: SolvedPlan) -> None:
    """Print the answer in words, then that of every theorem."""
    if asks_for_json():
        emit(plan.summary())
        return
    solved = plan.solved
    click.echo(f"{TITLES[solved]} = {_safe(solved, getattr(plan, solved))}   (rule {plan.rule})")
    guarantee = Differential(plan.epsilon, plan.delta, Relation.ADD_REMOVE)
    click.echo(guess_sentence(guarantee, plan.request.releases))
    click.echo(_sentence(plan))
    if plan.delta > LARGEST_DELTA:
        click.echo(
            f"crowdblend release refuses this delta, which is above {LARGEST_DELTA:g}: publishing one person in "
            f"{int(1 / plan.delta):,} in full would keep such a guarantee."
        )
    if plan.delta >= plan.sampled_with:
        click.echo(
            "This guarantees no more than sampling alone, which leaves people out with a probability of at least "
            f"{at_least(1 - plan.sampled_with)}. Raise k, or lower the rate or delta."
        )
    if plan.rate is not None and plan.epsilon > 0:
        share = max(plan.request.shares, default=1.0)
        # A register would divide epsilon among the releases, and among their tables.
        each = plan.epsilon / plan.request.releases / max(1, len(plan.request.shares))
        click.echo(spell(costs(plan.rate * share, plan.k, each), TOML))
    print_table(["theorem", TITLES[solved]], [[name, _safe(solved, value)] for name, value in plan.bounds.items()])


def _sentence(plan: SolvedPlan) -> str:
    """Return what the planned release guarantees."""
    request = plan.request
    rate = _safe("rate", plan.rate) if plan.solved == "rate" else exactly(plan.rate)
    sample = f"sample that keeps each person with probability {rate}"
    shown = f"only crowds of {plan.k} or more are published"
    if tables := len(request.shares):
        shown = f"{tables} tables, each from another part of it, are published with crowds of {plan.k} or more only"
    bound = close(plan.epsilon, plan.delta, Relation.ADD_REMOVE.otherwise())
    if request.releases > 1:
        return (
            f"{request.releases} releases, each from a fresh {sample}; {shown}: "
            f"whatever they publish together, its probability is {bound}."
        )
    return f"From a {sample}, {shown}: whatever is published, its probability is {bound}."


def _safe(name: str, value: object) -> str:
    """Return an answer to six digits, rounded so that what is shown is proved: a rate down, epsilon and delta up."""
    if not isinstance(value, float):
        return show(value)
    return at_least(value) if name == "rate" else at_most(value)
