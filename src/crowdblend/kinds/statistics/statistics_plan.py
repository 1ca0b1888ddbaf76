"""Statistics: averages, sums, quantiles, shares, counts and histograms; what the plans of all methods share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.shared.plan import Reading, ReleasePlan, Result, software
from crowdblend.kinds.shared.series import one_of_series, series_of
from crowdblend.kinds.statistics.facts import StatisticFacts, StatisticsFacts, mechanisms_of
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.readings import labelled_columns
from crowdblend.kinds.statistics.statistic import Statistic, group_columns
from crowdblend.kinds.statistics.values import PublishedNumber, StatisticValues, values_of
from crowdblend.methods.designs import Design
from crowdblend.methods.mechanisms.statistics import ChosenQuantile, NoisyStatistics, Whole
from crowdblend.methods.planning.statistics.accuracy import QuantileShape
from crowdblend.methods.planning.statistics.choice import TotalsPlan
from crowdblend.methods.planning.statistics.strata_totals import StrataWay
from crowdblend.methods.planning.statistics.ways import Mechanism, Way
from crowdblend.methods.recoding.classes import LARGEST_DOMAIN
from crowdblend.methods.recoding.domain import Domain
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.randomness import ReleaseKey

Noisy: TypeAlias = Whole | ChosenQuantile
ReadingT = TypeVar("ReadingT", bound=Reading)
PlanT = TypeVar("PlanT", bound="StatisticsPlan[Any]")


@dataclass(frozen=True, repr=False)
class StatisticsPlan(ReleasePlan[StatisticsPolicy, ReadingT], Generic[ReadingT]):
    """A policy with nothing left open: the noise and the error of every statistic."""

    facts_class: ClassVar[type[StatisticsFacts]]
    policy: StatisticsPolicy
    parameters: TotalsPlan

    @property
    @abstractmethod
    def sample(self) -> Design:
        """Whom the guarantee is relative to."""

    @abstractmethod
    def exact(self, place: int, mechanism: Mechanism, reading: ReadingT) -> Whole:
        """Return the exact totals of a statistic, or the people at each step of each group for a quantile."""

    def samples_of(self, place: int) -> int | None:
        """Return the number of random people that a statistic is computed of, where that is fixed."""
        return None

    @abstractmethod
    def statistic_fields(self, place: int, statistic: Statistic) -> dict[str, Any]:
        """Return the noise and the error of a statistic as JSON-ready data."""

    @property
    def mechanisms(self) -> tuple[NoisyStatistics, ...]:
        return mechanisms_of(self.parameters)

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
            described[made.name] = StatisticFacts(
                way=self.parameters.way_of(place).mechanism,
                noise_epsilon=noise[place],
                samples=self.samples_of(place),
                **made.facts(),
            )
        return self.facts_class(
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
            **policy.unit.stated,
        )

    def summary(self) -> dict[str, Any]:
        """The parameters, and for every statistic its noise and its error: in ranks or not, of equal groups or not."""
        described = {
            made.name: self.statistic_fields(place, made)
            for place, made in enumerate(self.policy.publication.statistics)
        }
        return {**super().summary(), "statistics": described}

    def publish(self, reading: ReadingT, key: ReleaseKey, progress: Progress | None = None) -> Result:
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


def in_series(one: PlanT, policy: StatisticsPolicy) -> PlanT:
    """Return the plan of one release as that of a series."""
    return replace(one, policy=one.policy.replace(epsilon=policy.epsilon, releases=policy.releases))


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
