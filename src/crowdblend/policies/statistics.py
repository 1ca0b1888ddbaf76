"""The policy of statistics: which numbers, about which declared columns, within which loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from crowdblend.policies.columns import Column, refuse_choice
from crowdblend.policies.domains import NumberDomain
from crowdblend.policies.exactly import ExactPolicy
from crowdblend.policies.key import Section, did_you_mean, key, naming, refusal
from crowdblend.policies.policy import part

if TYPE_CHECKING:
    from crowdblend.planning.statistics import Shape
    from crowdblend.recoding import Bounded, Intervals

Where = Mapping[str, tuple[str, ...]]
What = Literal["average", "fraction", "count", "histogram"]
WHAT: tuple[What, ...] = ("average", "fraction", "count", "histogram")
# Every guarantee derives from all of them, and a certificate has at most 500 steps.
_MOST_STATISTICS = 150
_MOST_BINS = 1_000_000
# Totals stay whole numbers that a double holds exactly.
_LARGEST_TOTAL = 2**53
_DEFAULT_STEPS = 1_000


@dataclass(frozen=True, kw_only=True)
class Statistic(Section):
    """One published statistic: exactly one of average, fraction, count and histogram."""

    section = "[[statistics]]"

    name: str = key("The statistic's name in the published data.", required=True)
    average: str | None = key("The average of a column of numbers between two bounds.")
    fraction: Where | None = key('The share of people with these labels, for example { sex = "Female" }.', kind="where")
    count: Where | None = key("How many people have these labels.", kind="where")
    histogram: str | None = key("How many people have each label of a column.")
    where: Where | None = key("With histogram: count only people with these labels.", kind="where")
    weight: float = key("How much of epsilon the statistic gets, relative to the others; 1 unless given.", default=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        where = f"statistic {self.name[:60]!r}"
        if not self.name.strip():
            raise refusal("statistic", "name in [[statistics]] is blank.", "Name the statistic.", "[[statistics]] name")
        given = [what for what in WHAT if getattr(self, what) is not None]
        if len(given) != 1:
            raise refusal(
                "statistic",
                f"{where} has {' and '.join(given) or 'none of average, fraction, count and histogram'}.",
                "Give exactly one of average, fraction, count and histogram.",
                where,
            )
        if self.where is not None and self.histogram is None:
            raise refusal(
                "statistic",
                f"{where} has where, which only a histogram takes.",
                "Remove it: an average among some people is a ratio, and a fraction or count names its labels itself.",
                where,
            )
        if not 0 < self.weight < math.inf:
            raise refusal(
                "statistic", f"weight of {where} is {self.weight:g}.", "Give it a part of epsilon above 0.", where
            )

    @property
    def what(self) -> What:
        """Which of the four it is."""
        return next(what for what in WHAT if getattr(self, what) is not None)

    @property
    def column(self) -> str | None:
        """The column that is averaged or counted by label; None for a fraction or count."""
        return self.average if self.average is not None else self.histogram

    @property
    def among(self) -> Where:
        """The labels of the people who count; empty for everybody."""
        return self.fraction or self.count or self.where or {}

    def facts(self) -> dict[str, Any]:
        """The statistic as JSON-ready data, as a policy writes it: {"average": "income"}."""
        among = {name: list(labels) for name, labels in self.among.items()}
        if self.column is None:
            return {self.what: among}
        return {self.what: self.column, **({"where": among} if among else {})}

    def words(self) -> str:
        """The statistic as one says it."""
        among = " and ".join(f"{name} is {' or '.join(labels)}" for name, labels in self.among.items())
        if self.what == "average":
            return f"average of {self.column}"
        if self.what == "histogram":
            return f"people by {self.column}" + (f", where {among}" if among else "")
        return f"{'share' if self.what == 'fraction' else 'number'} of people whose {among}"


@dataclass(frozen=True, kw_only=True)
class Statistics(ExactPolicy):
    """What the steward decided, complete and free of contradictions."""

    kind = "statistics"

    group: int | None = key("Guarantee for this many people together as well.", between=(1, 10**12))
    statistics: tuple[Statistic, ...] = part("statistics", Statistic, "The statistics to publish.", many=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_choice(self.columns, "a policy of statistics")
        if self.group is not None and self.group > self.people:
            raise refusal(
                "range",
                f"group in [release] is {self.group}, and [data] has {self.people} people.",
                "Lower group.",
                "[release] group",
            )
        _ = self.measures
        self._check_statistics()

    def published_texts(self) -> Iterator[tuple[str, str]]:
        """The labels of columns, and the names of statistics."""
        yield from super().published_texts()
        yield from (("[[statistics]] name", made.name) for made in self.statistics)

    @cached_property
    def classes(self) -> tuple[Column, ...]:
        """The columns with labels, for conditions and histograms."""
        return tuple(column for column in self.columns if column.recodings)

    @cached_property
    def measures(self) -> dict[str, Bounded]:
        """The columns with bounds, for averages; intervals of equal width have labels and bounds."""
        from crowdblend.recoding import Intervals  # noqa: PLC0415

        numbers = {column.name: column.domain for column in self.columns if isinstance(column.domain, NumberDomain)}
        found = {name: naming(f"column {name!r}", domain.bounds) for name, domain in numbers.items()}
        return found | {
            column.name: _of_intervals(column.recoding)
            for column in self.classes
            if isinstance(column.recoding, Intervals)
        }

    @property
    def wanted(self) -> list[str]:
        """The columns that some statistic needs, each once."""
        columns = [name for made in self.statistics for name in (made.column, *made.among) if name is not None]
        return list(dict.fromkeys(columns))

    def bins(self, statistic: Statistic) -> tuple[str, ...]:
        """The labels that a statistic counts by; none for a single number."""
        return self._labels(str(statistic.column)) if statistic.what == "histogram" else ()

    def shapes(self) -> tuple[Shape, ...]:
        """What the noise has to know of every statistic."""
        from crowdblend.planning.statistics import Shape  # noqa: PLC0415

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
            raise refusal(
                "statistics",
                f"The policy has {len(self.statistics)} [[statistics]]; there can be 1 to {_MOST_STATISTICS}.",
                'Add one, for example { name = "women", fraction = { sex = "Female" } }, or publish in two releases.',
                "[[statistics]]",
            )
        seen: set[str] = set()
        for made in self.statistics:
            if made.name in seen:
                raise refusal(
                    "statistic-twice",
                    f"Two [[statistics]] are called {made.name[:60]!r}.",
                    "Rename one.",
                    "[[statistics]] name",
                )
            seen.add(made.name)
            naming(f"statistic {made.name[:60]!r}", lambda made=made: self._check_statistic(made))  # type: ignore[misc]
        if sum(len(self.bins(made)) for made in self.statistics) > _MOST_BINS:
            raise refusal(
                "bins", f"All histograms together have more than {_MOST_BINS:,} bins.", "Use coarser classes."
            )
        shares = [shape.share for shape in self.shapes()]
        if not all(0 < share <= 1 for share in shares):
            raise refusal(
                "statistic",
                "The weights of [[statistics]] differ so much that one of them gets no part of epsilon.",
                "Use weights of similar size.",
                "[[statistics]] weight",
            )

    def _check_statistic(self, made: Statistic) -> None:
        if made.what == "average":
            self._check_average(str(made.column))
        elif made.what == "histogram":
            self._check_classes(str(made.column))
        for name, labels in made.among.items():
            self._check_classes(name)
            known = self._labels(name)
            for label in labels:
                if label not in known:
                    alike = [some for some in known if some.lower() == label.lower()] or known
                    raise refusal(
                        "unknown-label", f"column {name!r} has no label {label[:60]!r}.", did_you_mean(label, alike)
                    )

    def _check_average(self, name: str) -> None:
        if name not in self.measures:
            self._check_declared(name)
            raise refusal(
                "no-bounds",
                f"An average needs bounds, and column {name[:60]!r} has none.",
                "Declare from, to and resolution: without bounds no noise hides a person.",
            )
        if self.people * self.measures[name].steps > _LARGEST_TOTAL:
            raise refusal(
                "total",
                f"column {name!r} has too many steps for a total of so many people.",
                "Use a coarser resolution.",
            )

    def _check_classes(self, name: str) -> None:
        self._check_declared(name)
        found = next((column for column in self.classes if column.name == name), None)
        if found is None or not found.recoding.closed:
            raise refusal(
                "open-domain",
                f"column {name!r} has no classes that are all known beforehand.",
                "Declare it with values, width, breaks or a hierarchy.",
            )

    def _check_declared(self, name: str) -> None:
        declared = [column.name for column in self.columns]
        if name not in declared:
            raise refusal("unknown-column", f"[columns] does not declare {name[:60]!r}.", did_you_mean(name, declared))


def _of_intervals(recoding: Intervals) -> Bounded:
    """The numbers behind intervals, on a grid of a thousand steps; what has a class of its own beyond is moved in."""
    from crowdblend.recoding import Bounded  # noqa: PLC0415
    from crowdblend.recoding.reading import exact  # noqa: PLC0415

    step = (exact("to", recoding.stop) - exact("from", recoding.start)) / _DEFAULT_STEPS
    beyond = recoding.top or recoding.bottom or recoding.other is not None
    return Bounded(recoding.start, recoding.stop, step, "clamp" if beyond else "refuse")
