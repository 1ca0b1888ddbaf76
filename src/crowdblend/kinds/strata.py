"""Tables, microdata and points from a stratified sample: each stratum has a mechanism with a k of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.calculus import Derivation
from crowdblend.engines.engine import Progress
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.crowd_classes import internal_counts
from crowdblend.kinds.delta_limit import check_delta, refuse_crowd_of_one, with_stated_delta
from crowdblend.kinds.kind import Facts, Lines, Outcome, Publication
from crowdblend.kinds.outputs import RecordsOutput, table_outputs
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.strata import publish_classes
from crowdblend.mechanisms.suppressed import SuppressedRecords
from crowdblend.planning.strata import Rates, StrataPlan, StratumPlan, plan_strata
from crowdblend.policies.microdata import Microdata
from crowdblend.policies.strata import Design
from crowdblend.policies.table import Table
from crowdblend.randomness import ReleaseKey

if TYPE_CHECKING:
    from crowdblend.policies.points import Points

Histogram = SuppressedHistogram | NoisyHistogram


@dataclass(frozen=True)
class StratifiedPlan(ClassCountsPlan[Table | Microdata]):
    """A policy with nothing left open: the k of every stratum, and what the certificate will say."""

    policy: Table | Microdata
    parameters: StrataPlan

    @property
    def mechanisms(self) -> tuple[Histogram, ...]:
        """One for each stratum, in the order of the labels."""
        return tuple(map(self._mechanism, self.parameters.strata))

    def _mechanism(self, stratum: StratumPlan) -> Histogram:
        if self.policy.kind == "microdata":
            return SuppressedRecords(stratum.k)
        if stratum.noise_epsilon is None:
            return SuppressedHistogram(stratum.k)
        return NoisyHistogram(stratum.k, stratum.noise_epsilon, None)

    def derivations(self, mechanisms: Sequence[Histogram]) -> tuple[Derivation, ...]:
        """The worst stratum counts; that a stratum blends into crowds of its k says nothing of the others."""
        return self.parameters.derivations(mechanisms)

    def facts(self, outcome: Outcome = None) -> Facts:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        return {
            **self.common_facts(),
            "below_k": self.policy.below_k,
            "tables": {table.name: list(table.columns) for table in self.policy.tables},
            "parameters": self.parameters.to_dict(),
            **strata_facts(self.strata, self.parameters),
            **({"show_from": None} if self.policy.below_k == "noise" else {}),
        }

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        below = {"suppress": "suppressed", "noise": "noisy"}[self.policy.below_k]
        what = "a table" if self.policy.kind == "table" else "rows"
        published = ("would publish", f"{what}, exact from that k, {below} below")
        return [self.describe_reading(self.published_names), *describe_sample(self, self.parameters), published]

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The classes of all strata, each shown from the k of its stratum on."""
        del progress
        mechanisms, policy = self.mechanisms, self.policy
        published = publish_classes(mechanisms, reading.sample, self.strata.strata.column, key)
        internal = internal_counts(reading.sample, published)
        records = (RecordsOutput(f"data.{policy.format}", published),)
        outputs = table_outputs(policy, published, self.facts()) if policy.kind == "table" else records
        return Publication(outputs, mechanisms, None, internal)


def strata_facts(design: Design, planned: StrataPlan) -> Facts:
    """The column of the strata, and the rate and the k of each."""
    strata = {stratum.label: stratum.facts() for stratum in planned.strata}
    return {"strata": {"column": design.strata.column, "strata": strata}}


def describe_sample(plan: ClassCountsPlan[Table | Microdata] | ClassCountsPlan[Points], planned: StrataPlan) -> Lines:
    """What would be sampled: rate and k of every stratum."""
    crowds = [f", k = {stratum.k}" for stratum in planned.strata]
    return describe_strata(plan.policy.sampling.already_drawn, plan.strata.strata.column, planned.strata, crowds)


def describe_strata(already_drawn: bool, column: str, strata: Sequence[Rates], more: Sequence[str] = ()) -> Lines:
    """How people are sampled by strata: the rate of each, with what else is said of it."""
    drawn = "was already drawn" if already_drawn else "will be drawn"
    lines = [("would sample", f"the sample {drawn} by strata of {column}")]
    for place, stratum in enumerate(strata[:12]):
        rate = f"{stratum.rate:g}" if stratum.low == stratum.high else f"{stratum.low:.3g} to {stratum.high:.3g}"
        lines.append(("", f"{stratum.label}: rate {rate}{more[place] if more else ''}"))
    if len(strata) > 12:
        lines.append(("", f"and {len(strata) - 12:,} further strata"))
    return lines


def plan_stratified(policy: Table | Microdata | Points) -> StrataPlan:
    """Plan what the policy leaves open in every stratum, or check that all of it can be guaranteed."""
    assert policy.design is not None, "a stratified policy has strata"
    noise = None if isinstance(policy, Microdata) else policy.noise_epsilon
    given: Facts = {"k": policy.k, "epsilon": policy.epsilon, "delta": policy.delta if policy.planned else None}
    given |= {"kind": policy.kind, **({"noise_epsilon": noise} if policy.kind == "points" else {})}
    noisy = isinstance(policy, Table) and policy.below_k == "noise"
    planned = plan_strata(policy.design.strata.strata, given, noise_epsilon=noise, noisy=noisy)
    refuse_crowd_of_one(min(stratum.k for stratum in planned.strata), " in one of the strata")
    if not policy.planned:
        assert policy.delta is not None
        remedy = "Raise k, epsilon or delta, or lower the largest rate; or leave one of them out to be planned."
        planned = with_stated_delta(planned, policy.delta, "k and epsilon", remedy)
    check_delta(policy, planned.delta)
    return planned
