"""Every kind of release by its name; the only list of them is that of their policies.

A kind has one name, and the same file name in every layer: policies/, kinds/, rehearsal/, reports/views/ and
publishing/verification/ each have a module of that name, loaded when a release of the kind is planned, rehearsed, shown
or verified. A test checks that every kind has its parts.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from crowdblend.errors import InvalidInput, NotProved
from crowdblend.guarantees.parameters import check_type
from crowdblend.kinds.delta_limit import check_epsilon
from crowdblend.kinds.kind import AnyPlan, AnyPolicy
from crowdblend.numerics.balls import Undecided
from crowdblend.policies.policy import Policy
from crowdblend.policies.registry import KINDS

__all__ = ["KINDS", "KindModule", "file_name", "plan"]


class KindModule(Protocol):
    """What the module of a kind offers."""

    def plan(self, policy: Any) -> AnyPlan:
        """The policy with nothing left open."""


def file_name(kind: str) -> str:
    """The name of a kind's module, the same in every layer.

    >>> file_name("outlier-table")
    'outlier_table'
    """
    if kind not in KINDS:
        raise InvalidInput(
            f"There is no kind {kind!r}.",
            remedy=f"Use one of {', '.join(KINDS)}.",
            where="[release] kind",
            code="policy.kind",
        )
    return kind.replace("-", "_")


def plan(policy: AnyPolicy) -> AnyPlan:
    """Plan what the policy leaves open, or check that what it states can be guaranteed."""
    check_type("plan", policy, Policy, "a policy, such as Table(…) or load_policy(…)")
    module = cast(KindModule, import_module(f"crowdblend.kinds.{file_name(policy.kind)}"))
    try:
        planned = module.plan(policy)
        check_epsilon(policy, planned.facts()["parameters"]["epsilon"])
        return planned
    except (Undecided, OverflowError, ZeroDivisionError) as problem:
        raise NotProved(
            "The numbers of this policy are too extreme to be bounded rigorously.",
            remedy="Choose epsilon, delta, rate and k closer to the usual: docs/parameters.md.",
            where="[release]",
            code="plan.not-proved",
        ) from problem


# A policy in hand plans itself: the layer below is told how.
Policy.planner = plan
