"""Readings for statistics, with exact totals of everybody, of a sample, or of all strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np

from crowdblend.designs.draw import Draw, Everybody, Exactly
from crowdblend.engines.engine import ClassCounts, Engine, Progress
from crowdblend.engines.outside_values import OutsideValues
from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.kinds.statistics.totals import (
    Crossing,
    crossing_of,
    fitting,
    group_numbers,
    group_totals,
    people_at_steps,
    totals_of,
)
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.statistics import Whole, count_in_copies
from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.choice import TotalsPlan
from crowdblend.planning.statistics.strata_totals import StrataWay
from crowdblend.planning.statistics.ways import EVERYBODY, Mechanism, Way
from crowdblend.policies.columns import Column
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.randomness import ReleaseKey
from crowdblend.recoding.bounded_recoding import BoundedRecoding, Steps
from crowdblend.releases.class_counts import ClassCountsReading, refusing_weights
from crowdblend.releases.plan import Reading

_LARGEST = 2**62


@dataclass(frozen=True)
class TotalsReading(Reading):
    """Totals of everybody, of a sample, or of both: one for every way that is taken.

    `crossed` has for numbers of groups and quantiles the people counted by steps and labels together.
    """

    people: int
    totals: Mapping[Mechanism, ClassCounts]
    crossed: Mapping[tuple[Mechanism, Crossing], SampledClasses]

    @property
    def internal(self) -> dict[str, int]:
        return {"people_drawn": self.people}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """Values that went to the class `other` of a column, among everybody where added up.

        Nothing is added up where every statistic is a quantile or a number of groups.
        """
        largest = max(self.totals.values(), key=lambda some: some.people, default=None)
        return {} if largest is None else largest.outside


def labelled_columns(statistics: Sequence[Statistic]) -> set[str]:
    """Return the columns whose labels some statistic counts."""
    histograms = {str(made.column) for made in statistics if made.what == "histogram"}
    return histograms | {name for made in statistics for name in (*made.among, *made.groups)}


def read_totals(
    policy: StatisticsPolicy, plan: TotalsPlan, engine: Engine, key: ReleaseKey, progress: Progress | None
) -> TotalsReading:
    """Add up everybody, the sample, or both; then count what has to be counted by steps, in another reading."""
    plain = [made for made in policy.statistics if crossing_of(made) is None]
    columns = [column for column in policy.classes if column.name in labelled_columns(plain)]
    summed = {made.column for made in plain if made.measured}
    measures = {name: bounds for name, bounds in policy.measures.items() if name in summed}
    totals: dict[Mechanism, ClassCounts] = {}
    crossed: dict[tuple[Mechanism, Crossing], SampledClasses] = {}
    with engine.open(policy.data, policy.needed_columns, policy.resources, progress) as source:
        for places, way in plan.ways:
            assert isinstance(way, Way), "strata are read in a way of their own"
            everybody = way.mechanism == EVERYBODY
            whole = everybody or policy.sampling.already_drawn
            draw: Draw = Everybody() if whole else Exactly(key.coin(), way.samples, policy.people)
            if columns or measures:
                totals[way.mechanism] = source.class_counts(columns, draw, measures)
            wanted = {crossing_of(policy.statistics[place]) for place in places} - {None}
            for crossing in sorted(filter(None, wanted), key=lambda one: (one.column, one.labels)):
                crossed[way.mechanism, crossing] = source.class_counts(crossing.columns(policy), draw).classes
    return TotalsReading(max(way.people_counted for _, way in plan.ways), totals, crossed)


def exact_totals(policy: StatisticsPolicy, place: int, mechanism: Mechanism, reading: TotalsReading) -> Whole:
    """Return the exact totals of a statistic, or the people at each step of each group for a quantile."""
    made = policy.statistics[place]
    crossing = crossing_of(made)
    if crossing is None:
        return totals_of(reading.totals[mechanism], made, policy.bins(made))
    bounds = policy.measures[str(made.column)]
    ranks = people_at_steps(reading.crossed[mechanism, crossing], made, bounds)
    return ranks if made.is_quantile else group_totals(ranks, made, bounds)


def strata_columns(policy: StatisticsPolicy, design: DeclaredStrata, way: StrataWay) -> list[Column]:
    """Return the columns to count: strata, labels, steps of numbers, and own weights last."""
    strata = [] if design.column is None else [design.column]
    wanted = labelled_columns(policy.statistics) - {column.name for column in strata}
    labels = [column for column in policy.classes if column.name in wanted]
    numbers = dict.fromkeys(str(made.column) for made in policy.statistics if made.measured)
    columns = [*strata, *labels, *(Column(name, (Steps(policy.measures[name]),)) for name in numbers)]
    if design.weighted and design.column is not None:
        unit = Decimal(way.weights.read_unit.numerator) / way.weights.read_unit.denominator
        columns.append(Column(design.column.name, (Steps(BoundedRecoding(0, unit * way.weights.largest, unit)),)))
    return columns


def read_strata(
    policy: StatisticsPolicy,
    design: DeclaredStrata,
    way: StrataWay,
    engine: Engine,
    draw: Draw,
    progress: Progress | None,
) -> ClassCountsReading:
    """Draw every stratum at its rate, and count its people by everything that is asked, in one reading."""
    columns = strata_columns(policy, design, way)
    names = list(dict.fromkeys(column.name for column in columns))
    with engine.open(policy.data, names, policy.resources, progress) as source, refusing_weights(design):
        counted = source.class_counts(columns, draw)
    largest = max((shape.steps for shape in way.shapes if isinstance(shape, Shape)), default=1)
    if counted.classes.people * way.weights.largest * max(largest, 1000) >= _LARGEST:
        message = "The weights and resolutions are too fine for totals of this many people."
        raise InvalidInput(message, remedy="Use coarser resolutions.", where="[columns]", code="data.totals")
    return ClassCountsReading(counted)


def exact_in_copies(
    policy: StatisticsPolicy, design: DeclaredStrata, way: StrataWay, place: int, reading: ClassCountsReading
) -> Whole:
    """Return the totals of a statistic in copies, or the copies at each step of each group for a quantile."""
    made, weights = policy.statistics[place], way.weights
    counted = count_in_copies(reading.sample, design.column_name or None, weights.copies, own=design.weighted)
    fits, counts = fitting(counted, made), counted.counts
    if made.what == "fraction":
        return np.array([counts[~fits].sum(), counts[fits].sum()], np.int64)
    names = (str(made.column),) if made.what == "histogram" else made.groups
    groups, number = group_numbers(counted, names)
    if not made.measured:
        totals = np.zeros(groups, np.int64)
        np.add.at(totals, number[fits], counts[fits])
        return totals
    bounds = policy.measures[str(made.column)]
    # Steps come after labels, so that the last column of that name has them.
    at = len(counted.columns) - 1 - counted.columns[::-1].index(str(made.column))
    ranks = np.zeros((groups, bounds.steps + 1), np.int64)
    np.add.at(ranks, (number[fits], counted.codes[fits, at]), counts[fits])
    return ranks if made.is_quantile else group_totals(ranks, made, bounds)
