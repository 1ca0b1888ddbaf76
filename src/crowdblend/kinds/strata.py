"""Tables and microdata from a stratified sample: each stratum is published by a mechanism with a k of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Derivation
from crowdblend.engines.engine import Engine, Progress
from crowdblend.errors import Infeasible
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.crowd_classes import internal_counts
from crowdblend.kinds.delta_limit import check_delta
from crowdblend.kinds.kind import Outcome, Publication, software
from crowdblend.kinds.outputs import CountsOutput, Output, RecordsOutput
from crowdblend.mechanisms import NoisyHistogram, PublishedClasses, SuppressedHistogram
from crowdblend.mechanisms.strata import publish_classes
from crowdblend.mechanisms.suppressed import SuppressedRecords
from crowdblend.planning.strata import StrataPlan, StratumPlan, plan_strata
from crowdblend.policies.microdata import Microdata
from crowdblend.policies.strata import Design
from crowdblend.policies.table import Table

if TYPE_CHECKING:
    from crowdblend.randomness import ReleaseKey

Histogram = SuppressedHistogram | NoisyHistogram


@dataclass(frozen=True)
class StratifiedPlan(ClassCountsPlan[ClassCountsReading]):
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

    def derivations(self, mechanisms: tuple[Histogram, ...]) -> tuple[Derivation, ...]:
        """The worst stratum counts; that a stratum blends into crowds of its k says nothing of the others."""
        return self.parameters.derivations(mechanisms)

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        policy = self.policy
        noisy = policy.below_k == "noise"
        return {
            "kind": policy.kind,
            "below_k": policy.below_k,
            "already_drawn": policy.sampling.already_drawn,
            "person": policy.data.person,
            "tables": {table.name: list(table.columns) for table in policy.tables},
            "parameters": self.parameters.to_dict(),
            **strata_facts(design_of_plan(self), self.parameters),
            "columns": {column.name: column.recoding.domain() for column in policy.columns},
            **({"show_from": None} if noisy else {}),
            "software": software(),
        }

    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        below = {"suppress": "suppressed", "noise": "noisy"}[self.policy.below_k]
        what = "a table" if self.policy.kind == "table" else "rows"
        return [*describe_strata(self, self.parameters), ("would publish", f"{what}, exact from that k, {below} below")]

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> ClassCountsReading:
        """Draw every stratum at its rate and count its classes."""
        return self.count(engine, key, progress)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The classes of all strata, each shown from the k of its stratum on."""
        del progress
        mechanisms = self.mechanisms
        published = publish_classes(mechanisms, reading.sample, self.parameters_column, key)
        internal = internal_counts(reading.sample, published)
        return Publication(self._outputs(published), mechanisms, None, internal)

    @property
    def parameters_column(self) -> str:
        """The column whose labels are the strata."""
        return design_of_plan(self).strata.column

    def _outputs(self, published: PublishedClasses) -> tuple[Output, ...]:
        ending, facts = self.policy.format, self.facts()
        if self.policy.kind == "microdata":
            return (RecordsOutput(f"data.{ending}", published),)
        if not self.policy.tables:
            return (CountsOutput(f"data.{ending}", published, facts),)
        return tuple(
            CountsOutput(f"{table.name}.{ending}", published.narrowed(table.columns), facts)
            for table in self.policy.tables
        )


def design_of_plan(plan: ClassCountsPlan[Any]) -> Design:
    """The design of a stratified plan."""
    design = plan.design
    assert design is not None, "a stratified plan has strata"
    return design


def strata_facts(design: Design, planned: StrataPlan) -> dict[str, Any]:
    """The column of the strata, and the rate and the k of each."""
    strata = {stratum.label: stratum.facts() for stratum in planned.strata}
    return {"strata": {"column": design.strata.column, "strata": strata}}


def describe_strata(plan: ClassCountsPlan[Any], planned: StrataPlan) -> list[tuple[str, str]]:
    """What would be read and sampled: rate and k of every stratum."""
    policy, design = plan.policy, design_of_plan(plan)
    columns = ", ".join(column.name for column in policy.columns)
    drawn = "was already drawn" if policy.sampling.already_drawn else "will be drawn"
    lines = [
        ("would read", f"{columns} from {Path(policy.data.source).name}"),
        ("would sample", f"the sample {drawn} by strata of {design.strata.column}"),
    ]
    for stratum in planned.strata[:12]:
        ends = f"{stratum.rate:g}" if stratum.low == stratum.high else f"{stratum.low:.3g} to {stratum.high:.3g}"
        lines.append(("", f"{stratum.label}: rate {ends}, k = {stratum.k}"))
    if len(planned.strata) > 12:
        lines.append(("", f"and {len(planned.strata) - 12:,} further strata"))
    return lines


def plan_stratified(policy: Any, **given: Any) -> StrataPlan:
    """Plan what the policy leaves open in every stratum, or check that all of it can be guaranteed."""
    strata = policy.design.strata.strata
    noisy = getattr(policy, "below_k", "suppress") == "noise"
    asked = {"k": policy.k, "epsilon": policy.epsilon, "delta": policy.delta if policy.planned else None}
    planned = plan_strata(strata, {**asked, "kind": policy.kind, **given}, noise_epsilon=_noise(policy), noisy=noisy)
    if min(stratum.k for stratum in planned.strata) == 1:
        raise Infeasible(
            "k = 1 hides nobody: sampling alone guarantees as much in one of the strata.",
            remedy="Lower delta, or state a larger k.",
            where="[release] k",
            code="plan.crowd-of-one",
        )
    if not policy.planned:
        if planned.delta > policy.delta:
            raise Infeasible(
                f"delta = {policy.delta:g} cannot be guaranteed: with this k and epsilon it is {planned.delta:.3g}.",
                remedy="Raise k, epsilon or delta, or lower the largest rate; or leave one of them out to be planned.",
                where="[release] delta",
                code="plan.delta-out-of-reach",
            )
        planned = replace(planned, delta=policy.delta)
    check_delta(policy, planned.delta)
    return planned


def _noise(policy: Any) -> float | None:
    return policy.noise_epsilon if policy.kind == "table" else None
