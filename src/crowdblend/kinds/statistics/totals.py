"""Totals of statistics: class counts and sums, or people counted by steps of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.engine import ClassCounts
from crowdblend.frozen import dataclass
from crowdblend.kinds.statistics.policy import StatisticsPolicy
from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.statistics import Whole
from crowdblend.policies.columns import Column
from crowdblend.recoding.bounded_recoding import BoundedRecoding, Steps


def totals_of(totals: ClassCounts, statistic: Statistic, bins: Sequence[str]) -> Whole:
    """Return the exact totals of one statistic: one number, or one for each bin."""
    if statistic.measured:
        return np.array([totals.sums[str(statistic.column)]], dtype=np.int64)
    classes = totals.classes
    fits = fitting(classes, statistic)
    if not bins:
        return np.array([classes.counts[fits].sum()], dtype=np.int64)
    names = (str(statistic.column),) if statistic.what == "histogram" else statistic.groups
    counted = np.zeros(len(bins), dtype=np.int64)
    np.add.at(counted, group_numbers(classes, names)[1][fits], classes.counts[fits])
    return counted


@dataclass(frozen=True)
class Crossing:
    """A column of numbers, and the columns with labels that it is counted together with."""

    column: str
    labels: tuple[str, ...]

    def columns(self, policy: StatisticsPolicy) -> list[Column]:
        """Return the columns that an engine counts: the labels, and the steps last."""
        known = {column.name: column for column in policy.classes}
        return [*(known[name] for name in self.labels), Column(self.column, (Steps(policy.measures[self.column]),))]


def crossing_of(statistic: Statistic) -> Crossing | None:
    """Return the columns to count a statistic by; None where class counts and sums are enough."""
    if not (statistic.is_quantile or statistic.of_some):
        return None
    return Crossing(str(statistic.column), tuple(sorted({*statistic.among, *statistic.groups})))


def people_at_steps(classes: SampledClasses, statistic: Statistic, bounds: BoundedRecoding) -> NDArray[np.int64]:
    """Return the number of people by group (row) and step, in the order of the groups' labels."""
    fits = fitting(classes, statistic)
    groups, number = group_numbers(classes, statistic.groups)
    found = np.zeros((groups, bounds.steps + 1), dtype=np.int64)
    np.add.at(found, (number[fits], classes.codes[fits, -1]), classes.counts[fits])
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
    steps = np.arange(bounds.steps + 1)
    if statistic.what == "sum" and bounds.from_zero is not None:
        totals: Whole = ranks @ (steps + bounds.from_zero - bounds.steps)
        return totals
    pairs: Whole = np.column_stack([ranks @ steps[::-1], ranks @ steps]).ravel()
    return pairs
