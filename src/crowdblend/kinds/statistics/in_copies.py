"""Statistics of a sample by coins, strata or weights, in which each person stands for several, or of a register.

Nothing says how many people there are, so that their number is noisy like any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.class_counts import ClassCountsReading, check_survey
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.plan import Lines
from crowdblend.kinds.shared.series import one_of_series
from crowdblend.kinds.statistics.facts import InCopiesFacts
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.readings import exact_in_copies, read_strata, strata_columns
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.kinds.statistics.statistics_plan import StatisticsPlan, in_series
from crowdblend.methods.designs import Design, Everybody
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.mechanisms.statistics import Whole
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.planning.statistics.choice import TotalsPlan
from crowdblend.methods.planning.statistics.strata_totals import StrataWay, plan_strata_statistics, weights_of_design
from crowdblend.methods.planning.statistics.ways import Mechanism
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.calculus.checker import MOST_STEPS
from crowdblend.trusted.guarantees.wording import at_least, round_up
from crowdblend.trusted.randomness import ReleaseKey


@dataclass(frozen=True, repr=False)
class InCopiesPlan(StatisticsPlan[ClassCountsReading]):
    """The noise of totals to which each person adds as often as their weight says."""

    facts_class = InCopiesFacts

    @property
    def way(self) -> StrataWay:
        """The one way in which all statistics are computed."""
        way = self.parameters.ways[0][1]
        assert isinstance(way, StrataWay)
        return way

    @property
    def sample(self) -> Design:
        """The people of the sample, of whom nobody says how many there are."""
        return self.policy.design

    def statistic_fields(self, place: int, statistic: Statistic) -> dict[str, Any]:
        return {
            "way": self.way.mechanism,
            "noise_epsilon": self.parameters.noise_epsilon(place),
            f"{'rank_error' if statistic.is_quantile else 'error'}_of_equal_groups": self.values(place).error,
        }

    def describe(self) -> Lines:
        lines, asked = [*self.describe_reading(), *self.sample.describe()], self.policy.publication
        for place, made in enumerate(asked.statistics):
            error = f"{'rank ' if made.is_quantile else ''}±{round_up(self.values(place).error, digits=4)}"
            lines.append(("would publish", f"{made.name}: {made.words()}, about {error}"))
        people = f"{self.policy.people:,} people, in groups of equal size"
        sure = f"errors are those of {people}; each is kept with probability {at_least(asked.confidence)}"
        return [*lines, ("", sure)]

    @property
    def names(self) -> list[str]:
        columns = strata_columns(self.policy, _strata_of(self.policy), self.way)
        return list(dict.fromkeys(column.name for column in columns)) or self.policy.needed_columns

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> ClassCountsReading:
        """Count everybody who is kept."""
        drawn = draw or self.sample.draw(key.coin())
        reading = read_strata(self.policy, _strata_of(self.policy), self.way, engine, drawn, progress)
        check_survey(self.sample, reading.counted, self.policy.unit)
        return reading

    def exact(self, place: int, mechanism: Mechanism, reading: ClassCountsReading) -> Whole:
        return exact_in_copies(self.policy, _strata_of(self.policy), self.way, place, reading)


class InCopiesMethod(Method[StatisticsPolicy]):
    """Totals of a sample in which each person stands for several, or of people of whom nobody says how many."""

    def plan(self) -> InCopiesPlan:
        """Plan the noise of every statistic."""
        policy = self.policy
        if policy.releases > 1:
            return in_series(InCopiesMethod(one_of_series(policy)).plan(), policy)
        sampled = policy.design
        if policy.with_others and (sampled.strata or sampled.people is not None):
            # What all publications lose follows from the most that anyone of the sample counts, and the largest rate.
            return self.plan_noisy(sampled.largest_loss(policy.epsilon), 0.0)
        return _plan_strata(policy)

    def plan_part(self, budget: PartBudget) -> InCopiesPlan:
        """Plan the statistics of a part of a sample.

        Their noise may lose as much as a person of the whole sample can lose. At the rate of the part alone that is the
        loss ln(1 + rate·(e^ε₀ − 1)).
        """
        drawn = self.policy.sampling
        own = self.policy.replace(sampling=drawn.thin_by(budget.share))
        if drawn.designed or drawn.people is not None:
            return InCopiesMethod(own).plan_noisy(budget.noise, 0.0)
        epsilon = math.log1p(budget.own_rate * math.expm1(budget.noise)) * (1 - 1e-12)
        return InCopiesMethod(own.replace(epsilon=epsilon)).plan()

    def plan_noisy(self, epsilon: float, delta: float) -> InCopiesPlan:
        return _plan_strata(self.policy.replace(epsilon=epsilon), Everybody())


def _strata_of(policy: StatisticsPolicy) -> DeclaredStrata:
    assert policy.strata is not None, "a sample has strata, of which one is enough"
    return policy.strata


def _plan_strata(policy: StatisticsPolicy, register: Everybody | None = None) -> InCopiesPlan:
    """Return the noise of every statistic of a sample; of those `register` it loses epsilon."""
    sampled = policy.design
    weights = weights_of_design(sampled, policy.unit.most)
    way = plan_strata_statistics(register or sampled, weights, policy.shapes(), policy.epsilon, policy.failure)
    way = replace(way, design=sampled)
    # Three guarantees derive from all of it, and one takes a step more.
    if 3 * way.steps + 1 > MOST_STEPS:
        message = "There are more statistics and rates of strata than fit one certificate."
        remedy = "Publish fewer statistics, or give strata of similar rates one rate."
        raise InvalidInput(message, remedy=remedy, where="`publish.statistics`", code="plan.steps")
    return InCopiesPlan(policy, TotalsPlan(way.shapes, ((tuple(range(len(way.shapes))), way),)))
