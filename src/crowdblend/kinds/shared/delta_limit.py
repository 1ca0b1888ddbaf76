"""The largest delta and epsilon that are published without a word from the steward.

A delta is kept by a release that publishes everybody in full with that probability, or each person with it. So one
that is not far below one over the number of people guarantees nothing that a reader would call a guarantee.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crowdblend.errors import Infeasible
from crowdblend.trusted.guarantees.wording import at_most

if TYPE_CHECKING:
    from crowdblend.methods.planning.plan import SolvedPlan

LARGEST_DELTA = 1e-3
LARGEST_EPSILON = 10.0


def check_delta(policy: Any, delta: float) -> None:
    """Refuse a delta above 1e-3, or above one over the declared people, unless the policy accepts it."""
    limit = LARGEST_DELTA if policy.people is None else min(LARGEST_DELTA, 1 / policy.people)
    if delta <= limit or policy.accept_delta:
        return
    # A delta of one digit that is not above the limit.
    exponent = math.floor(math.log10(limit))
    enough = min(float(f"{math.floor(limit / 10.0**exponent)}e{exponent}"), limit)
    above = "1e-3" if limit == LARGEST_DELTA else f"one over the {policy.people:,} people whom the policy states"
    raise Infeasible(
        f"delta comes to {at_most(delta)}, above {above}: publishing one person in {max(1, int(1 / delta)):,} in full "
        "would keep such a guarantee.",
        remedy="Raise k or epsilon, lower the rate, or write "
        f"`delta = {enough:g}` and leave k out; `privacy.accept_delta = true` accepts it as it is.",
        where="`privacy.delta`",
        code="plan.delta",
    )


def check_epsilon(policy: Any, epsilon: float) -> None:
    """Refuse an epsilon above 10 unless accepted: a guess is right all but one time in 20,000."""
    if epsilon > LARGEST_EPSILON and not policy.accept_epsilon:
        message = (
            f"epsilon comes to {at_most(epsilon)}, above {LARGEST_EPSILON:g}: that protects hardly anybody, since who "
            "guesses whether somebody's data were used may be right 99.99 % of the time."
        )
        remedy = "Lower it: 1 is usual. Whoever answers for it writes `privacy.accept_epsilon = true`."
        raise Infeasible(message, remedy=remedy, where="`privacy.epsilon`", code="plan.epsilon")


def require_more_than_sampling(plan: SolvedPlan) -> None:
    """Refuse crowds of one, which hide nobody, and a delta that sampling alone keeps."""
    if min(one.k for one in plan.each.values()) == 1:
        where = " in one of the strata" if len(plan.strata) > 1 else ""
        message = f"`k = 1` hides nobody: sampling alone guarantees as much{where}."
        remedy = "Lower delta, or state a larger k."
        raise Infeasible(message, remedy=remedy, where="`publish.k`", code="plan.crowd-of-one")
    if plan.delta >= plan.sampled_with:
        noise = plan.noise_epsilon
        raise Infeasible(
            f"`delta = {plan.delta:g}`{'' if noise is None else f' with `noise_epsilon = {noise:g}`'} is not below the "
            f"rate of {plan.sampled_with:g}: sampling alone guarantees as much.",
            remedy="Lower delta, raise k, or lower noise_epsilon where there is noise.",
            where="`privacy.delta`",
            code="plan.no-more-than-sampling",
        )


def with_stated_delta(plan: SolvedPlan, delta: float, parameter: str) -> SolvedPlan:
    """The plan with the delta of the policy; refuses one below what the parameters, named in `parameter`, come to."""
    if plan.delta > delta:
        message = f"`delta = {delta:g}` cannot be guaranteed: with these {parameter} it is {at_most(plan.delta)}."
        remedy = "Raise k, epsilon or delta, or lower the rate; or leave one of them out to be planned."
        raise Infeasible(message, remedy=remedy, where="`privacy.delta`", code="plan.delta-out-of-reach")
    return replace(plan, delta=delta)
