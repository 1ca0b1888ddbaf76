"""What some people add up to: class counts and sums, from which every statistic is read off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from crowdblend.engines.draw import Draw, Exactly
from crowdblend.engines.outside_values import OutsideValues
from crowdblend.engines.refusals import refusal
from crowdblend.engines.stepped import fitting, group_numbers
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.mechanisms.statistics import Whole
from crowdblend.policies.source import DataSource
from crowdblend.policies.statistic import Statistic


@dataclass(frozen=True)
class Totals:
    """What some people add up to. Secret: nothing of it is published as it is."""

    people: int
    classes: SampledClasses | None
    sums: dict[str, int]
    outside: Mapping[str, OutsideValues] = field(default_factory=dict)
    """What went to the class `other` of a column, by its name."""

    def of(self, statistic: Statistic, bins: Sequence[str]) -> Whole:
        """The exact totals of one statistic: one number, or one for each bin."""
        if statistic.measured:
            return np.array([self.sums[str(statistic.column)]], dtype=np.int64)
        classes = self.classes
        assert classes is not None, "conditions and histograms have columns with classes"
        fits = fitting(classes, statistic)
        if not bins:
            return np.array([classes.counts[fits].sum()], dtype=np.int64)
        names = (str(statistic.column),) if statistic.what == "histogram" else statistic.groups
        counted = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counted, group_numbers(classes, names)[1][fits], classes.counts[fits])
        return counted


def check_people(data: DataSource, rows_read: int, drawn: int, draw: Draw) -> None:
    """Refuse a source that does not hold as many people as it or the draw says, or a sample of another size."""
    people, samples = (draw.people, draw.samples) if isinstance(draw, Exactly) else (data.people, None)
    if (people is not None and rows_read != people) or (samples is not None and drawn != samples):
        raise refusal(
            "people",
            f"people in [data] is {people}; the data hold another number of people.",
            "Count them and correct it.",
            "[data] people",
        )
