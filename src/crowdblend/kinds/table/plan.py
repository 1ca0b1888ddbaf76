"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.designs import Claims
from crowdblend.designs.draw import Draw, Everybody
from crowdblend.engines.engine import Progress
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import CrowdClassesPlan, chosen_of, internal_counts, plan_crowds, stated
from crowdblend.kinds.kind import Lines, Publication
from crowdblend.kinds.outputs import CountsOutput, describe_shown, table_outputs
from crowdblend.kinds.table.facts import NamedTable, TableFacts
from crowdblend.kinds.table.policy import Table
from crowdblend.lazy import lazy
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.noisy import threshold_for
from crowdblend.mechanisms.parts import divide, draw_each
from crowdblend.randomness import DrawKey, ReleaseKey

if TYPE_CHECKING:
    from crowdblend.kinds.table import register, stratified
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.selection import ChosenRecoding
else:
    register, stratified = lazy("crowdblend.kinds.table.register"), lazy("crowdblend.kinds.table.stratified")

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True)
class TablePlan(CrowdClassesPlan):
    """The plan of a table, or of several tables from one sample."""

    policy: Table

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram, ...]:
        if self._each:
            return tuple(SuppressedHistogram(k) for k in self._each)
        return (self.mechanism(),)

    @property
    def _each(self) -> tuple[int, ...]:
        """The k of every table that has a part of the sample, or a fresh sample, of its own; none for sums of one."""
        if self.policy.sampling.fresh:
            return (self.parameters.k,) * len(self.policy.tables)
        return self.parameters.thresholds if self.policy.shares else ()

    def mechanism(self, chosen: ChosenRecoding | None = None) -> SuppressedHistogram | NoisyHistogram:
        """The histogram that is published; from which value on it shows cells depends on the chosen recoding."""
        parameters = self.parameters
        if parameters.noise_epsilon is None:
            return SuppressedHistogram(parameters.k)
        cells = self.policy.cells if chosen is None else self.policy.cells_at(chosen.node)
        assert cells is not None, "a noisy table has a closed domain"
        show_from = threshold_for(self.policy.show_from, cells, parameters.noise_epsilon)
        return NoisyHistogram(parameters.k, parameters.noise_epsilon, show_from, self.policy.flag)

    def facts(self, publication: Publication | None = None) -> TableFacts:
        return self.facts_of(self.mechanisms if publication is None else publication.mechanisms, chosen_of(publication))

    def facts_of(self, mechanisms: Sequence[Claims], chosen: ChosenRecoding | None) -> TableFacts:
        """What a release by these mechanisms says of itself."""
        each = [one for one in mechanisms if isinstance(one, SuppressedHistogram | NoisyHistogram)]
        own: list[SuppressedHistogram | None] = [None] * len(self.policy.tables)
        if self._each:
            own = [one for one in each if isinstance(one, SuppressedHistogram)]
        named = {
            table.name: NamedTable(columns=tuple(table.columns), mechanism=mechanism, share=table.share)
            for table, mechanism in zip(self.policy.tables, own, strict=True)
        }
        mechanism = None if self._each else each[0]
        return stated(TableFacts(**self.common_facts(chosen), mechanism=mechanism, named=named))

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        lines = self.describe_sample()
        for table, k in zip(self.policy.tables, self._each, strict=False):
            own = f"a share of {table.share} of the sample"
            if self.policy.sampling.fresh:
                own = f"a fresh sample of its own at rate {self.parameters.rate}"
            lines.append(("would publish", f"table {table.name} of {own}, exact from k = {k}, suppressed below"))
        if self._each:
            return lines
        below = _BELOW[self.policy.below_k]
        lines.append(("would publish", f"a table, exact from k = {self.parameters.k}, {below} below"))
        lines += self.describe_choice()
        mechanism = self.mechanism()
        if isinstance(mechanism, NoisyHistogram) and self.policy.cells and self.policy.recoding is None:
            lines.append(("", describe_shown(mechanism, self.policy.cells, "cells")))
        return lines

    def draw(self, coin: DrawKey) -> Draw:
        """Who is counted: everybody, where every table thins the counts by itself."""
        return Everybody(row_key=coin) if self.policy.sampling.fresh else super().draw(coin)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The classes of the sample that are shown."""
        sample, chosen = self.sample_of(reading, key, progress)
        if self.policy.shares:
            parts = divide(sample, self.policy.shares, key)
            return self._publish_each(parts, self._each, {"people_sampled": sample.people})
        if self.policy.sampling.fresh:
            assert self.parameters.rate is not None, "fresh samples are drawn at one rate"
            samples = draw_each(sample, self.parameters.rate, len(self.policy.tables), key)
            return self._publish_each(samples, self._each, {"people": sample.people})
        return self.publish_sample(sample, chosen, key)

    def publish_sample(self, sample: SampledClasses, chosen: ChosenRecoding | None, key: ReleaseKey) -> Publication:
        """The table of a sample that is in the recoding in which it is published."""
        mechanism = self.mechanism(chosen)
        published = mechanism.publish(sample, key)
        outputs = table_outputs(self.policy, published, self.facts_of((mechanism,), chosen).tables)
        return Publication(outputs, (mechanism,), chosen, internal_counts(sample, published))

    def _publish_each(
        self, samples: Sequence[SampledClasses], thresholds: Sequence[int], internal: dict[str, float]
    ) -> Publication:
        """Every table from its own part of the sample, or from its own sample."""
        mechanisms = [SuppressedHistogram(k) for k in thresholds]
        outputs: list[CountsOutput] = []
        tables = self.facts_of(mechanisms, None).tables
        for table, own, mechanism in zip(self.policy.tables, samples, mechanisms, strict=True):
            counted = own.narrowed(table.columns)
            published = mechanism.publish(counted)
            file = f"{table.name}.{self.policy.format}"
            outputs.append(CountsOutput(file, published, tables[table.name].laws))
            internal |= {f"{table.name}: {name}": n for name, n in internal_counts(counted, published).items()}
        return Publication(tuple(outputs), tuple(mechanisms), None, internal)


def plan(policy: Table) -> TablePlan | register.RegisterPlan | stratified.StratifiedTablePlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.sampling.everybody:
        return register.plan_register(policy)
    if policy.design is not None and policy.design.published:
        return stratified.plan_stratified_table(policy)
    return TablePlan(policy, plan_crowds(policy))
