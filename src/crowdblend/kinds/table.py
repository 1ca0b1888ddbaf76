"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Derivation
from crowdblend.engines.draw import Draw, Everybody
from crowdblend.engines.engine import Progress
from crowdblend.estimates import facts_of_table
from crowdblend.kinds.crowd_classes import CrowdClassesPlan, chosen_of, internal_counts, plan_crowds
from crowdblend.kinds.kind import Outcome, Publication
from crowdblend.kinds.outputs import CountsOutput, Facts, describe_shown
from crowdblend.mechanisms import NoisyHistogram, PublishedClasses, SuppressedHistogram
from crowdblend.mechanisms.fresh_samples import draw_each
from crowdblend.mechanisms.noisy import threshold_for
from crowdblend.mechanisms.parts import divide
from crowdblend.planning.plan import CrowdMechanism
from crowdblend.policies.table import Table

if TYPE_CHECKING:
    from crowdblend.kinds.class_counts import ClassCountsReading
    from crowdblend.kinds.recoding_choice import ChoiceReading
    from crowdblend.kinds.register import RegisterPlan
    from crowdblend.kinds.strata import StratifiedPlan
    from crowdblend.mechanisms import SampledClasses
    from crowdblend.randomness import DrawKey, ReleaseKey
    from crowdblend.selection import ChosenRecoding

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True)
class TablePlan(CrowdClassesPlan):
    """The plan of a table, or of several tables from one sample."""

    policy: Table

    @property
    def mechanisms(self) -> tuple[SuppressedHistogram | NoisyHistogram, ...]:
        if self.policy.shares:
            return tuple(SuppressedHistogram(k) for k in self.parameters.thresholds)
        if self.policy.sampling.fresh:
            return tuple(SuppressedHistogram(self.parameters.k) for _ in self.policy.tables)
        return (self.mechanism(),)

    def derivations(self, mechanisms: tuple[CrowdMechanism, ...]) -> tuple[Derivation, ...]:
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

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """Those of all classes, and from which value on noisy cells are shown."""
        facts = super().facts(outcome)
        mechanism = self.mechanism(chosen_of(outcome))
        if isinstance(mechanism, NoisyHistogram):
            facts["show_from"] = mechanism.show_from
        if self.policy.shares:
            facts["parts"] = {
                table.name: {"share": table.share, "k": k}
                for table, k in zip(self.policy.tables, self.parameters.thresholds, strict=True)
            }
        if self.policy.sampling.fresh:
            own = {"rate": self.parameters.rate, "k": self.parameters.k}
            facts["fresh_samples"] = {table.name: own for table in self.policy.tables}
        return facts

    def describe(self) -> list[tuple[str, str]]:
        if self.policy.shares:
            return [*self.describe_sample(), *self._describe_parts()]
        if self.policy.sampling.fresh:
            return [*self.describe_sample(), *self._describe_fresh_samples()]
        below = _BELOW[self.policy.below_k]
        table = ("would publish", f"a table, exact from k = {self.parameters.k}, {below} below")
        lines = [*self.describe_sample(), table, *self.describe_choice()]
        mechanism = self.mechanism()
        if isinstance(mechanism, NoisyHistogram) and self.policy.cells and self.policy.recoding is None:
            lines.append(("", describe_shown(mechanism, self.policy.cells, "cells")))
        return lines

    def _describe_parts(self) -> list[tuple[str, str]]:
        tables = zip(self.policy.tables, self.parameters.thresholds, strict=True)
        return [
            (
                "would publish",
                f"table {table.name} of a share of {table.share} of the sample, exact from k = {k}, suppressed below",
            )
            for table, k in tables
        ]

    def _describe_fresh_samples(self) -> list[tuple[str, str]]:
        k, rate = self.parameters.k, self.parameters.rate
        return [
            (
                "would publish",
                f"table {table.name} of a fresh sample of its own at rate {rate}, exact from k = {k}, suppressed below",
            )
            for table in self.policy.tables
        ]

    def draw(self, coin: DrawKey) -> Draw:
        """Who is counted: everybody, where every table thins the counts by itself."""
        return Everybody(row_key=coin) if self.policy.sampling.fresh else super().draw(coin)

    def publish(
        self, reading: ClassCountsReading | ChoiceReading, key: ReleaseKey, progress: Progress | None = None
    ) -> Publication:
        """The classes of the sample that are shown."""
        sample, chosen = self.sample_of(reading, key, progress)
        if self.policy.shares:
            parts = divide(sample, self.policy.shares, key)
            return self._publish_each(parts, self.parameters.thresholds, {"people_sampled": sample.people})
        if self.policy.sampling.fresh:
            assert self.parameters.rate is not None, "fresh samples are drawn at one rate"
            samples = draw_each(sample, self.parameters.rate, len(self.policy.tables), key)
            return self._publish_each(samples, (self.parameters.k,) * len(samples), {"people": sample.people})
        return self.publish_sample(sample, chosen, key)

    def publish_sample(self, sample: SampledClasses, chosen: ChosenRecoding | None, key: ReleaseKey) -> Publication:
        """The table of a sample that is in the recoding in which it is published."""
        mechanism = self.mechanism(chosen)
        if isinstance(mechanism, NoisyHistogram):
            published = mechanism.publish(sample, key)
        else:
            published = mechanism.publish(sample)
        outputs = self._outputs(published, self.facts(chosen))
        return Publication(outputs, (mechanism,), chosen, internal_counts(sample, published))

    def _publish_each(
        self, samples: Sequence[SampledClasses], thresholds: Sequence[int], internal: dict[str, Any]
    ) -> Publication:
        """Every table from its own part of the sample, or from its own sample."""
        mechanisms = [SuppressedHistogram(k) for k in thresholds]
        outputs: list[CountsOutput] = []
        facts = self.facts()
        for table, own, mechanism in zip(self.policy.tables, samples, mechanisms, strict=True):
            counted = own.narrowed(table.columns)
            published = mechanism.publish(counted)
            outputs.append(
                CountsOutput(f"{table.name}.{self.policy.format}", published, facts_of_table(facts, table.name))
            )
            internal |= {f"{table.name}: {name}": n for name, n in internal_counts(counted, published).items()}
        return Publication(tuple(outputs), tuple(mechanisms), None, internal)

    def _outputs(self, published: PublishedClasses, facts: Facts) -> tuple[CountsOutput, ...]:
        """One table, or those that the policy names: sums of what is published."""
        ending = self.policy.format
        if not self.policy.tables:
            return (CountsOutput(f"data.{ending}", published, facts),)
        return tuple(
            CountsOutput(f"{table.name}.{ending}", published.narrowed(table.columns), facts)
            for table in self.policy.tables
        )


def plan(policy: Table) -> TablePlan | RegisterPlan | StratifiedPlan:
    """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
    if policy.sampling.everybody:
        from crowdblend.kinds.register import plan_register  # noqa: PLC0415  only for a register

        return plan_register(policy)
    if policy.design is not None and policy.design.published:
        from crowdblend.kinds.strata import StratifiedPlan, plan_stratified  # noqa: PLC0415  only for strata

        return StratifiedPlan(policy, plan_stratified(policy))
    return TablePlan(policy, plan_crowds(policy))
