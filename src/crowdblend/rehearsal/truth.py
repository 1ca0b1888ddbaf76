"""What is true of made-up people, to hold published numbers against: the people of every label, and every statistic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from crowdblend.engines.draw import Everybody
from crowdblend.engines.engine import Engine
from crowdblend.kinds import plan
from crowdblend.planning.statistics import SAMPLE
from crowdblend.policies.sampling import ExactSample
from crowdblend.randomness import ReleaseKey, new_key

Margins = dict[str, dict[str, int]]


def margins_of(policy: Any, engine: Engine) -> Margins:
    """How many rows have each label of each column, at its finest recoding; coordinates are no labels."""
    data = replace(
        policy.data, person=None, rows_are_people=True, rows_per_person=None, duplicates="refuse", people=None
    )
    columns = [column for column in policy.columns if column.name not in dict(getattr(policy, "axes", ()))]
    if not columns:
        return {}
    with engine.open(data, [column.name for column in columns], policy.resources) as source:
        counted = source.class_counts(columns, Everybody()).classes
    found: Margins = {}
    for place, name in enumerate(counted.columns):
        counts = np.bincount(counted.codes[:, place], weights=counted.counts, minlength=len(counted.labels[place]))
        found[name] = {label: int(count) for label, count in zip(counted.labels[place], counts, strict=True)}
    return found


class TrueStatistics:
    """The statistics of a policy without noise and without a draw; of people with weights, as weighted."""

    def __init__(self, policy: Any, engine: Engine) -> None:
        weighted = policy.sampling.weight is not None
        without = tuple(replace(made, error=None) for made in policy.statistics)
        sampling = policy.sampling if weighted else ExactSample(everybody=True)
        everybody = replace(policy, sampling=sampling, statistics=without)
        self._plan = cast("Any", plan(everybody.with_source(policy.data)))
        reading = self._plan.read(engine, ReleaseKey(new_key()))
        places = range(len(without))
        self._exact = (
            self._plan.exact(reading) if weighted else [self._plan.exact(place, SAMPLE, reading) for place in places]
        )

    def error(self, place: int, row: int, value: float) -> float:
        """How far a published number is off: of a quantile in ranks, as a share of the people concerned."""
        made, exact = self._plan.policy.statistics[place], self._exact[place]
        if not made.is_quantile:
            return float(abs(value - self._values(place)[row]))
        counts, bounds = exact[row], self._plan.policy.measures[str(made.column)]
        step = bounds.code(repr(value)) or 0
        people = max(1, int(counts.sum()))
        below, upto = counts[:step].sum() / people, counts[: step + 1].sum() / people
        return float(max(0.0, below - float(made.share), float(made.share) - upto))

    def _values(self, place: int) -> list[float]:
        return [one.value for one in self._plan.of_totals(place, self._exact[place].tolist())]
