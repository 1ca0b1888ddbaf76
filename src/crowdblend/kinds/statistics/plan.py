"""Statistics: averages, sums, quantiles, shares, counts and histograms of everybody, exactly k people, or strata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from functools import cached_property
from typing import Any, TypeAlias

from crowdblend.calculus.checker import MOST_STEPS
from crowdblend.designs import Design, Everybody, Survey
from crowdblend.designs.draw import Draw
from crowdblend.engines.engine import Engine, Progress
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.wording import at_least
from crowdblend.kinds.statistics.facts import StatisticFacts, StatisticsFacts, mechanisms_of
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.readings import (
    TotalsReading,
    exact_in_copies,
    exact_totals,
    labelled_columns,
    read_strata,
    read_totals,
    strata_columns,
)
from crowdblend.kinds.statistics.statistic import Statistic, group_columns
from crowdblend.kinds.statistics.values import PublishedNumber, SampleValues, StatisticValues, values_of
from crowdblend.mechanisms.statistics import ChosenQuantile, NoisyStatistics, Whole
from crowdblend.planning.parts import PartBudget
from crowdblend.planning.statistics.accuracy import QuantileShape
from crowdblend.planning.statistics.choice import TotalsPlan, TotalsRequest, plan_statistics
from crowdblend.planning.statistics.strata_totals import StrataWay, plan_strata_statistics, weights_of_design
from crowdblend.planning.statistics.ways import EVERYBODY, SAMPLE, Mechanism, SampleWay, Way
from crowdblend.policies.source import STDIN
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.randomness import ReleaseKey
from crowdblend.recoding.classes import LARGEST_DOMAIN
from crowdblend.recoding.domain import Domain
from crowdblend.releases.class_counts import ClassCountsReading, check_survey, sample_of_numbers
from crowdblend.releases.method import Method
from crowdblend.releases.outputs import NumbersOutput
from crowdblend.releases.plan import Lines, ReleasePlan, Result, software
from crowdblend.releases.series import one_of_series, series_of

StatisticsReading: TypeAlias = TotalsReading | ClassCountsReading
Noisy: TypeAlias = Whole | ChosenQuantile

_WAYS: dict[Mechanism, str] = {EVERYBODY: "all people, with noise", SAMPLE: "a sample, with noise"}


@dataclass(frozen=True, repr=False)
class StatisticsPlan(ReleasePlan[StatisticsPolicy, StatisticsReading]):
    """A policy with nothing left open: the noise and the error of every statistic."""

    policy: StatisticsPolicy
    parameters: TotalsPlan

    @property
    def mechanisms(self) -> tuple[NoisyStatistics, ...]:
        return mechanisms_of(self.parameters)

    @property
    def strata(self) -> tuple[DeclaredStrata, StrataWay] | None:
        """The design and the way of strata or weights; None where a fixed number of people are drawn."""
        way = self.parameters.ways[0][1]
        return (self.policy.design, way) if self.policy.design and isinstance(way, StrataWay) else None

    @cached_property
    def planned_facts(self) -> StatisticsFacts:
        """The facts of the planned mechanisms: numbers and their errors follow from them."""
        return self.facts()

    def values(self, place: int) -> StatisticValues:
        """Return the values of a statistic."""
        return values_of(self.planned_facts, place)

    def facts(self, publication: Result | None = None) -> StatisticsFacts:
        policy = self.policy
        ran = self.mechanisms if publication is None else publication.mechanisms
        noise: dict[int, float] = {}
        for (places, _), mechanism in zip(self.parameters.ways, ran, strict=True):
            assert isinstance(mechanism, NoisyStatistics)
            noise |= zip(places, mechanism.noise_epsilons, strict=True)
        described = {}
        for place, made in enumerate(policy.publication.statistics):
            way = self.parameters.way_of(place)
            samples = way.samples if isinstance(way, Way) else None
            described[made.name] = StatisticFacts(
                way=way.mechanism, noise_epsilon=noise[place], samples=samples, **made.facts()
            )
        return StatisticsFacts(
            software=software(),
            person=policy.data.person,
            design=self.sample,
            epsilon=one_of_series(policy).epsilon,
            series=series_of(policy),
            confidence=policy.publication.confidence,
            people=policy.people,
            statistics_=described,
            columns={name: tuple(domains_of(policy, name)) for name in policy.needed_columns},
            group=policy.publication.group,
            rows_per_person=policy.rows_per_person,
        )

    def summary(self) -> dict[str, Any]:
        """The parameters, and for every statistic its noise and its error: in ranks or not, of equal groups or not."""
        described = {
            made.name: self._statistic_fields(place, made)
            for place, made in enumerate(self.policy.publication.statistics)
        }
        return {**super().summary(), "statistics": described}

    def _statistic_fields(self, place: int, statistic: Statistic) -> dict[str, Any]:
        way, unit = self.parameters.way_of(place), "rank_error" if statistic.is_quantile else "error"
        compared: dict[str, Any] = {}
        if isinstance(way, Way):
            errors = {f"error_{name}": self._error_if_all(name, place) for name in (EVERYBODY, SAMPLE)}
            compared = {"samples": way.samples, **errors}
        equal = "_of_equal_groups" if statistic.depends_on_groups or not isinstance(way, Way) else ""
        error = {f"{unit}{equal}": self.values(place).error}
        return {"way": way.mechanism, "noise_epsilon": self.parameters.noise_epsilon(place), **error, **compared}

    @property
    def sample(self) -> Design:
        """Whom the guarantee is relative to: this many random people, or those of a sample by coins."""
        if self.strata is None:
            return Survey(self.policy.samples, self.policy.people, self.policy.sampling.already_drawn)
        return sample_of_numbers(self.strata[0], self.policy.sampling)

    def describe(self) -> Lines:
        policy = self.policy
        if self.strata is None:
            drawn = "all" if policy.samples == policy.people else f"{policy.samples:,} random people of"
            compared = f"with {drawn} {policy.people:,}{' people, you concealed' if drawn == 'all' else ''}"
            lines = [*self.describe_reading(policy.needed_columns), ("would compare", compared)]
        else:
            lines = [*self.describe_reading(), *self.sample.describe()]
        for place, made in enumerate(policy.publication.statistics):
            lines += self._describe(place, made)
        sure_of = at_least(policy.publication.confidence)
        sure = f"each within its ± with a probability of at least {sure_of}"
        if self.strata is not None:
            people = f"{policy.people:,} people, in groups of equal size"
            sure = (
                f"errors are those of {people}; each is kept with probability {at_least(policy.publication.confidence)}"
            )
        return [*lines, ("", sure)]

    def _describe(self, place: int, statistic: Statistic) -> Lines:
        error = f"{'rank ' if statistic.is_quantile else ''}±{show_error(self.values(place).error)}"
        way = self.parameters.way_of(place)
        if not isinstance(way, Way):
            return [("would publish", f"{statistic.name}: {statistic.words()}, about {error}")]
        groups = ""
        if statistic.depends_on_groups:
            groups = " where groups are of equal size," if statistic.groups else " if they are all people,"
        counted = _WAYS[EVERYBODY if way.samples == way.population else way.mechanism]
        lines = [("would publish", f"{statistic.name}: {statistic.words()}, {error}{groups} from {counted}")]
        other = SAMPLE if way.mechanism == EVERYBODY else EVERYBODY
        if (instead := self._error_if_all(other, place)) is not None and way.samples < way.population:
            lines.append(("", f"±{show_error(instead)} if all were computed from {_WAYS[other]}"))
        return lines

    @property
    def names(self) -> list[str]:
        columns = [] if self.strata is None else strata_columns(self.policy, *self.strata)
        return list(dict.fromkeys(column.name for column in columns)) or self.policy.needed_columns

    def read(
        self, engine: Engine, key: ReleaseKey, progress: Progress | None = None, draw: Draw | None = None
    ) -> StatisticsReading:
        """Add up everybody, the sample, or both; of strata, count everybody who is kept."""
        if self.strata is not None:
            drawn = draw or self.sample.draw(key.coin())
            reading = read_strata(self.policy, *self.strata, engine, drawn, progress)
            check_survey(self.sample, reading.counted, one_row=not self.policy.data.keeps_some_rows)
            return reading
        assert draw is None, "a part of a sample is drawn by coins"
        return read_totals(self.policy, self.parameters, engine, key, progress)

    def exact(self, place: int, mechanism: Mechanism, reading: StatisticsReading) -> Whole:
        """Return the exact totals of a statistic, or the people at each step of each group for a quantile."""
        if isinstance(reading, TotalsReading):
            return exact_totals(self.policy, place, mechanism, reading)
        assert self.strata is not None
        return exact_in_copies(self.policy, *self.strata, place, reading)

    def publish(self, reading: StatisticsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        mechanisms = self.mechanisms
        noisy: dict[int, Noisy] = {}
        for (places, way), mechanism in zip(self.parameters.ways, mechanisms, strict=True):
            exact = [self.exact(place, way.mechanism, reading) for place in places]
            noisy |= zip(places, self.add_noise((places, way), mechanism, exact, key), strict=True)
        return Result((numbers_output(self.policy, self.published_numbers(noisy)),), mechanisms)

    def add_noise(
        self,
        numbered_way: tuple[tuple[int, ...], Way | StrataWay],
        mechanism: NoisyStatistics,
        exact: Sequence[Whole],
        key: ReleaseKey,
    ) -> Sequence[Noisy]:
        """The noisy totals and chosen quantiles of one way; rows of several releases may stand below each other."""
        way = numbered_way[1]
        chooses = any(isinstance(shape, QuantileShape) for shape in way.shapes)
        choices = key.source(f"quantiles, {way.mechanism}".encode()) if chooses else None
        return mechanism.publish(
            exact, key.source(f"noise on totals, {way.mechanism}".encode()), choices, way.people_counted
        )

    def published_numbers(self, noisy: Mapping[int, Noisy]) -> dict[int, list[PublishedNumber]]:
        """Return the numbers of every statistic; rows of several releases may stand one below the other."""
        values: dict[int, list[PublishedNumber]] = {}
        for places, way in self.parameters.ways:
            for place in places:
                numbers, found = self.values(place), noisy[place]
                values[place] = (
                    numbers.of_choice(found, way.people_counted)
                    if isinstance(found, ChosenQuantile)
                    else numbers.of_totals([int(total) for total in found], way.people_counted)
                )
        return values

    def _error_if_all(self, mechanism: SampleWay, place: int) -> float | None:
        error = self.parameters.error_if_all(mechanism, place)
        values = self.values(place)
        return values.in_unit(error) if isinstance(values, SampleValues) and error is not None else None


def numbers_output(policy: StatisticsPolicy, values: Mapping[int, Sequence[PublishedNumber]]) -> NumbersOutput:
    """Return the published numbers of every statistic, in the order of the policy."""
    rows = [
        (made.name, dict(zip(made.counted_by, labels, strict=True)), one)
        for place, made in enumerate(policy.publication.statistics)
        for labels, one in zip(policy.bins(made) or ((),), values[place], strict=True)
    ]
    groups = group_columns(policy.publication.statistics)
    columns: dict[str, list[str | float | None]] = {
        "statistic": [name for name, _, _ in rows],
        **{column: [labels.get(column) for _, labels, _ in rows] for column in groups},
        "value": [one.value for _, _, one in rows],
        "error": [one.error for _, _, one in rows],
    }
    if any(made.is_quantile for made in policy.publication.statistics):
        columns["rank_error"] = [one.rank_error for _, _, one in rows]
    return NumbersOutput(policy.file, columns, texts=groups, doubles=("error", "rank_error"))


def domains_of(policy: StatisticsPolicy, name: str) -> list[Domain]:
    """Return the domains of a column: its labels, its bounds, or both."""
    domains = []
    if name in labelled_columns(policy.publication.statistics):
        domains += [column.recoding.domain(LARGEST_DOMAIN) for column in policy.classes if column.name == name]
    if any(made.measured and made.column == name for made in policy.publication.statistics):
        domains.append(policy.measures[name].domain())
    return domains


def show_error(error: float) -> str:
    """Return an error to four digits, rounded up."""
    rounded = float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(error)))
    return f"{rounded:,.0f}" if 10_000 <= rounded < 1e15 else f"{rounded:.4g}"


class FixedSizeMethod(Method[StatisticsPolicy]):
    """Totals of a fixed number of people."""

    def plan(self) -> StatisticsPlan:
        """Plan the noise of every statistic, and the sample where the policy leaves it to the errors."""
        policy = self.policy
        if policy.releases > 1:
            return _in_series(FixedSizeMethod(one_of_series(policy)).plan(), policy)
        if policy.sampling.people is not None or policy.sampling.everybody:
            low = high = policy.samples
        else:
            low, high = 1, policy.people
        planned = _plan_statistics(policy, high)
        if (place := _too_far_off(planned)) is not None:
            made, samples = policy.publication.statistics[place], planned.policy.samples
            who = f"{samples:,} random people" if samples < policy.people else "everybody"
            raise Infeasible(
                f"With {who}, statistic {made.name[:60]!r} errs by {show_error(planned.values(place).error)}, above "
                f"the acceptable {made.error:g}.",
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


class InCopiesMethod(Method[StatisticsPolicy]):
    """Totals of a sample in which each person stands for several, or of people of whom nobody says how many."""

    def plan(self) -> StatisticsPlan:
        """Plan the noise of every statistic."""
        policy, design = self.policy, _design_of(self.policy)
        if policy.releases > 1:
            return _in_series(InCopiesMethod(one_of_series(policy)).plan(), policy)
        sampled = sample_of_numbers(design, policy.sampling)
        if policy.with_others and (sampled.strata or sampled.people is not None):
            # What all publications lose follows from the most that anyone of the sample counts, and the largest rate.
            return self.plan_noisy(sampled.largest_loss(policy.epsilon), 0.0)
        return _plan_strata(policy, design)

    def plan_part(self, budget: PartBudget) -> StatisticsPlan:
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

    def plan_noisy(self, epsilon: float, delta: float) -> StatisticsPlan:
        return _plan_strata(self.policy.replace(epsilon=epsilon), _design_of(self.policy), Everybody())


def method(policy: StatisticsPolicy) -> FixedSizeMethod | InCopiesMethod:
    """Return the method of statistics: of a fixed number of people, or of a sample by coins, strata or weights."""
    return FixedSizeMethod(policy) if policy.design is None else InCopiesMethod(policy)


def _design_of(policy: StatisticsPolicy) -> DeclaredStrata:
    assert policy.design is not None, "a sample has strata, of which one is enough"
    return policy.design


def _in_series(one: StatisticsPlan, policy: StatisticsPolicy) -> StatisticsPlan:
    """Return the plan of one release as that of a series."""
    return replace(one, policy=one.policy.replace(epsilon=policy.epsilon, releases=policy.releases))


def _plan_strata(policy: StatisticsPolicy, design: DeclaredStrata, register: Everybody | None = None) -> StatisticsPlan:
    """Return the noise of every statistic of a sample; of those `register` it loses epsilon."""
    sampled = sample_of_numbers(design, policy.sampling)
    weights = weights_of_design(sampled, policy.rows_per_person)
    way = plan_strata_statistics(register or sampled, weights, policy.shapes(), policy.epsilon, policy.failure)
    way = replace(way, design=sampled)
    # Three guarantees derive from all of it, and one takes a step more.
    if 3 * way.steps + 1 > MOST_STEPS:
        message = "There are more statistics and rates of strata than fit one certificate."
        remedy = "Publish fewer statistics, or give strata of similar rates one rate."
        raise InvalidInput(message, remedy=remedy, where="[[publish.statistics]]", code="plan.steps")
    return StatisticsPlan(policy, TotalsPlan(way.shapes, ((tuple(range(len(way.shapes))), way),)))


def _plan_statistics(policy: StatisticsPolicy, samples: int) -> StatisticsPlan:
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
    return StatisticsPlan(policy, plan_statistics(request))


def _too_far_off(plan: StatisticsPlan) -> int | None:
    """Return the place of a statistic that does not keep to the error that is acceptable; None if all do."""
    wanted = enumerate(made.error for made in plan.policy.publication.statistics)
    return next((place for place, error in wanted if error is not None and plan.values(place).error > error), None)
