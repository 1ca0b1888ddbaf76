"""Every kind of release, each in a folder of its own: policy, plan, facts, view, verify, rehearse."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdblend.errors import DoesNotVerify, NotProved
from crowdblend.kinds.shared.delta_limit import check_delta, check_epsilon
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.registry import part
from crowdblend.trusted.guarantees.parameters import check_type
from crowdblend.trusted.numerics.balls import UndecidedBall

if TYPE_CHECKING:
    from crowdblend.kinds.shared.method import Method
    from crowdblend.kinds.shared.plan import AnyPlan, AnyPolicy, Reading, ReleasePlan, Result

__all__ = ["AnyPlan", "AnyPolicy", "Reading", "ReleasePlan", "Result", "method_of", "plan"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("crowdblend.kinds.shared.plan"), name)


def method_of(policy: PublicationPolicy) -> Method[Any]:
    """Return the method that the kind of a publication picks for it."""
    found: Method[Any] = part(policy.kind, "plan").method(policy)
    return found


def plan(policy: AnyPolicy) -> AnyPlan:
    """Plan what the policy leaves open, or check that what it states can be guaranteed."""
    check_type("plan", policy, (Policy, PublicationPolicy), "a policy, such as Policy(…) or load_policy(…)")
    if isinstance(policy, Policy) and not policy.is_programme:
        policy = policy.only
    try:
        planned: AnyPlan = (
            part(policy.kind, "plan").plan(policy) if isinstance(policy, Policy) else method_of(policy).plan()
        )
        _check_proposals(planned)
        facts = planned.facts_with_proposals()
        check_epsilon(policy, facts.largest_epsilon)
        if facts.proposed:
            check_delta(policy, float(facts.whole_parameters["delta"]))
        return planned
    except (UndecidedBall, OverflowError, ZeroDivisionError) as problem:
        message = "The numbers of this policy are too extreme to be bounded rigorously."
        remedy = "Choose epsilon, delta, rate and k closer to the usual: docs/plan.md."
        raise NotProved(message, remedy=remedy, where="`privacy`", code="plan.not-proved") from problem


def _check_proposals(plan: AnyPlan) -> None:
    """Refuse proposals whose loss does not add up with that of what is planned.

    Noise, shares and delta of several publications, and of other kinds, follow from the numbers of their classes. Those
    were found in the data here, and a number of a certificate must be true for all that could have been found.
    """
    if plan.policy.proposed and plan.facts().loss_follows_from_domains:
        message = "Domains were proposed from the data, and the loss of this publication would follow from them."
        remedy = "Publish one table or microdata, or take domains from a code book and remove proposed."
        raise refusal("proposed", message, remedy, "`privacy.proposed`")
    try:
        _ = plan.policy.proposed and plan.certificate()
    except DoesNotVerify as problem:
        message = (
            "What proposed the domains is about other ids, or this publication has no guarantee that adds up with it."
        )
        remedy = "Propose with the same `data.person`, or take domains from a code book and remove proposed."
        raise refusal("proposed", message, remedy, "`privacy.proposed`") from problem
