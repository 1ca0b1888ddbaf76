"""Points from a stratified sample: the blocks of each stratum are published from a k of its own on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from crowdblend.calculus import Derivation
from crowdblend.engines.engine import Progress
from crowdblend.errors import InvalidInput
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.kind import Outcome, Publication
from crowdblend.kinds.points import PointsPlan, published_points, require_drawable
from crowdblend.kinds.strata import describe_strata, design_of_plan, plan_stratified, strata_facts
from crowdblend.mechanisms.points import NoisyPoints
from crowdblend.mechanisms.strata import publish_points
from crowdblend.planning.strata import StrataPlan
from crowdblend.policies.points import Points
from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class StratifiedPointsPlan(PointsPlan):
    """The plan of points by strata; `parameters` are those of the stratum with the largest k."""

    strata: StrataPlan

    @property
    def mechanisms(self) -> tuple[NoisyPoints, ...]:  # type: ignore[override]
        """One for each stratum, in the order of the labels; the noise is the same."""
        return tuple(replace(self.mechanism, k=stratum.k) for stratum in self.strata.strata)

    def derivations(self, mechanisms: tuple[NoisyPoints, ...]) -> tuple[Derivation, ...]:
        """The worst stratum counts."""
        return self.strata.derivations(mechanisms)

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """Those of all points, with the rate and the k of every stratum."""
        parameters = {**self.strata.to_dict(), "noise_epsilon": self.mechanism.noise_epsilon}
        return {**super().facts(outcome), "parameters": parameters, **strata_facts(design_of_plan(self), self.strata)}

    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        others = [line for line in super().describe() if line[0] not in ("would read", "would sample")]
        return [*describe_strata(self, self.strata), *others]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The points of every stratum, moved."""
        del progress
        mechanisms = self.mechanisms
        column = design_of_plan(self).strata.column
        published = publish_points(mechanisms, reading.sample, column, key)
        return published_points(self.policy, published, mechanisms, reading.sample.people, self.facts())


def plan_points_of_strata(policy: Points) -> StratifiedPointsPlan:
    """Plan the k of every stratum, or the one of epsilon and delta that is left out."""
    if policy.noise_epsilon is None:
        raise InvalidInput(
            "Points of a stratified sample need the noise of their policy.",
            remedy="Add noise_epsilon = 1.0, for example, and leave k out to have it planned.",
            where="[release] noise_epsilon",
            code="plan.unknown",
        )
    planned = plan_stratified(policy, noise_epsilon=policy.noise_epsilon)
    largest = max(planned.strata, key=lambda stratum: stratum.k)
    release_plan = StratifiedPointsPlan(policy, largest.parameters, planned)
    require_drawable(policy, release_plan.mechanism)
    return release_plan
