"""Methods: how a publication is planned by itself, as a part of a sample, and with a part of a budget.

A kind picks a method for a policy by `method(policy)` in its module `plan`. Programmes ask methods, plans and facts for
all that they need to know, so that a kind of another package is planned with others as ours are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import refusal

if TYPE_CHECKING:
    from crowdblend.kinds.shared.plan import AnyPlan
    from crowdblend.methods.planning.parts import PartBudget

PolicyT = TypeVar("PolicyT", bound=PublicationPolicy)


@dataclass(frozen=True)
class Method(Generic[PolicyT]):
    """A way to publish what a policy asks for, of a kind that may have several."""

    policy: PolicyT

    @abstractmethod
    def plan(self) -> AnyPlan:
        """Return the plan of the policy: nothing is left open."""

    def plan_part(self, budget: PartBudget) -> AnyPlan:
        """Return the publication with nothing left open, as a part of a sample."""
        message = f'`publish.kind = "{self.policy.kind}"` is not certified with a part of a sample.'
        remedy = 'Write `privacy.split = "fresh" | "budget"`, or publish it in a policy of its own.'
        raise refusal("split", message, remedy, "`privacy.split`")

    def plan_noisy(self, epsilon: float, delta: float) -> AnyPlan:
        """Return the publication with noise of this loss on all that it publishes, beside others about the same people.

        `delta` is what it may take of the budget's, before sampling; most need none.
        """
        message = f'`publish.kind = "{self.policy.kind}"` is not certified with a part of the budget.'
        remedy = 'Write `privacy.split = "people" | "fresh"`, or of a register publish it in a policy of its own.'
        raise refusal("split", message, remedy, "`privacy.split`")

    def plan_gaussian(self, sigma: float) -> AnyPlan | None:
        """Return the publication with Gaussian noise of this deviation on every cell; None where it takes none."""
        return None
