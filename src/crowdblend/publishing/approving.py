"""A policy is approved as it is written: its digest, its population, and what it plans to spend."""

from __future__ import annotations

from crowdblend.errors import InvalidInput
from crowdblend.kinds import AnyPlan
from crowdblend.ledger import Ledger
from crowdblend.ledger.approvals import Approval
from crowdblend.ledger.entry import normal_name
from crowdblend.publishing.pending import planned_spending, written_digest
from crowdblend.sources.engines.engine import Engine


def approve_policy(
    ledger: Ledger,
    population: str,
    plan: AnyPlan,
    engine: Engine,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    why: str | None = None,
    by: str | None = None,
) -> Approval:
    """Return the approval of one release of a planned policy about a population; no data are read.

    It may spend what the policy says, or the `epsilon` and `delta` that are passed.
    """
    named = plan.policy.data.population
    if named is not None and normal_name(named) != normal_name(population):
        message = f"The policy is about {named!r}, and not about {population!r}."
        remedy = "Name its population."
        raise InvalidInput(message, remedy=remedy, where="POPULATION", code="approval.another-population")
    loss = planned_spending(plan).loss
    if loss is not None:
        epsilon = loss.epsilon if epsilon is None else epsilon
        delta = loss.delta if delta is None else delta
    digest = written_digest(plan, engine)
    return ledger.approve(population, policy=digest, epsilon=epsilon, delta=delta, why=why, by=by)
