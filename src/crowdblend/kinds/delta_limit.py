"""The largest delta that is published without a word from the steward.

A delta is kept by a release that publishes everybody in full with that probability, or each person with it. So one
that is not far below one over the number of people guarantees nothing that a reader would call a guarantee.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from crowdblend.errors import Infeasible
from crowdblend.guarantees.wording import at_most

if TYPE_CHECKING:
    from crowdblend.planning import Plan

LARGEST_DELTA = 1e-3


class DeltaPolicy(Protocol):
    """What the limit depends on."""

    @property
    def people(self) -> int | None:
        """How many people the population has, where that is declared."""

    @property
    def accept_delta(self) -> bool:
        """Whether the steward accepts a delta above the limit."""


def check_delta(policy: DeltaPolicy, delta: float) -> None:
    """Refuse a delta above 1e-3, or above one over the declared people, unless the policy accepts it."""
    limit = LARGEST_DELTA if policy.people is None else min(LARGEST_DELTA, 1 / policy.people)
    if delta <= limit or policy.accept_delta:
        return
    above = "1e-3" if limit == LARGEST_DELTA else f"one over the {policy.people} people of [data]"
    raise Infeasible(
        f"delta comes to {at_most(delta)}, above {above}: publishing one person in {max(1, int(1 / delta)):,} in full "
        "would keep such a guarantee.",
        remedy="Raise k or epsilon, lower the rate, or write delta = 1e-6 and leave k out; accept_delta = true in "
        "[release] accepts it as it is.",
        where="[release] delta",
        code="plan.delta",
    )


def with_stated_delta(planned: Plan, delta: float, given: str, remedy: str) -> Plan:
    """The plan with the delta of the policy; refuses one below what the parameters, named in `given`, come to."""
    if planned.delta > delta:
        raise Infeasible(
            f"delta = {delta:g} cannot be guaranteed: with these {given} it is {at_most(planned.delta)}.",
            remedy=remedy,
            where="[release] delta",
            code="plan.delta-out-of-reach",
        )
    return replace(planned, delta=delta)
