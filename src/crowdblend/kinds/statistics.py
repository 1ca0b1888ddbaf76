"""Statistics: averages, sums, quantiles, shares, counts and histograms, about everybody or a sample of exactly k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Derivation
from crowdblend.calculus.groups import derived_for_group
from crowdblend.engines.draw import Draw, Everybody, Exactly
from crowdblend.engines.engine import Engine, Progress, check_source
from crowdblend.errors import Infeasible
from crowdblend.guarantees.wording import at_least
from crowdblend.kinds.kind import Outcome, Publication, Reading, ReleasePlan, software
from crowdblend.kinds.statistic_values import Published, StatisticValues
from crowdblend.planning.statistics import EVERYBODY, SAMPLE, TotalsPlan, TotalsRequest, Way, plan_statistics
from crowdblend.policies.source import STDIN
from crowdblend.policies.statistic import Statistic
from crowdblend.policies.statistics import Statistics
from crowdblend.recoding.classes import LARGEST_DOMAIN

if TYPE_CHECKING:
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.engines.stepped import Crossing
    from crowdblend.engines.totals import Totals
    from crowdblend.kinds.outputs import NumbersOutput
    from crowdblend.kinds.strata_statistics import StrataStatisticsPlan
    from crowdblend.mechanisms.classes import SampledClasses
    from crowdblend.mechanisms.quantiles import ChosenQuantile, NoisyStatistics
    from crowdblend.mechanisms.totals import NoisyTotals, Whole
    from crowdblend.planning.statistics.ways import Mechanism
    from crowdblend.randomness import ReleaseKey

_WAYS = {EVERYBODY: "all people, with noise", SAMPLE: "a sample, with noise"}


@dataclass(frozen=True)
class TotalsReading(Reading):
    """What everybody, or a sample, or both add up to: the totals of every way that is taken.

    `crossed` has for numbers of groups and quantiles the people counted by steps and labels together.
    """

    people: int
    totals: Mapping[Mechanism, Totals]
    crossed: Mapping[tuple[Mechanism, Crossing], SampledClasses]

    @property
    def internal(self) -> dict[str, int]:
        return {"people_drawn": self.people}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """What went to the class `other` of a column, among everybody where they were added up.

        Nothing is added up where every statistic is a quantile or a number of groups.
        """
        largest = max(self.totals.values(), key=lambda some: some.people, default=None)
        return {} if largest is None else largest.outside


@dataclass(frozen=True)
class StatisticsPlan(ReleasePlan[Statistics, TotalsReading]):
    """A policy with nothing left open: the noise and the error of every statistic."""

    policy: Statistics
    parameters: TotalsPlan

    def derivations(self, mechanisms: tuple[NoisyTotals | NoisyStatistics, ...]) -> tuple[Derivation, ...]:
        """Zero-knowledge for one person, for a group if the policy has one, and differential privacy."""
        claims, group = [mechanism.claim() for mechanism in mechanisms], self.policy.group
        one = self.parameters.zero_knowledge_of(claims)
        together = () if group is None or group == 1 else (derived_for_group(one, group),)
        return (one, *together, self.parameters.differential_of(claims))

    @property
    def mechanisms(self) -> tuple[NoisyTotals | NoisyStatistics, ...]:
        """The noise on the totals of every way, and the choice of quantiles, as they are drawn and certified."""
        return tuple(_mechanism(way) for _, way in self.parameters.ways)

    def values(self, place: int) -> StatisticValues:
        """How the numbers of a statistic are computed."""
        return StatisticValues(self.policy, self.parameters, place)

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        policy = self.policy
        return {
            "kind": policy.kind,
            "person": policy.data.person,
            "parameters": {
                "epsilon": policy.epsilon,
                "sample": policy.samples,
                "people": policy.people,
                "confidence": policy.confidence,
            },
            "statistics": {made.name: self._described(place, made) for place, made in enumerate(policy.statistics)},
            "columns": {name: domains_of(policy, name) for name in policy.wanted},
            "software": software(),
        }

    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone: for every statistic both ways, and the one that is taken."""
        policy = self.policy
        columns = ", ".join(policy.wanted)
        lines = [
            ("would read", f"{columns} from {policy.data.name}"),
            ("would compare", f"with {policy.samples:,} random people of {policy.people:,}"),
        ]
        for place, made in enumerate(policy.statistics):
            way = self.parameters.way_of(place)
            counted = _WAYS[EVERYBODY if way.samples == way.population else way.mechanism]
            lines.append(("would publish", f"{made.name}: {made.words()}, {self._error_words(place)} from {counted}"))
            other = SAMPLE if way.mechanism == EVERYBODY else EVERYBODY
            if (instead := self._error_if_all(other, place)) is not None and way.samples < way.population:
                lines.append(("", f"±{shown(instead)} if all were from {_WAYS[other]}"))
        lines.append(("", f"each within its ± with a probability of at least {at_least(policy.confidence)}"))
        return lines

    def check_source(self, engine: Engine) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        check_source(engine, self.policy.data, self.policy.wanted, self.policy.resources)

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> TotalsReading:
        """Add up everybody, the sample, or both; then count what has to be counted by steps, in another reading."""
        from crowdblend.engines.stepped import crossing_of  # noqa: PLC0415  loads NumPy

        policy = self.policy
        plain = [made for made in policy.statistics if crossing_of(made) is None]
        columns = [column for column in policy.classes if column.name in labelled(plain)]
        measures = {name: bounds for name, bounds in policy.measures.items() if name in _summed(plain)}
        totals: dict[Mechanism, Totals] = {}
        crossed: dict[tuple[Mechanism, Crossing], SampledClasses] = {}
        with engine.open(policy.data, policy.wanted, policy.resources, progress) as source:
            for places, way in self.parameters.ways:
                draw = self._draw(way, key)
                if columns or measures:
                    totals[way.mechanism] = source.totals(columns, measures, draw)
                wanted = {crossing_of(policy.statistics[place]) for place in places} - {None}
                for crossing in sorted(filter(None, wanted), key=lambda one: (one.column, one.labels)):
                    counted = source.totals(crossing.columns(policy), {}, draw).classes
                    assert counted is not None, "there are columns to count by"
                    crossed[way.mechanism, crossing] = counted
        return TotalsReading(max(map(self._counted, self.parameters.ways)), totals, crossed)

    def _counted(self, taken: tuple[tuple[int, ...], Way]) -> int:
        """How many people a way counts: a source with another number of them is refused."""
        way = taken[1]
        return way.samples if way.mechanism == SAMPLE else way.population

    def _draw(self, way: Way, key: ReleaseKey) -> Draw:
        """Whom a way adds up."""
        return Everybody() if way.mechanism == EVERYBODY else Exactly(key.coin(), way.samples, self.policy.people)

    def publish(self, reading: TotalsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Every statistic with its noise, in the order of the policy."""
        del progress
        mechanisms = self.mechanisms
        noisy: dict[int, Whole | ChosenQuantile] = {}
        for (places, way), mechanism in zip(self.parameters.ways, mechanisms, strict=True):
            exact = [self.exact(place, way.mechanism, reading) for place in places]
            noisy |= zip(places, self.add_noise((places, way), mechanism, exact, key), strict=True)
        return Publication((self.output(noisy),), mechanisms)

    def add_noise(
        self,
        taken: tuple[tuple[int, ...], Way],
        mechanism: NoisyTotals | NoisyStatistics,
        exact: Sequence[Whole],
        key: ReleaseKey,
    ) -> Sequence[Whole | ChosenQuantile]:
        """The noisy totals and chosen quantiles of one way; rows of several releases may stand one below the other."""
        from crowdblend.mechanisms.quantiles import NoisyStatistics  # noqa: PLC0415  loads NumPy

        used = taken[1].mechanism
        source = key.source(f"noise on totals, {used}".encode())
        if isinstance(mechanism, NoisyStatistics):
            choices = key.source(f"quantiles, {used}".encode())
            return mechanism.publish(exact, self._counted(taken), source, choices)
        return mechanism.publish(exact, source)

    def output(self, noisy: Mapping[int, Whole | ChosenQuantile]) -> NumbersOutput:
        """The file, which follows from the noisy totals and chosen quantiles of every statistic alone."""
        return numbers_output(self.policy, self.published(noisy))

    def published(self, noisy: Mapping[int, Whole | ChosenQuantile]) -> dict[int, list[Published]]:
        """The numbers of every statistic; rows of several releases may stand one below the other."""
        from crowdblend.mechanisms.quantiles import ChosenQuantile  # noqa: PLC0415  loads NumPy

        values: dict[int, list[Published]] = {}
        for taken in self.parameters.ways:
            people = self._counted(taken)
            for place in taken[0]:
                numbers, found = self.values(place), noisy[place]
                values[place] = (
                    numbers.of_choice(found, people)
                    if isinstance(found, ChosenQuantile)
                    else numbers.of_totals([int(total) for total in found], people)
                )
        return values

    def of_totals(self, place: int, totals: Sequence[int]) -> list[Published]:
        """The numbers behind totals of everybody."""
        return self.values(place).of_totals(totals, self.policy.people)

    def exact(self, place: int, mechanism: Mechanism, reading: TotalsReading) -> Whole:
        """The exact totals of a statistic, or the people at each step of each group for a quantile."""
        from crowdblend.engines.stepped import crossing_of, group_totals, people_at_steps  # noqa: PLC0415

        made = self.policy.statistics[place]
        crossing = crossing_of(made)
        if crossing is None:
            return reading.totals[mechanism].of(made, self.policy.bins(made))
        bounds = self.policy.measures[str(made.column)]
        ranks = people_at_steps(reading.crossed[mechanism, crossing], made, bounds)
        return ranks if made.is_quantile else group_totals(ranks, made, bounds)

    def _error_if_all(self, mechanism: Any, place: int) -> float | None:
        error = self.parameters.error_if_all(mechanism, place)
        return None if error is None else self.values(place).in_unit(error)

    def _error_words(self, place: int) -> str:
        made, error = self.policy.statistics[place], shown(self.values(place).error)
        groups = ""
        if made.depends_on_groups:
            groups = " where groups are of equal size," if made.groups else " if they are all people,"
        return f"rank ±{error}{groups}" if made.is_quantile else f"±{error}{groups}"

    def _described(self, place: int, made: Statistic) -> dict[str, Any]:
        way = self.parameters.way_of(place)
        published = self.parameters.published_errors(place)
        return {
            **made.facts(),
            "way": way.mechanism,
            "samples": way.samples,
            "noise_epsilon": self.parameters.noise_epsilon(place),
            **self._stated_error(place, made),
            "error_everybody": self._error_if_all(EVERYBODY, place),
            "error_sample": self._error_if_all(SAMPLE, place),
            "error_published": {
                name: None if error is None else self.values(place).in_unit(error) for name, error in published.items()
            },
        }

    def _stated_error(self, place: int, made: Statistic) -> dict[str, float]:
        """The error as the certificate names it: in ranks or not, and of groups of equal size or of all."""
        unit = "rank_error" if made.is_quantile else "error"
        return {f"{unit}_of_equal_groups" if made.depends_on_groups else unit: self.values(place).error}


def numbers_output(policy: Statistics, values: Mapping[int, Sequence[Published]]) -> NumbersOutput:
    """The published numbers of every statistic, in the order of the policy."""
    from crowdblend.kinds.outputs import NumbersOutput  # noqa: PLC0415  loads NumPy

    rows = [
        (made.name, label, one)
        for place, made in enumerate(policy.statistics)
        for label, one in zip(policy.bins(made) or (None,), values[place], strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "statistic": [name for name, _, _ in rows],
        "bin": [label for _, label, _ in rows],
        "value": [one.value for _, _, one in rows],
        "error": [one.error for _, _, one in rows],
    }
    if any(made.is_quantile for made in policy.statistics):
        columns["rank_error"] = [one.rank_error for _, _, one in rows]
    return NumbersOutput(f"data.{policy.format}", columns, texts=("bin",), doubles=("error", "rank_error"))


def domains_of(policy: Statistics, name: str) -> list[dict[str, Any]]:
    """How a column is read: by its labels, within its bounds, or both."""
    domains = []
    if name in labelled(policy.statistics):
        domains += [column.recoding.domain(LARGEST_DOMAIN) for column in policy.classes if column.name == name]
    if any(made.measured and made.column == name for made in policy.statistics):
        domains.append(policy.measures[name].domain())
    return domains


def _mechanism(way: Way) -> NoisyTotals | NoisyStatistics:
    from crowdblend.mechanisms.quantiles import NoisyStatistics  # noqa: PLC0415  loads NumPy
    from crowdblend.mechanisms.totals import NoisyTotals  # noqa: PLC0415
    from crowdblend.planning.statistics import Shape  # noqa: PLC0415

    totals = tuple(shape for shape in way.shapes if isinstance(shape, Shape))
    if len(totals) == len(way.shapes):
        return NoisyTotals(totals, way.noise_epsilons)
    return NoisyStatistics(way.shapes, way.noise_epsilons)


def labelled(statistics: Sequence[Statistic]) -> set[str]:
    """The columns whose labels some statistic counts."""
    histograms = {str(made.column) for made in statistics if made.what == "histogram"}
    return histograms | {name for made in statistics for name in (*made.among, *made.groups)}


def _summed(statistics: Sequence[Statistic]) -> set[str]:
    """The columns whose steps are added up over everybody."""
    return {str(made.column) for made in statistics if made.measured}


def shown(error: float) -> str:
    """An error to four digits, rounded up."""
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(error))):.4g}"


def plan(policy: Statistics) -> StatisticsPlan | StrataStatisticsPlan:
    """Plan the noise of every statistic, and the sample where the policy leaves it to the errors."""
    if policy.design is not None:
        from crowdblend.kinds.strata_statistics import plan_strata  # noqa: PLC0415  it needs this module

        return plan_strata(policy, policy.design)
    if policy.sampling.sample is not None or policy.sampling.everybody:
        planned = _planned(policy, policy.samples)
        if not _accurate(planned):
            raise _infeasible(planned)
        return planned
    low, high = 1, policy.people
    planned = _planned(policy, high)
    if not _accurate(planned):
        raise _infeasible(planned)
    while low < high:
        middle = (low + high) // 2
        tried = _planned(policy, middle)
        if _accurate(tried):
            planned, high = tried, middle
        else:
            low = middle + 1
    return planned


def _planned(policy: Statistics, samples: int) -> StatisticsPlan:
    request = TotalsRequest(
        shapes=policy.shapes(),
        epsilon=policy.epsilon,
        samples=samples,
        population=policy.people,
        failure=policy.failure,
        mixed=policy.data.source != STDIN,
        plain=policy.sampling.everybody,
    )
    if policy.sampling.sample is None and not policy.sampling.everybody:
        policy = replace(policy, sampling=replace(policy.sampling, sample=samples))
    return StatisticsPlan(policy, plan_statistics(request))


def _accurate(planned: StatisticsPlan) -> bool:
    """Whether every statistic keeps to the error that is acceptable."""
    wanted = enumerate(made.error for made in planned.policy.statistics)
    return all(error is None or planned.values(place).error <= error for place, error in wanted)


def _infeasible(planned: StatisticsPlan) -> Infeasible:
    policy = planned.policy
    place, made = next(
        (place, made)
        for place, made in enumerate(policy.statistics)
        if made.error is not None and planned.values(place).error > made.error
    )
    who = f"{policy.samples:,} random people" if policy.samples < policy.people else "everybody"
    return Infeasible(
        f"With {who}, statistic {made.name[:60]!r} has an error of {shown(planned.values(place).error)}, above the "
        f"acceptable {made.error:g}.",
        remedy="Raise epsilon, sample, or the error; or publish fewer statistics, or give this one more weight.",
        where=f"statistic {made.name[:60]!r}",
        code="plan.error",
    )
