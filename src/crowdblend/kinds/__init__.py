"""Every kind of release, each in a folder of its own: policy, plan, facts, view, verify, rehearse."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from crowdblend.errors import DoesNotVerify, NotProved
from crowdblend.guarantees.parameters import check_type
from crowdblend.numerics.balls import UndecidedBall
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.registry import part
from crowdblend.releases.delta_limit import check_delta, check_epsilon

if TYPE_CHECKING:
    from crowdblend.planning.parts import PartBudget
    from crowdblend.releases.plan import AnyPlan, AnyPolicy, Reading, ReleasePlan, Result

__all__ = ["AnyPlan", "AnyPolicy", "Reading", "ReleasePlan", "Result", "plan"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("crowdblend.releases.plan"), name)


class KindModule(Protocol):
    """The interface of a kind's module `plan`; the last three are of kinds that can be one of several publications."""

    def plan(self, policy: Any) -> AnyPlan:
        """Return the plan of a policy: nothing is left open."""

    def plan_part(self, policy: Any, budget: PartBudget) -> AnyPlan:
        """Return the publication with nothing left open, as a part of a sample."""

    def plan_noisy(self, policy: Any, epsilon: float, delta: float, sigma: float | None = None) -> AnyPlan:
        """Return the publication with noise of this loss everywhere; only kinds that can have it offer this.

        `delta` is what it may take of the budget's, before sampling; most need none. Kinds with `takes_gaussian` take
        a `sigma` too.
        """

    def takes_gaussian(self, policy: Any) -> bool:
        """Return whether the publication may have Gaussian noise instead."""


def plan(policy: AnyPolicy) -> AnyPlan:
    """Plan what the policy leaves open, or check that what it states can be guaranteed."""
    check_type("plan", policy, (Policy, PublicationPolicy), "a policy, such as Policy(…) or load_policy(…)")
    if isinstance(policy, Policy) and not policy.is_programme:
        policy = policy.only
    module = cast(KindModule, part(policy.kind, "plan"))
    try:
        planned = module.plan(policy)
        _check_proposals(planned)
        facts = planned.facts_with_proposals()
        check_epsilon(policy, facts.largest_epsilon)
        if facts.proposed:
            check_delta(policy, float(facts.whole_parameters["delta"]))
        return planned
    except (UndecidedBall, OverflowError, ZeroDivisionError) as problem:
        message = "The numbers of this policy are too extreme to be bounded rigorously."
        remedy = "Choose epsilon, delta, rate and k closer to the usual: docs/plan.md."
        raise NotProved(message, remedy=remedy, where="[privacy]", code="plan.not-proved") from problem


def _check_proposals(plan: AnyPlan) -> None:
    """Refuse proposals whose loss does not add up with that of what is planned.

    Noise, shares and delta of several publications, and of other kinds, follow from the numbers of their classes. Those
    were found in the data here, and a number of a certificate must be true for all that could have been found.
    """
    if plan.policy.proposed and plan.facts().loss_follows_from_domains:
        message = "Domains were proposed from the data, and the loss of this publication would follow from them."
        remedy = "Publish one table or microdata, or take domains from a code book and remove proposed."
        raise refusal("proposed", message, remedy, "[privacy] proposed")
    try:
        _ = plan.policy.proposed and plan.certificate()
    except DoesNotVerify as problem:
        message = (
            "What proposed the domains is about other ids, or this publication has no guarantee that adds up with it."
        )
        remedy = "Propose with the same person in [data], or take domains from a code book and remove proposed."
        raise refusal("proposed", message, remedy, "[privacy] proposed") from problem


# A policy in hand plans itself: the layer below is told how.
Policy._planner = plan
