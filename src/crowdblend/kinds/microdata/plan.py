"""Microdata: recoded records, one row for each person whose record at least k sampled people have."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.engines.engine import Progress
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import (
    CrowdClassesPlan,
    chosen_of,
    internal_counts,
    plan_crowds,
    stated,
    suppressed_in_part,
)
from crowdblend.kinds.kind import Lines, Result, software
from crowdblend.kinds.microdata.facts import MicrodataFacts
from crowdblend.kinds.microdata.policy import MicrodataPolicy
from crowdblend.kinds.outputs import RecordsOutput
from crowdblend.kinds.strata import StratifiedPlan, plan_stratified
from crowdblend.mechanisms.suppressed import SuppressedRecords
from crowdblend.planning.part_budget import PartBudget
from crowdblend.randomness import ReleaseKey


@dataclass(frozen=True)
class MicrodataPlan(CrowdClassesPlan):
    """The plan of recoded records."""

    @property
    def mechanisms(self) -> tuple[SuppressedRecords]:
        return (SuppressedRecords(self.parameters.k),)

    def facts(self, publication: Result | None = None) -> MicrodataFacts:
        (mechanism,) = self.mechanisms if publication is None else publication.mechanisms
        assert isinstance(mechanism, SuppressedRecords)
        return stated(MicrodataFacts(**self.common_facts(chosen_of(publication)), mechanism=mechanism))

    def describe(self) -> Lines:
        rows = ("would publish", f"rows, exact from k = {self.parameters.k}, suppressed below")
        return [*self.describe_sample(), rows, *self.describe_choice()]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """The records that are frequent enough."""
        sample, chosen = self.sample_of(reading, key, progress)
        (mechanism,) = self.mechanisms
        published = mechanism.publish(sample)
        output = RecordsOutput(self.policy.file, published)
        return Result((output,), (mechanism,), chosen, internal_counts(sample, published))


@dataclass(frozen=True)
class StratifiedMicrodataPlan(StratifiedPlan[MicrodataPolicy]):
    """The plan of recoded records by strata."""

    @property
    def mechanisms(self) -> tuple[SuppressedRecords, ...]:
        """One for each stratum, in the order of the labels."""
        return tuple(SuppressedRecords(stratum.k) for stratum in self.parameters.strata)

    def facts(self, publication: Result | None = None) -> MicrodataFacts:
        design = self.sample
        ran = self.mechanisms if publication is None else publication.mechanisms
        each = [one for one in ran if isinstance(one, SuppressedRecords)]
        return MicrodataFacts(
            software=software(),
            person=self.policy.data.person,
            epsilon=self.parameters.epsilon,
            delta=self.parameters.delta,
            design=design,
            columns={column.name: column.recoding.domain() for column in self.policy.columns},
            strata=dict(zip(design.strata, each, strict=True)),
        )

    def describe(self) -> Lines:
        return self.describe_strata("rows, exact from that k, suppressed below")

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """The records of all strata that are frequent enough."""
        del progress
        published = self.published_classes(reading, key)
        output = RecordsOutput(self.policy.file, published)
        return Result((output,), self.mechanisms, internal=internal_counts(reading.sample, published))


def plan(policy: MicrodataPolicy) -> MicrodataPlan | StratifiedMicrodataPlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.design is not None and policy.design.published:
        return StratifiedMicrodataPlan(policy, plan_stratified(policy, "records"))
    return MicrodataPlan(policy, plan_crowds(policy))


def plan_part(policy: MicrodataPolicy, budget: PartBudget) -> MicrodataPlan:
    """Plan the records of a part of a sample."""
    own = suppressed_in_part(policy, budget)
    return MicrodataPlan(own, plan_crowds(own))
