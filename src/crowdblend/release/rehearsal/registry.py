"""Which kinds of release can be audited, and how each is made a subject; a kind joins with one line.

A module has a function

    subject(policy, hard, *, name, people, understated, stacked, epsilon)

that returns something with the name and promise, `pairs()` and `observe(population, runs)` that the audit asks for.
`hard(k, rate, epsilon)` gives sizes of the audited person's crowd, by the reason for looking there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.release.kind import AnyPolicy

MODULES = {
    "table": "subject",
    "microdata": "subject",
    "points": "points",
    "outlier-table": "outliers",
    "statistics": "statistics",
    "synopsis": "synopsis",
    "graph": "graph",
}
Hard = Callable[[int, float, float], Mapping[str, int]]


def subject_of(
    policy: AnyPolicy,
    hard: Hard,
    *,
    name: str,
    people: int = 1_000,
    understated: float = 1.0,
    stacked: bool = False,
    epsilon: float | None = None,
) -> Any:
    """A policy as the audit sees it; `epsilon` asks for its promise at another ε, with the δ that goes with that."""
    if policy.kind not in MODULES:
        raise InvalidInput(
            f"a policy that is audited must be of the kind {', '.join(MODULES)}, got {policy.kind}. "
            "Audit its mechanism with --mechanism."
        )
    module = import_module(f"crowdblend.release.rehearsal.{MODULES[policy.kind]}")
    return module.subject(
        policy, hard, name=name, people=people, understated=understated, stacked=stacked, epsilon=epsilon
    )
