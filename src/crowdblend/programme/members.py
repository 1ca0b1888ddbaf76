"""The publications of a programme as its planning sees them: their kinds and sizes, and whether a plan keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from crowdblend.errors import CrowdblendError
from crowdblend.frozen import dataclass
from crowdblend.planning.parts import PartBudget
from crowdblend.policies.policy import Policy, Split
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal
from crowdblend.policies.registry import part as module_of
from crowdblend.programme.programme import ProgrammePlan
from crowdblend.releases.facts import derive
from crowdblend.releases.plan import AnyPlan

# What a publication without cells is taken to have, where shares are planned.
_USUAL_CELLS = 100


class PartKind(Protocol):
    """The interface of a kind's module `plan` for one of several publications."""

    def plan(self, policy: Any) -> AnyPlan:
        """Return the publication with nothing left open, from a sample of its own or from everybody."""

    def plan_part(self, policy: Any, budget: PartBudget) -> AnyPlan:
        """Return the publication with nothing left open, as a part of a sample."""

    def plan_noisy(self, policy: Any, epsilon: float, delta: float, sigma: float | None = None) -> AnyPlan:
        """Return the publication with noise of this loss everywhere; only kinds that can have it offer this.

        `delta` is what it may take of the budget's, before sampling; most need none. Kinds with `takes_gaussian` take
        a `sigma` too.
        """

    def takes_gaussian(self, policy: Any) -> bool:
        """Return whether the publication may have Gaussian noise instead."""


@dataclass(frozen=True)
class Budget:
    """The budget of all publications together, and the number of releases."""

    epsilon: float
    delta: float
    releases: int


def may_join(kind: str) -> bool:
    """Return whether publications of a kind can be among several."""
    return hasattr(module_of(kind, "plan"), "plan_part")


def keeps(plan: ProgrammePlan) -> bool:
    """Return whether the facts of the plan give what it states."""
    try:
        derive(plan.facts())
    except CrowdblendError:
        return False
    return True


def cells_of(parts: Sequence[PublicationPolicy]) -> list[int]:
    """Return how many cells publications have, up to a million; open labels are taken to be as many as the most."""
    known: list[int | None] = [getattr(part, "cells", _USUAL_CELLS) for part in parts]
    largest = max((cells for cells in known if cells is not None), default=_USUAL_CELLS)
    return [min(largest if cells is None else cells, 10**6) for cells in known]


def refuse_shares(policy: Policy, split: Split) -> None:
    """Refuse shares of a sample where nobody is divided among publications."""
    named: Publication | None = next((one for one in policy.publish if one.share is not None), None)
    if named is not None:
        message = f'Publication {named.name!r} has a share of the sample, and split = "{split}" has no parts.'
        raise refusal("shares", message, 'Remove share, or write split = "people".', "[[publish]] share")


def module_for(part: PublicationPolicy) -> PartKind:
    """Return what plans a publication as one of several; refuses kinds that cannot be."""
    if not may_join(part.kind):
        message = f'kind = "{part.kind}" is not certified as one of several publications.'
        raise refusal("split", message, "Publish it in a policy of its own.", "[[publish]] kind")
    return cast(PartKind, module_of(part.kind, "plan"))
