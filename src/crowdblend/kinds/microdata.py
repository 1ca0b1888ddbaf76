"""Microdata: recoded records, one row for each person whose record at least k sampled people have."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.engines.engine import Progress
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import CrowdClassesPlan, internal_counts, plan_crowds
from crowdblend.kinds.kind import Lines, Publication
from crowdblend.kinds.outputs import RecordsOutput
from crowdblend.kinds.strata import StratifiedPlan, plan_stratified
from crowdblend.mechanisms.suppressed import SuppressedRecords
from crowdblend.policies.microdata import Microdata
from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class MicrodataPlan(CrowdClassesPlan):
    """The plan of recoded records."""

    @property
    def mechanisms(self) -> tuple[SuppressedRecords]:
        return (SuppressedRecords(self.parameters.k),)

    def describe(self) -> Lines:
        rows = ("would publish", f"rows, exact from k = {self.parameters.k}, suppressed below")
        return [*self.describe_sample(), rows, *self.describe_choice()]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The records that are frequent enough."""
        sample, chosen = self.sample_of(reading, key, progress)
        (mechanism,) = self.mechanisms
        published = mechanism.publish(sample)
        output = RecordsOutput(f"data.{self.policy.format}", published)
        return Publication((output,), (mechanism,), chosen, internal_counts(sample, published))


def plan(policy: Microdata) -> MicrodataPlan | StratifiedPlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.design is not None and policy.design.published:
        return StratifiedPlan(policy, plan_stratified(policy))
    return MicrodataPlan(policy, plan_crowds(policy))
