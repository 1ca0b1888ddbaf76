"""Readings for statistics, with exact totals of everybody, of a sample, or of all strata."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.class_counts import ClassCountsReading, refusing_weights, weight_columns
from crowdblend.kinds.shared.plan import Reading
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.methods.designs.draw import Draw, Everybody, Exactly
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.methods.mechanisms.statistics import Whole, count_in_copies
from crowdblend.methods.planning.statistics.accuracy import Shape
from crowdblend.methods.planning.statistics.choice import TotalsPlan
from crowdblend.methods.planning.statistics.strata_totals import StrataWay
from crowdblend.methods.planning.statistics.ways import EVERYBODY, Mechanism, Way
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding, Steps
from crowdblend.policies.columns import Column
from crowdblend.policies.strata import DeclaredStrata
from crowdblend.sources.engines.engine import ClassCounts, Engine, Progress
from crowdblend.sources.engines.outside_values import OutsideValues
from crowdblend.trusted.randomness import ReleaseKey

_LARGEST = 2**62


def crossing_of(statistic: Statistic) -> tuple[str, ...]:
    """Return the columns to count a statistic by, numbers last; none where class counts and sums are enough."""
    if not statistic.needs_steps:
        return ()
    return (*sorted({*statistic.among, *statistic.groups}), str(statistic.column))


@dataclass(frozen=True)
class TotalsReading(Reading):
    """Totals of everybody, of a sample, or of both: one for every way that is taken.

    `crossed` has for numbers of groups and quantiles the people counted by steps and labels together.
    """

    people: int
    totals: Mapping[Mechanism, ClassCounts]
    crossed: Mapping[tuple[Mechanism, tuple[str, ...]], SampledClasses]

    @property
    def internal(self) -> dict[str, int]:
        cut = next((counted.cut for counted in self.totals.values()), {})
        return {"people_drawn": self.people, **cut}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """Values that went to the class `other` of a column, among everybody where added up.

        Nothing is added up where every statistic is a quantile or a number of groups.
        """
        largest = max(self.totals.values(), key=lambda some: some.people, default=None)
        return {} if largest is None else largest.outside


def labelled_columns(statistics: Sequence[Statistic]) -> set[str]:
    """Return the columns whose labels some statistic counts."""
    return {name for made in statistics for name in (*made.among, *made.counted_by)}


def read_totals(
    policy: StatisticsPolicy, plan: TotalsPlan, engine: Engine, key: ReleaseKey, progress: Progress | None
) -> TotalsReading:
    """Add up everybody, the sample, or both; then count what has to be counted by steps, in another reading."""
    plain = [made for made in policy.publication.statistics if not crossing_of(made)]
    columns = [column for column in policy.classes if column.name in labelled_columns(plain)]
    summed = {made.column for made in plain if made.measured}
    measures = {name: bounds for name, bounds in policy.measures.items() if name in summed}
    known = {column.name: column for column in policy.classes}
    totals: dict[Mechanism, ClassCounts] = {}
    crossed: dict[tuple[Mechanism, tuple[str, ...]], SampledClasses] = {}
    with engine.open(policy.data, policy.needed_columns, policy.resources, progress) as source:
        for places, way in plan.ways:
            assert isinstance(way, Way), "strata are read in a way of their own"
            everybody = way.mechanism == EVERYBODY
            whole = everybody or policy.sampling.already_drawn
            draw: Draw = Everybody() if whole else Exactly(key.coin(), way.samples, policy.people)
            if columns or measures:
                totals[way.mechanism] = source.class_counts(columns, draw, measures)
            for *labels, numbers in sorted(
                {crossing_of(policy.publication.statistics[place]) for place in places} - {()}
            ):
                steps = Column(numbers, (Steps(policy.measures[numbers]),))
                counted = source.class_counts([*(known[name] for name in labels), steps], draw)
                crossed[way.mechanism, (*labels, numbers)] = counted.classes
    return TotalsReading(max(way.people_counted for _, way in plan.ways), totals, crossed)


def exact_totals(policy: StatisticsPolicy, place: int, mechanism: Mechanism, reading: TotalsReading) -> Whole:
    """Return the exact totals of a statistic, or the people at each step of each group for a quantile."""
    made = policy.publication.statistics[place]
    if crossing := crossing_of(made):
        bounds = policy.measures[str(made.column)]
        return totals_at_steps(reading.crossed[mechanism, crossing], made, bounds)
    counted = reading.totals[mechanism]
    if made.measured:
        return np.array([counted.sums[str(made.column)]], dtype=np.int64)
    return people_by_group(counted.classes, made)


def strata_columns(policy: StatisticsPolicy, design: DeclaredStrata, way: StrataWay) -> list[Column]:
    """Return the columns to count: strata, labels, steps of numbers, and own weights last."""
    strata = [] if design.column is None else [design.column]
    wanted = labelled_columns(policy.publication.statistics) - {column.name for column in strata}
    labels = [column for column in policy.classes if column.name in wanted]
    numbers = dict.fromkeys(str(made.column) for made in policy.publication.statistics if made.measured)
    columns = [*strata, *labels, *(Column(name, (Steps(policy.measures[name]),)) for name in numbers)]
    return columns + weight_columns(design, way.weights)


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
        raise InvalidInput(message, remedy="Use coarser resolutions.", where="`columns`", code="data.totals")
    return ClassCountsReading(counted)


def exact_in_copies(
    policy: StatisticsPolicy, design: DeclaredStrata, way: StrataWay, place: int, reading: ClassCountsReading
) -> Whole:
    """Return the totals of a statistic in copies, or the copies at each step of each group for a quantile."""
    made, weights = policy.publication.statistics[place], way.weights
    counted = count_in_copies(reading.sample, design.column_name or None, weights.copies, own=design.weighted)
    if isinstance(shape := way.shapes[place], Shape) and shape.sized and not made.measured:
        fits = fitting(counted, made)
        return np.array([counted.counts[~fits].sum(), counted.counts[fits].sum()], np.int64)
    if made.measured:
        return totals_at_steps(counted, made, policy.measures[str(made.column)])
    return people_by_group(counted, made)


def totals_at_steps(classes: SampledClasses, statistic: Statistic, bounds: BoundedRecoding) -> Whole:
    """Return the people at each step of each group for a quantile, else the totals of every group."""
    fits = fitting(classes, statistic)
    groups, number = group_numbers(classes, statistic.groups)
    # Steps come after labels, so that the last column of that name has them.
    at = len(classes.columns) - 1 - classes.columns[::-1].index(str(statistic.column))
    ranks = np.zeros((groups, bounds.steps + 1), dtype=np.int64)
    np.add.at(ranks, (number[fits], classes.codes[fits, at]), classes.counts[fits])
    return ranks if statistic.is_quantile else group_totals(ranks, statistic, bounds)


def people_by_group(classes: SampledClasses, statistic: Statistic) -> Whole:
    """Return the number of people in every group, or in all."""
    fits = fitting(classes, statistic)
    groups, number = group_numbers(classes, statistic.counted_by)
    found = np.zeros(groups, dtype=np.int64)
    np.add.at(found, number[fits], classes.counts[fits])
    return found


def fitting(classes: SampledClasses, statistic: Statistic) -> NDArray[np.bool_]:
    """Return the classes with the labels of the people who count."""
    fits = np.ones(len(classes.counts), dtype=np.bool_)
    for name, labels in statistic.among.items():
        place = classes.columns.index(name)
        accepted = [classes.labels[place].index(label) for label in labels]
        fits &= np.isin(classes.codes[:, place], accepted)
    return fits


def group_numbers(classes: SampledClasses, groups: tuple[str, ...]) -> tuple[int, NDArray[np.int64]]:
    """Return the number of groups, and the group of every class."""
    places = [classes.columns.index(name) for name in groups]
    sizes = [len(classes.labels[place]) for place in places]
    number = np.zeros(len(classes.counts), dtype=np.int64)
    for place, size in zip(places, sizes, strict=True):
        number = number * size + classes.codes[:, place]
    return math.prod(sizes), number


def group_totals(ranks: NDArray[np.int64], statistic: Statistic, bounds: BoundedRecoding) -> Whole:
    """Return the totals of every group: steps from 0, or a pair, below and above the bounds.

    The two of a group add up to all steps for each of its people, so that they tell its size as well.
    """
    totals: Whole = np.column_stack([ranks @ added for added in statistic.estimand.added(bounds)]).ravel()
    return totals
