"""Tables: how many people are in each class, exact from k on, and suppressed or noisy below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from crowdblend.errors import Infeasible, NotProved
from crowdblend.kinds.shared.class_counts import ClassCountsReading
from crowdblend.kinds.shared.crowd_classes import CrowdClassesPlan, plan_recoded, state_facts
from crowdblend.kinds.shared.crowds import enough_for_rows, internal_counts, plan_in_part
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import counts_output, describe_shown
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.methods.mechanisms import NoisyHistogram, SuppressedHistogram
from crowdblend.methods.mechanisms.histograms import threshold_for
from crowdblend.methods.mechanisms.strata import publish_classes
from crowdblend.methods.planning.designs import noise_costs, register_costs
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.planning.plan import SolvedPlan
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartWithNoise
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.randomness import ReleaseKey

with lazy_imports():
    from crowdblend.kinds.table import register, threshold
    from crowdblend.methods.mechanisms import SampledClasses
    from crowdblend.methods.selection.lattice import Node

_BELOW = {"suppress": "suppressed", "noise": "noisy"}


@dataclass(frozen=True, repr=False)
class TablePlan(CrowdClassesPlan[TablePolicy, SuppressedHistogram | NoisyHistogram]):
    """The plan of a table."""

    def mechanism_of(self, stratum: SolvedPlan, choice: Node | None = None) -> SuppressedHistogram | NoisyHistogram:
        """Return the histogram that is published; from which value on it shows cells depends on the chosen recoding."""
        if stratum.crowd_loss is None:
            return SuppressedHistogram(stratum.k)
        cells = self.policy.cells if choice is None else self.policy.cells_at(choice)
        assert cells is not None, "a noisy table has a closed domain"
        show_from = threshold_for(self.policy.publication.show_from, cells, stratum.crowd_loss)
        return NoisyHistogram(stratum.k, stratum.crowd_loss, show_from, self.policy.publication.flag)

    @property
    def cells_are_apart(self) -> bool:
        # From which value on noisy cells are shown depends on their number.
        return super().cells_are_apart and self.policy.suppresses

    def facts(self, publication: Result | None = None) -> TableFacts:
        return state_facts(TableFacts(**self.recoded_facts(publication)))

    def describe(self) -> Lines:
        below = _BELOW[self.policy.publication.below_k]
        exact = ("would publish", f"a table, exact from {self.crowd_size}, {below} below")
        lines = [*self.describe_sample(), exact, *self.describe_choice()]
        mechanism = self.mechanisms[0]
        if isinstance(mechanism, NoisyHistogram) and self.policy.cells and not (self.policy.recoding or self.stratum):
            lines.append(("", describe_shown(mechanism, self.policy.cells, "cells")))
        return [*lines, *(("compared", line) for line in self._compare())]

    def _compare(self) -> Iterator[str]:
        """Yield what would err less, by how much: noise below k for sums of small cells, everybody for all of them."""
        policy, facts = self.policy, self.facts()
        plain = self.sample.has_one_rate and policy.cells_are_listed
        # Of several rows of a person, and of chosen labels, the others would have more noise.
        plain = plain and policy.recoding is None and not policy.unit.several
        if not plain or facts.rate is None or facts.epsilon <= 0:
            return
        each = facts.epsilon / policy.releases
        if policy.publication.below_k == "suppress" and facts.delta > 0:
            with suppress(Infeasible, NotProved):
                yield noise_costs(facts.rate, self.parameters.k, each, facts.delta / policy.releases)
        if self.sample.draws_here:
            yield register_costs(facts.rate, each)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        sample, chosen = self.sample_of(reading, key, progress)
        return self.publish_sample(sample, chosen, key)

    def publish_sample(self, sample: SampledClasses, choice: Node | None, key: ReleaseKey) -> Result:
        """Return the table of a sample that is in the recoding in which it is published."""
        mechanisms = tuple(self.mechanism_of(one, choice) for one in self.parameters.each.values())
        published = publish_classes(mechanisms, sample, self.stratum, key)
        ran = Result((), mechanisms, choice, internal_counts(sample, published))
        return replace(ran, outputs=(counts_output(self.policy, published, self.facts(ran)),))


class CrowdsMethod(Method[TablePolicy]):
    """Counts that are exact from k on; suppressed below, or noisy."""

    def plan(self) -> TablePlan:
        """Plan the one of k, rate, ε and δ that is left open, or check that all four can be guaranteed."""
        policy, table = self.policy, self.policy.publication
        below = {"below_k": table.below_k, "noise_epsilon": table.noise_epsilon, "flag": table.flag}
        return enough_for_rows(TablePlan(policy, plan_recoded(policy, "histogram", **below)))

    def plan_part(self, budget: PartBudget) -> TablePlan:
        policy, table = self.policy, self.policy.publication
        if table.below_k == "suppress":
            return TablePlan(*plan_in_part(policy, budget, "histogram", partial(PartInCrowds, budget.share)))

        def part(k: int, loss: float) -> PartWithNoise:
            return PartWithNoise(budget.share, k, loss, table.flag)

        def noise(own: PartBudget) -> float:
            return own.noise if table.noise_epsilon is None else table.noise_epsilon

        return TablePlan(*plan_in_part(policy, budget, "histogram", part, noise, below_k="noise", flag=table.flag))

    def plan_noisy(self, epsilon: float, delta: float) -> register.RegisterPlan:
        """Return the table with noise on every cell, whatever its size: about the same people nobody hides in k."""
        return self._everywhere.plan_noisy(epsilon, delta)

    def plan_gaussian(self, sigma: float) -> register.RegisterPlan | None:
        return self._everywhere.plan_gaussian(sigma)

    @property
    def _everywhere(self) -> register.EverywhereMethod:
        if self.policy.suppresses:
            raise register.not_noisy()
        return register.EverywhereMethod(self.policy)


def method(policy: TablePolicy) -> Method[TablePolicy]:
    """Return the method of a table: noise from a threshold on, noise everywhere, or crowds."""
    if policy.publication.below_k == "threshold":
        return threshold.ThresholdMethod(policy)
    return register.EverywhereMethod(policy) if policy.sampling.everybody else CrowdsMethod(policy)
