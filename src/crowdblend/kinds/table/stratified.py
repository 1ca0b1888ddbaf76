"""Tables of a stratified or weighted sample: each stratum is shown, or exact, from a k of its own on."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.engines.engine import Progress
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import internal_counts
from crowdblend.kinds.kind import Lines, Result, software
from crowdblend.kinds.outputs import counts_output
from crowdblend.kinds.strata import StratifiedPlan, plan_stratified
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.planning.strata import StratumPlan
from crowdblend.randomness import ReleaseKey

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True)
class StratifiedTablePlan(StratifiedPlan[TablePolicy]):
    """The plan of a table by strata."""

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram, ...]:
        """One for each stratum, in the order of the labels."""
        return tuple(map(_mechanism, self.parameters.strata))

    def facts(self, publication: Result | None = None) -> TableFacts:
        policy, design = self.policy, self.sample
        ran = self.mechanisms if publication is None else publication.mechanisms
        each = [one for one in ran if isinstance(one, SuppressedHistogram | NoisyHistogram)]
        return TableFacts(
            software=software(),
            person=policy.data.person,
            epsilon=self.parameters.epsilon,
            delta=self.parameters.delta,
            design=design,
            columns={column.name: column.recoding.domain() for column in policy.columns},
            strata=dict(zip(design.strata, each, strict=True)),
        )

    def describe(self) -> Lines:
        return self.describe_strata(f"a table, exact from that k, {_BELOW[self.policy.below_k]} below")

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """The classes of all strata."""
        del progress
        published = self.published_classes(reading, key)
        output = counts_output(self.policy, published, self.facts())
        return Result((output,), self.mechanisms, internal=internal_counts(reading.sample, published))


def _mechanism(stratum: StratumPlan) -> SuppressedHistogram | NoisyHistogram:
    if stratum.noise_epsilon is None:
        return SuppressedHistogram(stratum.k)
    return NoisyHistogram(stratum.k, stratum.noise_epsilon, None)


def plan_stratified_table(policy: TablePolicy) -> StratifiedTablePlan:
    """Plan the k of every stratum, or check that what is stated can be guaranteed."""
    noisy = policy.below_k == "noise"
    return StratifiedTablePlan(policy, plan_stratified(policy, "histogram", policy.noise_epsilon, noisy=noisy))
