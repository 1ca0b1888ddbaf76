"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.designs import Claims
from crowdblend.engines.engine import Progress
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import PartWithNoise
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import (
    CrowdClassesPlan,
    chosen_of,
    internal_counts,
    placed,
    plan_crowds,
    stated,
    suppressed_in_part,
)
from crowdblend.kinds.kind import Lines, Result
from crowdblend.kinds.outputs import counts_output, describe_shown
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.lazy import lazy
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.noisy import threshold_for
from crowdblend.planning.part_budget import PartBudget
from crowdblend.randomness import ReleaseKey

if TYPE_CHECKING:
    from crowdblend.kinds.table import register, stratified
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.selection import ChosenRecoding
else:
    register, stratified = lazy("crowdblend.kinds.table.register"), lazy("crowdblend.kinds.table.stratified")

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True)
class TablePlan(CrowdClassesPlan):
    """The plan of a table."""

    policy: TablePolicy

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram]:
        return (self.mechanism(),)

    def mechanism(self, chosen: ChosenRecoding | None = None) -> SuppressedHistogram | NoisyHistogram:
        """The histogram that is published; from which value on it shows cells depends on the chosen recoding."""
        parameters = self.parameters
        if parameters.noise_epsilon is None:
            return SuppressedHistogram(parameters.k)
        cells = self.policy.cells if chosen is None else self.policy.cells_at(chosen.node)
        assert cells is not None, "a noisy table has a closed domain"
        show_from = threshold_for(self.policy.show_from, cells, parameters.noise_epsilon)
        return NoisyHistogram(parameters.k, parameters.noise_epsilon, show_from, self.policy.flag)

    def facts(self, publication: Result | None = None) -> TableFacts:
        ran = self.mechanisms if publication is None else publication.mechanisms
        return self.facts_of(ran, chosen_of(publication))

    def facts_of(self, mechanisms: Sequence[Claims], chosen: ChosenRecoding | None) -> TableFacts:
        """What a release by these mechanisms says of itself."""
        (mechanism,) = mechanisms
        assert isinstance(mechanism, SuppressedHistogram | NoisyHistogram)
        return stated(TableFacts(**self.common_facts(chosen), mechanism=mechanism))

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        below = _BELOW[self.policy.below_k]
        exact = ("would publish", f"a table, exact from k = {self.parameters.k}, {below} below")
        lines = [*self.describe_sample(), exact, *self.describe_choice()]
        mechanism = self.mechanism()
        if isinstance(mechanism, NoisyHistogram) and self.policy.cells and self.policy.recoding is None:
            lines.append(("", describe_shown(mechanism, self.policy.cells, "cells")))
        return lines

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """The classes of the sample that are shown."""
        sample, chosen = self.sample_of(reading, key, progress)
        return self.publish_sample(sample, chosen, key)

    def publish_sample(self, sample: SampledClasses, chosen: ChosenRecoding | None, key: ReleaseKey) -> Result:
        """The table of a sample that is in the recoding in which it is published."""
        mechanism = self.mechanism(chosen)
        published = mechanism.publish(sample, key)
        output = counts_output(self.policy, published, self.facts_of((mechanism,), chosen))
        return Result((output,), (mechanism,), chosen, internal_counts(sample, published))


def plan(policy: TablePolicy) -> TablePlan | register.RegisterPlan | stratified.StratifiedTablePlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.sampling.everybody:
        return register.plan_register(policy)
    if policy.design is not None and policy.design.published:
        return stratified.plan_stratified_table(policy)
    return TablePlan(policy, plan_crowds(policy))


def plan_part(policy: TablePolicy, budget: PartBudget) -> TablePlan:
    """Plan the table of a part of a sample."""
    if policy.below_k == "suppress":
        own = suppressed_in_part(policy, budget)
    else:
        noise = budget.noise if policy.noise_epsilon is None else policy.noise_epsilon
        k = policy.k
        if k is None:
            k = budget.smallest_k(lambda size: PartWithNoise(budget.share, size, noise, policy.flag))
        own = placed(policy, budget, k, noise_epsilon=noise, releases=1)
    return TablePlan(own, plan_crowds(own))


def plan_noisy(policy: TablePolicy, epsilon: float) -> register.RegisterPlan:
    """Plan the table with noise of this loss on every cell, one of several that are about the same people."""
    if not policy.cells_are_listed or (policy.below_k == "suppress" and not policy.sampling.everybody):
        raise InvalidInput(
            'split = "budget" takes tables with noise on every cell of a closed domain of up to a million cells.',
            remedy='Write below_k = "noise", and coarser classes where there are more.',
            where="[[publish]] below_k",
            code="plan.not-noisy",
        )
    said = next((name for name in ("k", "noise_epsilon", "flag", "show_from") if getattr(policy, name)), None)
    if said is not None:
        raise InvalidInput(
            f'split = "budget" plans the noise of every cell, and {said} would be ignored.',
            remedy=f'Remove {said}, or write split = "people" or "fresh".',
            where=f"[[publish]] {said}",
            code="plan.not-noisy",
        )
    return register.plan_noisy(policy, epsilon)
