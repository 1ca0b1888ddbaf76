"""Which kinds of release can be audited, and how each is made a subject; a kind joins with one line.

A module has a function

    subject(policy, asked)

that returns something with the name and promise, `pairs()` and `observe(population, runs)` that the audit asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds.kind import AnyPolicy

MODULES = {
    "table": "subject",
    "microdata": "subject",
    "points": "points",
    "outlier-table": "outlier_table",
    "statistics": "statistics",
    "synopsis": "synopsis",
    "graph": "graph",
}
Hard = Callable[[int, float, float], Mapping[str, int]]


@dataclass(frozen=True)
class Asked:
    """How a policy is to be audited.

    `hard(k, rate, epsilon)` gives sizes of the audited person's crowd, by the reason for looking there. `people` is how
    many there are made up, where the policy does not say. `understated` divides the ε of the promise. `stacked` runs
    many releases as one where that can be done. `epsilon` asks for the promise at another ε, with the δ that goes with
    that.
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


def subject_of(policy: AnyPolicy, hard: Hard, **asked: Any) -> Any:
    """A policy as the audit sees it, asked for as `Asked` has it."""
    if policy.kind not in MODULES:
        raise InvalidInput(
            f"a policy that is audited must be of the kind {', '.join(MODULES)}, got {policy.kind}. "
            "Audit its mechanism with --mechanism."
        )
    module = import_module(f"crowdblend.rehearsal.{MODULES[policy.kind]}")
    return module.subject(accepting_delta(policy), Asked(hard, **asked))


def accepting_delta(policy: Any) -> Any:
    """The policy with any delta accepted: an audit publishes nothing, and looks where guarantees are tight."""
    return replace(policy, accept_delta=True) if hasattr(policy, "accept_delta") else policy
