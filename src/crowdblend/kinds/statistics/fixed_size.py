"""Statistics of a fixed number of people: exactly k of n, or everybody, both of which are public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.errors import Infeasible
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.plan import Lines
from crowdblend.kinds.shared.series import one_of_series
from crowdblend.kinds.statistics.facts import FixedSizeFacts
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.readings import TotalsReading, exact_totals, read_totals
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.kinds.statistics.statistics_plan import StatisticsPlan, in_series
from crowdblend.kinds.statistics.values import SampleValues
from crowdblend.methods.designs import Design, Survey
from crowdblend.methods.designs.draw import Draw
from crowdblend.methods.mechanisms.statistics import Whole
from crowdblend.methods.planning.statistics.choice import TotalsRequest, plan_statistics
from crowdblend.methods.planning.statistics.ways import EVERYBODY, SAMPLE, Mechanism, SampleWay, Way
from crowdblend.policies.source import STDIN
from crowdblend.sources.engines.engine import Engine, Progress
from crowdblend.trusted.guarantees.wording import at_least, round_up
from crowdblend.trusted.randomness import ReleaseKey

_WAYS: dict[Mechanism, str] = {EVERYBODY: "all people, with noise", SAMPLE: "a sample, with noise"}


@dataclass(frozen=True, repr=False)
class FixedSizePlan(StatisticsPlan[TotalsReading]):
    """The noise of totals of exactly k people, or of everybody, whichever errs less."""

    facts_class = FixedSizeFacts

    @property
    def sample(self) -> Design:
        """This many random people."""
        return Survey(self.policy.samples, self.policy.people, self.policy.sampling.already_drawn)

    def samples_of(self, place: int) -> int:
        return self._way_of(place).samples

    def statistic_fields(self, place: int, statistic: Statistic) -> dict[str, Any]:
        way, unit = self._way_of(place), "rank_error" if statistic.is_quantile else "error"
        equal = "_of_equal_groups" if statistic.depends_on_groups else ""
        return {
            "way": way.mechanism,
            "noise_epsilon": self.parameters.noise_epsilon(place),
            f"{unit}{equal}": self.values(place).error,
            "samples": way.samples,
            **{f"error_{name}": self._error_if_all(name, place) for name in (EVERYBODY, SAMPLE)},
        }

    def describe(self) -> Lines:
        policy = self.policy
        drawn = "all" if policy.samples == policy.people else f"{policy.samples:,} random people of"
        compared = f"with {drawn} {policy.people:,}{' people, you concealed' if drawn == 'all' else ''}"
        lines = [*self.describe_reading(policy.needed_columns), ("would compare", compared)]
        for place, made in enumerate(policy.publication.statistics):
            lines += self._describe(place, made)
        sure = f"each within its ± with a probability of at least {at_least(policy.publication.confidence)}"
        return [*lines, ("", sure)]

    def _describe(self, place: int, statistic: Statistic) -> Lines:
        error = f"{'rank ' if statistic.is_quantile else ''}±{round_up(self.values(place).error, digits=4)}"
        way, groups = self._way_of(place), ""
        if statistic.depends_on_groups:
            groups = " where groups are of equal size," if statistic.groups else " if they are all people,"
        counted = _WAYS[EVERYBODY if way.samples == way.population else way.mechanism]
        lines = [("would publish", f"{statistic.name}: {statistic.words()}, {error}{groups} from {counted}")]
        other = SAMPLE if way.mechanism == EVERYBODY else EVERYBODY
        if (instead := self._error_if_all(other, place)) is not None and way.samples < way.population:
            lines.append(("", f"±{round_up(instead, digits=4)} if all were computed from {_WAYS[other]}"))
        return lines

    @property
    def names(self) -> list[str]:
        return self.policy.needed_columns

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> TotalsReading:
        """Add up everybody, the sample, or both."""
        assert draw is None, "a part of a sample is drawn by coins"
        return read_totals(self.policy, self.parameters, engine, key, progress)

    def exact(self, place: int, mechanism: Mechanism, reading: TotalsReading) -> Whole:
        return exact_totals(self.policy, place, mechanism, reading)

    def _way_of(self, place: int) -> Way:
        way = self.parameters.way_of(place)
        assert isinstance(way, Way)
        return way

    def _error_if_all(self, mechanism: SampleWay, place: int) -> float | None:
        error, values = self.parameters.error_if_all(mechanism, place), self.values(place)
        return values.in_unit(error) if isinstance(values, SampleValues) and error is not None else None


class FixedSizeMethod(Method[StatisticsPolicy]):
    """Totals of a fixed number of people."""

    def plan(self) -> FixedSizePlan:
        """Plan the noise of every statistic, and the sample where the policy leaves it to the errors."""
        policy = self.policy
        if policy.releases > 1:
            return in_series(FixedSizeMethod(one_of_series(policy)).plan(), policy)
        if policy.sampling.people is not None or policy.sampling.everybody:
            low = high = policy.samples
        else:
            low, high = 1, policy.people
        planned = _plan_statistics(policy, high)
        if (place := _too_far_off(planned)) is not None:
            made, samples = policy.publication.statistics[place], planned.policy.samples
            who = f"{samples:,} random people" if samples < policy.people else "everybody"
            raise Infeasible(
                f"With {who}, statistic {made.name[:60]!r} errs by {round_up(planned.values(place).error, digits=4)}, "
                f"above the acceptable {made.error:g}.",
                remedy="Raise epsilon, sample, or the error; or publish fewer statistics, or give this one more "
                "weight.",
                where=f"statistic {made.name[:60]!r}",
                code="plan.error",
            )
        while low < high:
            middle = (low + high) // 2
            tried = _plan_statistics(policy, middle)
            if _too_far_off(tried) is None:
                planned, high = tried, middle
            else:
                low = middle + 1
        return planned


def _plan_statistics(policy: StatisticsPolicy, samples: int) -> FixedSizePlan:
    request = TotalsRequest(
        shapes=policy.shapes(),
        epsilon=policy.epsilon,
        samples=samples,
        population=policy.people,
        failure=policy.failure,
        mixed=policy.data.source != STDIN,
        plain=policy.sampling.everybody or policy.sampling.already_drawn,
    )
    if policy.sampling.people is None and not policy.sampling.everybody:
        policy = policy.replace(sampling=policy.sampling.replace(people=samples))
    return FixedSizePlan(policy, plan_statistics(request))


def _too_far_off(plan: FixedSizePlan) -> int | None:
    """Return the place of a statistic that does not keep to the error that is acceptable; None if all do."""
    wanted = enumerate(made.error for made in plan.policy.publication.statistics)
    return next((place for place, error in wanted if error is not None and plan.values(place).error > error), None)
