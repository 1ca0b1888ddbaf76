"""Tables, microdata and points from a stratified sample: each stratum has a mechanism with a k of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from crowdblend.designs import Strata
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading, ClassPolicy, published_strata
from crowdblend.kinds.delta_limit import check_delta, refuse_crowd_of_one, with_stated_delta
from crowdblend.kinds.kind import Lines
from crowdblend.mechanisms import NoisyHistogram, PublishedClasses, SuppressedHistogram
from crowdblend.mechanisms.strata import publish_classes
from crowdblend.planning.request import Form
from crowdblend.planning.strata import Rates, StrataPlan, plan_strata
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.randomness import ReleaseKey

PolicyT = TypeVar("PolicyT", bound=ClassPolicy)


@dataclass(frozen=True)
class StratifiedPlan(ClassCountsPlan[PolicyT], Generic[PolicyT]):
    """A policy with nothing left open: the k of every stratum, and what the certificate will say."""

    policy: PolicyT
    parameters: StrataPlan

    @property
    def sample(self) -> Strata:
        """The strata, or classes of weights, as they are sampled."""
        return published_strata(self.strata, already_drawn=self.policy.sampling.already_drawn)

    def summary(self) -> dict[str, Any]:
        return {**self.parameters.to_dict(), **super().summary()}

    def describe_strata(self, published: str) -> Lines:
        """What would happen, from the policy alone."""
        lines = [self.describe_reading(self.published_names), *describe_sample(self, self.parameters)]
        return [*lines, ("would publish", published)]

    def published_classes(self, reading: ClassCountsReading, key: ReleaseKey) -> PublishedClasses:
        """The classes of all strata, each shown from the k of its stratum on."""
        mechanisms = [one for one in self.mechanisms if isinstance(one, SuppressedHistogram | NoisyHistogram)]
        return publish_classes(mechanisms, reading.sample, self.strata.strata.column, key)


def describe_sample(plan: ClassCountsPlan[Any], planned: StrataPlan) -> Lines:
    """What would be sampled: rate and k of every stratum."""
    crowds = [f", k = {stratum.k}" for stratum in planned.strata]
    return describe_strata(plan.policy.sampling.already_drawn, plan.strata.strata.column, planned.strata, crowds)


def describe_strata(already_drawn: bool, column: str, strata: Sequence[Rates], more: Sequence[str] = ()) -> Lines:
    """How people are sampled by strata: the rate of each, with what else is said of it."""
    drawn = "was already drawn" if already_drawn else "will be drawn"
    if not column:
        return [("would sample", f"the sample {drawn} at rate {strata[0].rate}")]
    lines = [("would sample", f"the sample {drawn} by strata of {column}")]
    for place, stratum in enumerate(strata[:12]):
        rate = f"{stratum.rate:g}" if stratum.low == stratum.high else f"{stratum.low:.3g} to {stratum.high:.3g}"
        lines.append(("", f"{stratum.label}: rate {rate}{more[place] if more else ''}"))
    if len(strata) > 12:
        lines.append(("", f"and {len(strata) - 12:,} further strata"))
    return lines


def plan_stratified(
    policy: CrowdPolicy,
    form: Form,
    noise_epsilon: float | None = None,
    *,
    noisy: bool = False,
) -> StrataPlan:
    """Plan what the policy leaves open in every stratum, or check that all of it can be guaranteed."""
    assert policy.design is not None, "a stratified policy has strata"
    delta = policy.delta if policy.planned else None
    given: dict[str, Any] = {"k": policy.k, "epsilon": policy.epsilon, "delta": delta, "form": form}
    given |= {"noise_epsilon": noise_epsilon} if form == "moved" else {}
    planned = plan_strata(policy.design.strata.strata, given, noise_epsilon=noise_epsilon, noisy=noisy)
    refuse_crowd_of_one(min(stratum.k for stratum in planned.strata), " in one of the strata")
    if not policy.planned:
        assert policy.delta is not None
        remedy = "Raise k, epsilon or delta, or lower the largest rate; or leave one of them out to be planned."
        planned = with_stated_delta(planned, policy.delta, "k and epsilon", remedy)
    check_delta(policy, planned.delta)
    return planned
