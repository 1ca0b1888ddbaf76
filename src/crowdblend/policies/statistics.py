"""The policy of statistics: which numbers, about which declared columns, within which loss.

StatisticsPolicy
├── data: DataSource         where the people are, one row each, and how many they are
├── sampling: Sampling       k: how many random people the publication may tell no more than
├── classes: Column …        columns with labels, for conditions and histograms
├── measures: Bounded …      columns with bounds, for averages
├── statistics: Statistic …  what is published
└── release: Release         ε, the confidence of the errors, a group to promise for
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.planning.statistics import Shape
from crowdblend.policies.columns import Column
from crowdblend.policies.exactly import ExactlyDrawn
from crowdblend.policies.keys import did_you_mean, naming
from crowdblend.recoding import Bounded, Closed

Where = Mapping[str, tuple[str, ...]]
What = Literal["average", "fraction", "count", "histogram"]
WHAT: tuple[What, ...] = ("average", "fraction", "count", "histogram")
# Every promise derives from all of them, and a certificate has at most 500 steps.
_MOST_STATISTICS = 150
_MOST_BINS = 1_000_000
# Totals stay whole numbers that a double holds exactly.
_LARGEST_TOTAL = 2**53


@dataclass(frozen=True)
class Statistic:
    """One published statistic; `column` is averaged or counted by label, `where` says among whom."""

    name: str
    what: What
    column: str | None
    where: Where
    weight: float = 1.0

    def facts(self) -> dict[str, Any]:
        """The statistic as JSON-ready data, as a policy writes it: {"average": "income"}."""
        among = {name: list(labels) for name, labels in self.where.items()}
        if self.column is None:
            return {self.what: among}
        return {self.what: self.column, **({"where": among} if among else {})}

    def words(self) -> str:
        """The statistic as one says it."""
        among = " and ".join(f"{name} is {' or '.join(labels)}" for name, labels in self.where.items())
        if self.what == "average":
            return f"average of {self.column}"
        if self.what == "histogram":
            return f"people by {self.column}" + (f", where {among}" if among else "")
        return f"{'share' if self.what == 'fraction' else 'number'} of people whose {among}"


@dataclass(frozen=True)
class StatisticsPolicy(ExactlyDrawn):
    """What the steward decided, complete and free of contradictions."""

    classes: tuple[Column, ...]
    measures: Mapping[str, Bounded]
    statistics: tuple[Statistic, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.epsilon <= 500:
            raise InvalidInput(f"epsilon in [release] must be above 0 and at most 500, got {self.epsilon:g}. Lower it.")
        if self.release.group is not None and not 1 <= self.release.group <= self.people:
            raise InvalidInput(
                f"group in [release] must be between 1 and the {self.people} people of [data], got "
                f"{self.release.group}. Correct it."
            )
        self._check_statistics()

    @property
    def wanted(self) -> list[str]:
        """The columns that some statistic needs, each once."""
        columns = [name for made in self.statistics for name in (made.column, *made.where) if name is not None]
        return list(dict.fromkeys(columns))

    def bins(self, statistic: Statistic) -> tuple[str, ...]:
        """The labels that a statistic counts by; none for a single number."""
        return self._labels(str(statistic.column)) if statistic.what == "histogram" else ()

    def shapes(self) -> tuple[Shape, ...]:
        """What the noise has to know of every statistic."""
        weights = sum(statistic.weight for statistic in self.statistics)
        return tuple(
            Shape(
                steps=self.measures[str(made.column)].steps if made.what == "average" else 1,
                bins=max(1, len(self.bins(made))),
                share=made.weight / weights,
            )
            for made in self.statistics
        )

    def _labels(self, name: str) -> tuple[str, ...]:
        return next(column.recoding.labels or () for column in self.classes if column.name == name)

    def _check_statistics(self) -> None:
        if not 1 <= len(self.statistics) <= _MOST_STATISTICS:
            raise InvalidInput(
                f"the policy must have between 1 and {_MOST_STATISTICS} [[statistics]], got {len(self.statistics)}. "
                'Add one, for example { name = "women", fraction = { sex = "Female" } }.'
            )
        seen: set[str] = set()
        for made in self.statistics:
            if not made.name.strip() or "\0" in made.name or made.name in seen:
                raise InvalidInput(
                    f"[[statistics]] must have different names that can be seen, got {made.name!r}. Rename it."
                )
            seen.add(made.name)
            naming(f"statistic {made.name!r}", lambda made=made: self._check_statistic(made))  # type: ignore[misc]
        if sum(len(self.bins(made)) for made in self.statistics) > _MOST_BINS:
            raise InvalidInput(f"all histograms together may have at most {_MOST_BINS} bins. Use coarser classes.")

    def _check_statistic(self, made: Statistic) -> None:
        if not 0 < made.weight < math.inf:
            raise InvalidInput(
                f"weight must be a number above 0, got {made.weight:g}. It is the statistic's part of epsilon."
            )
        if made.what == "average":
            self._check_average(str(made.column))
        elif made.what == "histogram":
            self._check_classes(str(made.column))
        for name, labels in made.where.items():
            self._check_classes(name)
            known = self._labels(name)
            for label in labels:
                if label not in known:
                    alike = [some for some in known if some.lower() == label.lower()] or known
                    raise InvalidInput(f"column {name!r} has no label {label!r}. {did_you_mean(label, alike)}")

    def _check_average(self, name: str) -> None:
        if name not in self.measures:
            self._check_declared(name)
            raise InvalidInput(
                f"an average must have bounds for its column, and {name!r} has none. Declare from, to and resolution: "
                "without bounds no noise hides a person."
            )
        if self.people * self.measures[name].steps > _LARGEST_TOTAL:
            raise InvalidInput(f"column {name!r} must have fewer steps for so many people. Use a coarser resolution.")

    def _check_classes(self, name: str) -> None:
        self._check_declared(name)
        found = next((column for column in self.classes if column.name == name), None)
        if found is None or not isinstance(found.recoding, Closed):
            raise InvalidInput(
                f"column {name!r} must have classes that are all known beforehand. Declare it with values, width, "
                "breaks or a hierarchy."
            )

    def _check_declared(self, name: str) -> None:
        declared = dict.fromkeys([*(column.name for column in self.classes), *self.measures])
        if name not in declared:
            raise InvalidInput(
                f"column {name!r} must be declared in [columns], and is not. {did_you_mean(name, declared)}"
            )
