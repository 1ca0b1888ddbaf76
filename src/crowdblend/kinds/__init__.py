"""Every kind of release, each in a module of its own that is loaded when a policy asks for it.

A module has a function `promise(policy)`: the policy with nothing left open, see `Promised`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from crowdblend.errors import NotProved
from crowdblend.guarantees.parameters import check_type
from crowdblend.kinds.kind import AnyPolicy, Promised
from crowdblend.numerics.balls import Undecided
from crowdblend.policies.policy import Policy

MODULES = {
    "table": "table",
    "microdata": "table",
    "statistics": "statistics",
    "synopsis": "synopsis",
    "points": "points",
    "outlier-table": "outlier_table",
    "graph": "graph",
}


class KindModule(Protocol):
    """What the module of a kind offers."""

    def promise(self, policy: Any) -> Promised:
        """What it promises."""


def module_of(kind: str) -> KindModule:
    """The module that knows a kind."""
    return cast(KindModule, import_module(f"{__name__}.{MODULES[kind]}"))


def promise(policy: AnyPolicy) -> Promised:
    """Plan what the policy leaves open, or check that what it states can be promised."""
    check_type("policy", policy, Policy, "a policy, such as Table(…) or load_policy(…)")
    try:
        return module_of(policy.kind).promise(policy)
    except (Undecided, OverflowError, ZeroDivisionError) as problem:
        raise NotProved(
            "The numbers of this policy are too extreme to be bounded rigorously.",
            remedy="Choose epsilon, delta, rate and k closer to the usual: docs/parameters.md.",
            where="[release]",
            code="plan.not-proved",
        ) from problem
