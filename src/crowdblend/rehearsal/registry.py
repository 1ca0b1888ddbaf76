"""A policy of any kind as the audit sees it.

A kind's module here has the kind's file name and a function

    subject(policy, request)

that returns something with a name, a guarantee, `pairs()` and `observe(population, runs)`: what the audit works with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds.kind import AnyPolicy
from crowdblend.kinds.registry import file_name

Hard = Callable[[int, float, float], Mapping[str, int]]


@dataclass(frozen=True)
class AuditRequest:
    """How a policy is to be audited.

    `hard(k, rate, epsilon)` gives sizes of the audited person's crowd, by the reason for looking there. `people` is how
    many there are made up, where the policy does not say. `understated` divides the ε of the guarantee. `stacked` runs
    many releases as one where that can be done. `epsilon` is another ε to audit at, with the δ that goes with it.
    """

    hard: Hard
    name: str
    people: int = 1_000
    understated: float = 1.0
    stacked: bool = False
    epsilon: float | None = None

    def leave_epsilon(self, to: str, because: str) -> None:
        """Refuse another ε where there is no other."""
        if self.epsilon is not None:
            raise InvalidInput(f"epsilon must be left to {to}: {because}. Drop it.")


def subject_of(policy: AnyPolicy, hard: Hard, **request: Any) -> Any:
    """A policy as the audit sees it; `request` has the fields of `AuditRequest`."""
    module = import_module(f"crowdblend.rehearsal.{file_name(policy.kind)}")
    return module.subject(accepting_delta(policy), AuditRequest(hard, **request))


def accepting_delta(policy: Any) -> Any:
    """The policy with any delta accepted: an audit publishes nothing, and looks where guarantees are tight."""
    return replace(policy, accept_delta=True) if hasattr(policy, "accept_delta") else policy
