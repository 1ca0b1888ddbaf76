"""Facts of statistics: what each is computed of, in which way, and its noise; shapes and errors follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec.structs import asdict, replace

from crowdblend.kinds.shared.facts import (
    OTHER_BUDGET,
    Count,
    Epsilon,
    Parameters,
    ReleaseFacts,
    contradiction,
)
from crowdblend.kinds.shared.series import RepeatedFacts
from crowdblend.kinds.statistics.estimands import Labels, SubjectFacts
from crowdblend.kinds.statistics.policy import MOST_BINS, shape_of
from crowdblend.kinds.statistics.statistic import Statistic, group_columns
from crowdblend.methods.designs import Survey
from crowdblend.methods.mechanisms.statistics import NoisyStatistics
from crowdblend.methods.planning.statistics.choice import TotalsPlan
from crowdblend.methods.planning.statistics.strata_totals import StrataWay, weights_of_design
from crowdblend.methods.planning.statistics.ways import EVERYBODY, SAMPLE, STRATA, AnyShape, Mechanism, SampleWay, Way
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.intervals import Breaks
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.groups import best_for_group

# What facts of a statistic say beside what a policy writes.
_COMPUTED = ("way", "noise_epsilon", "samples")


class StatisticFacts(SubjectFacts, frozen=True, kw_only=True):
    """A statistic as a policy writes it, the way in which it was computed, and the loss of its noise."""

    by: tuple[str, ...] | None = None
    where: Labels | None = None

    def statistic(self, name: str) -> Statistic:
        """Return the statistic, checked as in a policy."""
        written = {field: value for field, value in asdict(self).items() if field not in _COMPUTED}
        return Statistic(name=name, **written)


class StatisticsFacts(RepeatedFacts, frozen=True, kw_only=True, dict=True, tag="statistics"):
    """Facts of a release of statistics.

    `people` is how many there are, which is public; of strata it is no part of the guarantee. Every column has the
    domain of its labels, that of its numbers, or both.
    """

    ways: ClassVar[tuple[Mechanism, ...]] = ()
    """The ways in which a statistic may be computed."""
    designed: ClassVar[bool] = False
    """True if strata, weights or coins decide who is counted, so that sizes are noisy as well."""

    epsilon: Epsilon
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    people: Count
    statistics_: Annotated[dict[str, StatisticFacts], msgspec.Meta(max_length=1_000)] = msgspec.field(name="statistics")
    columns: dict[str, Annotated[tuple[Domain, ...], msgspec.Meta(min_length=1)]]
    group: Count | None = None

    @classmethod
    def class_of(cls, document: Mapping[str, Any]) -> type[ReleaseFacts]:
        design = document.get("design")
        exactly = isinstance(design, Mapping) and design.get("design") == Survey.__struct_config__.tag
        return FixedSizeFacts if exactly else InCopiesFacts

    def among_others(self, epsilon: float, delta: float) -> Self:
        return replace(self, epsilon=epsilon)

    def check_among_others(self, epsilon: float, delta: float) -> None:
        super().check_among_others(epsilon, delta)
        if self.epsilon != epsilon or self.group is not None:
            raise contradiction(OTHER_BUDGET)

    @property
    def stated_confidence(self) -> float:
        return self.confidence

    @property
    def declared_domains(self) -> Mapping[str, tuple[Domain, ...]]:
        return self.columns

    @property
    def domains(self) -> Mapping[str, Domain]:
        return {name: self.columns[name][0] for name in group_columns(self.statistics)}

    @property
    def labels_are(self) -> str:
        return "Recoded: the group that the number is about; blank where it is not about groups of this column."

    @property
    def columns_with_blanks(self) -> frozenset[str]:
        each = [frozenset(made.counted_by) for made in self.statistics]
        return frozenset().union(*each) - each[0].intersection(*each)

    @property
    def failure(self) -> float:
        """The probability that a stated error does not hold."""
        return float(1 - Decimal(repr(self.confidence)))

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics, in the order of the policy."""
        return tuple(one.statistic(name) for name, one in self.statistics_.items())

    @cached_property
    def measures(self) -> Mapping[str, BoundedRecoding]:
        """The bounds of every column of numbers."""
        found = {}
        for name, domains in self.columns.items():
            if (last := domains[-1]).recoding == "measure":
                if not all(isinstance(end, int | float) for end in (last.start, last.to, last.resolution)):
                    raise contradiction(f"it does not state the bounds of column {name[:60]!r}")
                outside: Literal["clamp", "refuse"] = "clamp" if last.outside == "clamp" else "refuse"
                found[name] = BoundedRecoding(last.start, last.to, last.resolution, outside, last.blank)  # type: ignore[arg-type]
        return found

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the labels of a column."""
        labels = self.columns[name][0].labels
        if labels is None:
            raise contradiction(f"it does not list the labels of column {name[:60]!r}")
        return labels

    def bins(self, statistic: Statistic) -> tuple[tuple[str, ...], ...]:
        """Return the labels that a statistic counts by, or of its groups; none for a single number."""
        names = statistic.counted_by
        if math.prod(len(self.labels(name)) for name in names) > MOST_BINS:
            raise contradiction("it has more groups than a release of statistics")
        return tuple(product(*map(self.labels, names))) if names else ()

    @cached_property
    def plan(self) -> TotalsPlan:
        """The noise of every statistic by the way that it went."""
        shapes = tuple(
            shape_of(
                made,
                self.measures.get(str(made.column)),
                len(self.bins(made)),
                designed=self.designed,
            )
            for made in self.statistics
        )
        found = []
        for name in self.ways:
            places = tuple(place for place, one in enumerate(self.statistics_.values()) if one.way == name)
            if places:
                found.append((places, self._way(name, places, tuple(shapes[place] for place in places))))
        if sum(len(places) for places, _ in found) != len(shapes):
            raise contradiction("a statistic was computed in a way that its design does not have")
        return TotalsPlan(shapes, tuple(found))

    def _way(self, name: Mechanism, places: Sequence[int], shapes: tuple[AnyShape, ...]) -> Way | StrataWay:
        """Return the noise of the statistics at these places, which went this way."""
        raise NotImplementedError

    def _noise(self, places: Sequence[int]) -> tuple[float, ...]:
        stated = list(self.statistics_.values())
        return tuple(stated[place].noise_epsilon for place in places)

    @property
    def mechanisms(self) -> tuple[NoisyStatistics, ...]:
        return mechanisms_of(self.plan)

    def check(self) -> None:
        """Refuse weights whose breaks do not give the classes that are named; one class has no name."""
        breaks, labels = self.design.breaks, tuple(self.design.strata)
        numbers = (False, True) if all(end.is_integer() for end in breaks) else (False,)
        one_class = len(breaks) == 2 and labels == ("",)
        if breaks and not one_class and all(labels != Breaks(breaks, whole=whole).labels for whole in numbers):
            raise contradiction("its weights are not the classes that it names")
        if self.design.exceptions:
            raise contradiction("its errors do not hold with exceptions")

    def derivations(self) -> tuple[Derivation, ...]:
        """Derive zero-knowledge privacy for one person and for the group, if any, and differential privacy."""
        self.check()
        one, *others = self.plan.derivations()
        if one.conclusion.epsilon > self.epsilon:
            raise contradiction("its mechanisms guarantee less than it states")
        people = self.group or 1
        together = [best_for_group(one.conclusion, people)(one, people=people)] if people > 1 else []
        return self.in_series((one, *together, *others))

    @property
    def notes(self) -> list[str]:
        sampled = ""
        if (rate := self.design.coin_rate) is not None:
            sampled = f" of a random sample, which has each person with probability {rate:g},"
        return [
            f"Every number{sampled} is an estimate for everybody. It is within its error of the true one with a "
            f"probability of at least {self.confidence:g}. The error of a quantile is one of its rank, rank_error, "
            "so that it has no low and high.",
            *self.unit.rows_counted(self.noun_of_rows),
            *self.rests_on,
        ]

    @property
    def parameters(self) -> Parameters:
        found: Parameters = {"epsilon": self.epsilon, "people": self.people, "confidence": self.confidence}
        return found | self.sample_parameters | self.series_parameters

    @property
    def sample_parameters(self) -> Parameters:
        """The size of the sample, or its rate where it has one."""
        return {} if self.rate is None else {"rate": self.rate}


class FixedSizeFacts(StatisticsFacts, frozen=True, kw_only=True, tag="statistics"):
    """Facts of statistics of a fixed number of people, everybody's among them."""

    ways = (EVERYBODY, SAMPLE)
    designed = False

    def _way(self, name: Mechanism, places: Sequence[int], shapes: tuple[AnyShape, ...]) -> Way:
        stated = list(self.statistics_.values())
        samples = {stated[place].samples for place in places}
        if len(samples) != 1 or self.people != self.design.of:
            raise contradiction("statistics of one way are relative to one number of people")
        mechanism: SampleWay = EVERYBODY if name == EVERYBODY else SAMPLE
        return Way(mechanism, samples.pop() or 0, self.people, shapes, self._noise(places), self.failure)

    def check(self) -> None:
        """Refuse rows, whose number nobody says, and numbers of people other than the stated ones."""
        super().check()
        if self.unit.several:
            raise contradiction("it does not say how many rows it counts")
        ways = {one.way: one.samples or 0 for one in self.statistics_.values()}
        if sum(ways.values()) != self.design.people or (self.design.already_drawn and EVERYBODY in ways):
            raise contradiction("its statistics are relative to other numbers of people than it states")

    @property
    def sample_parameters(self) -> Parameters:
        return {"sample": self.design.people or 0}


class InCopiesFacts(StatisticsFacts, frozen=True, kw_only=True, tag="statistics"):
    """Facts of statistics in which each person counts as often as their weight says."""

    ways = (STRATA,)
    designed = True

    def _way(self, name: Mechanism, places: Sequence[int], shapes: tuple[AnyShape, ...]) -> StrataWay:
        weights = weights_of_design(self.design, self.unit.most)
        return StrataWay(self.design, weights, shapes, self._noise(places), self.failure)


def mechanisms_of(plan: TotalsPlan) -> tuple[NoisyStatistics, ...]:
    """Return the noise on the totals of every way, and the choice of quantiles."""
    return tuple(
        NoisyStatistics(way.shapes, way.noise_epsilons, way.mechanism == STRATA, way.copies) for _, way in plan.ways
    )
