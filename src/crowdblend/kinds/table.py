"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdblend.calculus import Derivation
from crowdblend.engines.draw import Draw, Everybody
from crowdblend.engines.engine import Progress
from crowdblend.estimates import facts_of_table
from crowdblend.kinds.class_counts import ClassCountsReading
from crowdblend.kinds.crowd_classes import CrowdClassesPlan, chosen_of, internal_counts, plan_crowds
from crowdblend.kinds.kind import Facts, Lines, Outcome, Publication
from crowdblend.kinds.outputs import CountsOutput, describe_shown, table_outputs
from crowdblend.lazy import lazy
from crowdblend.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.mechanisms.noisy import threshold_for
from crowdblend.mechanisms.parts import divide, draw_each
from crowdblend.planning.plan import CrowdMechanism
from crowdblend.policies.table import Table
from crowdblend.randomness import DrawKey, ReleaseKey

if TYPE_CHECKING:
    from crowdblend.kinds import register, strata
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.selection import ChosenRecoding
else:
    register, strata = lazy("crowdblend.kinds.register"), lazy("crowdblend.kinds.strata")

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

    def derivations(self, mechanisms: Sequence[CrowdMechanism]) -> tuple[Derivation, ...]:
        """Those of the one table; tables of parts, and tables of fresh samples, have one guarantee together."""
        if self.policy.shares:
            return self.parameters.derivations_of_parts(mechanisms)
        if self.policy.sampling.fresh:
            return self.parameters.derivations_of_fresh_samples(mechanisms)
        return super().derivations(mechanisms)

    def mechanism(self, chosen: ChosenRecoding | None = None) -> SuppressedHistogram | NoisyHistogram:
        """The histogram that is published; from which value on it shows cells depends on the chosen recoding."""
        parameters = self.parameters
        if parameters.noise_epsilon is None:
            return SuppressedHistogram(parameters.k)
        cells = self.policy.cells if chosen is None else self.policy.cells_at(chosen.node)
        assert cells is not None, "a noisy table has a closed domain"
        show_from = threshold_for(self.policy.show_from, cells, parameters.noise_epsilon)
        return NoisyHistogram(parameters.k, parameters.noise_epsilon, show_from, self.policy.flag)

    def facts(self, outcome: Outcome = None) -> Facts:
        """Those of all classes, and from which value on noisy cells are shown."""
        facts = super().facts(outcome)
        mechanism, tables = self.mechanism(chosen_of(outcome)), self.policy.tables
        if isinstance(mechanism, NoisyHistogram):
            facts["show_from"] = mechanism.show_from
        each = zip(tables, self._each, strict=False)
        if self.policy.shares:
            facts["parts"] = {table.name: {"share": table.share, "k": k} for table, k in each}
        if self.policy.sampling.fresh:
            facts["fresh_samples"] = {table.name: {"rate": self.parameters.rate, "k": k} for table, k in each}
        return facts

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
        if isinstance(mechanism, NoisyHistogram):
            published = mechanism.publish(sample, key)
        else:
            published = mechanism.publish(sample)
        outputs = table_outputs(self.policy, published, self.facts(chosen))
        return Publication(outputs, (mechanism,), chosen, internal_counts(sample, published))

    def _publish_each(
        self, samples: Sequence[SampledClasses], thresholds: Sequence[int], internal: dict[str, float]
    ) -> Publication:
        """Every table from its own part of the sample, or from its own sample."""
        mechanisms = [SuppressedHistogram(k) for k in thresholds]
        outputs: list[CountsOutput] = []
        facts = self.facts()
        for table, own, mechanism in zip(self.policy.tables, samples, mechanisms, strict=True):
            counted = own.narrowed(table.columns)
            published = mechanism.publish(counted)
            file = f"{table.name}.{self.policy.format}"
            outputs.append(CountsOutput(file, published, facts_of_table(facts, table.name)))
            internal |= {f"{table.name}: {name}": n for name, n in internal_counts(counted, published).items()}
        return Publication(tuple(outputs), tuple(mechanisms), None, internal)


def plan(policy: Table) -> TablePlan | register.RegisterPlan | strata.StratifiedPlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.sampling.everybody:
        return register.plan_register(policy)
    if policy.design is not None and policy.design.published:
        return strata.StratifiedPlan(policy, strata.plan_stratified(policy))
    return TablePlan(policy, plan_crowds(policy))
