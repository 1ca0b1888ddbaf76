"""Statistics of strata and of weighted surveys: every published number is an estimate for the population."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import RULES, Assumption, Derivation
from crowdblend.calculus.checker import MOST_STEPS
from crowdblend.engines.draw import Draw, Everybody, StratifiedCoin
from crowdblend.engines.engine import Engine, Progress, check_source
from crowdblend.errors import InvalidInput
from crowdblend.guarantees.wording import at_least
from crowdblend.kinds.class_counts import refusing_weights
from crowdblend.kinds.kind import Outcome, Publication, Reading, ReleasePlan, software
from crowdblend.kinds.statistic_values import Published
from crowdblend.kinds.statistics import domains_of, labelled, numbers_output, shown
from crowdblend.planning.statistics import QuantileShape, Shape
from crowdblend.planning.statistics.stratified import (
    StrataTotalsPlan,
    own_weights,
    plan_strata_statistics,
    weights_of,
)
from crowdblend.policies.columns import Column
from crowdblend.policies.statistic import Statistic
from crowdblend.policies.statistics import Statistics
from crowdblend.policies.strata import Design

if TYPE_CHECKING:
    from crowdblend.engines.engine import ClassCounts
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.mechanisms.classes import SampledClasses
    from crowdblend.mechanisms.strata_statistics import StrataStatistics
    from crowdblend.mechanisms.totals import Whole
    from crowdblend.randomness import ReleaseKey
    from crowdblend.recoding import Bounded

WAY = "strata"
_LARGEST = 2**62


@dataclass(frozen=True)
class StrataReading(Reading):
    """The people of the sample by stratum, labels and steps together. Secret."""

    counted: ClassCounts

    @property
    def internal(self) -> dict[str, int]:
        return self.counted.facts

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """What went to the class `other` of a column."""
        return self.counted.outside


@dataclass(frozen=True)
class StrataStatisticsPlan(ReleasePlan[Statistics, StrataReading]):
    """A policy with nothing left open: the weight of every stratum, and the noise of every statistic."""

    policy: Statistics
    parameters: StrataTotalsPlan
    design: Design

    @property
    def stated_assumptions(self) -> tuple[Assumption, ...]:
        """That the rates are assumed, and that rows are people."""
        drawn = (Assumption.ASSUMED_RATE,) if self.policy.sampling.already_drawn else ()
        return (*drawn, *super().stated_assumptions)

    @property
    def mechanisms(self) -> tuple[StrataStatistics, ...]:
        """The one mechanism that sees the people of all strata."""
        from crowdblend.mechanisms.strata_statistics import StrataStatistics  # noqa: PLC0415  loads NumPy

        return (StrataStatistics(self.parameters.shapes, self.parameters.noise_epsilons),)

    def derivations(self, mechanisms: tuple[StrataStatistics, ...]) -> tuple[Derivation, ...]:
        """The worst stratum counts: zero-knowledge, and differential privacy under both relations."""
        (mechanism,) = mechanisms
        strata = self.parameters.strata_of(mechanism.claim())
        joint = RULES["strata.joint"](strata)
        return RULES["strata.joint-zero-knowledge"](strata), joint, RULES["differential.replace"](joint)

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        policy = self.policy
        return {
            "kind": policy.kind,
            "person": policy.data.person,
            "already_drawn": policy.sampling.already_drawn,
            "parameters": {"epsilon": policy.epsilon, "people": policy.people, "confidence": policy.confidence},
            "weights": self._weights(),
            "statistics": {made.name: self._described(place, made) for place, made in enumerate(policy.statistics)},
            "columns": {name: domains_of(policy, name) for name in policy.wanted},
            "software": software(),
        }

    def _weights(self) -> dict[str, Any]:
        unit = float(self.parameters.weights.unit)
        strata = {
            stratum.label: {"low": stratum.low, "high": stratum.high, "weight": copies * unit}
            for stratum, copies in zip(self.design.strata.strata, self.parameters.weights.copies, strict=True)
        }
        return {"column": self.design.strata.column, "own": self.design.weighted, "strata": strata}

    def _described(self, place: int, made: Statistic) -> dict[str, Any]:
        unit = "rank_error" if made.is_quantile else "error"
        return {
            **made.facts(),
            "way": WAY,
            "noise_epsilon": self.parameters.noise_epsilons[place],
            f"{unit}_of_equal_groups": self.expected_error(place),
        }

    def expected_error(self, place: int) -> float:
        """The error where every group has equally many of the people of the policy, with large values."""
        made, shape = self.policy.statistics[place], self.parameters.shapes[place]
        copies = int(self.policy.people / self.parameters.weights.unit) // max(1, len(self.policy.bins(made)))
        if isinstance(shape, QuantileShape):
            return max(self.parameters.rank(place, copies, strata) for strata in self._strata(made))
        total = shape.steps * copies
        pair = shape.sized or (made.what == "sum" and self.bounds(made).from_zero is None)
        bins = max(1, len(self.policy.bins(made)))
        numbers = self.of_totals(place, ([total // 2, total - total // 2] if pair else [total]) * bins)
        return max(one.error or 0.0 for one in numbers)

    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        policy, strata = self.policy, self.design.strata.strata
        names = ", ".join(dict.fromkeys([self.design.strata.column, *policy.wanted]))
        drawn = "was already drawn" if policy.sampling.already_drawn else "will be drawn"
        lines = [
            ("would read", f"{names} from {policy.data.name}"),
            ("would sample", f"the sample {drawn} by strata of {self.design.strata.column}"),
        ]
        for stratum in strata[:12]:
            rate = f"{stratum.rate:g}" if stratum.exact else f"{stratum.low:.3g} to {stratum.high:.3g}"
            lines.append(("", f"{stratum.label}: rate {rate}"))
        if len(strata) > 12:
            lines.append(("", f"and {len(strata) - 12:,} further strata"))
        for place, made in enumerate(policy.statistics):
            error = f"{'rank ' if made.is_quantile else ''}±{shown(self.expected_error(place))}"
            lines.append(("would publish", f"{made.name}: {made.words()}, about {error}"))
        people = f"{policy.people:,} people, in groups of equal size"
        return [
            *lines,
            ("", f"errors are those of {people}; each is kept with probability {at_least(policy.confidence)}"),
        ]

    @property
    def _read(self) -> list[Column]:
        """What is counted: the strata first, then labels, then the steps of numbers, and weights last."""
        from crowdblend.recoding.bounded import Steps  # noqa: PLC0415  loads NumPy

        policy, stratum = self.policy, self.design.column
        wanted = labelled(policy.statistics) - {stratum.name}
        labels = [column for column in policy.classes if column.name in wanted]
        numbers = dict.fromkeys(str(made.column) for made in policy.statistics if made.measured)
        steps = [Column(name, (Steps(policy.measures[name]),)) for name in numbers]
        return [stratum, *labels, *steps, *self._own_weight]

    @property
    def _own_weight(self) -> list[Column]:
        """Everybody's weight in units, where it is that of the person."""
        from crowdblend.recoding.bounded import Bounded, Steps  # noqa: PLC0415  loads NumPy

        if not self.design.weighted:
            return []
        weights = self.parameters.weights
        unit, most = Decimal(weights.unit.numerator) / weights.unit.denominator, weights.largest
        return [Column(self.design.strata.column, (Steps(Bounded(0, unit * most, unit)),))]

    def check_source(self, engine: Engine) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        check_source(engine, self.policy.data, self._names, self.policy.resources)

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(column.name for column in self._read))

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> StrataReading:
        """Draw every stratum at its rate, and count its people by everything that is asked, in one reading."""
        policy = self.policy
        opened = engine.open(policy.data, self._names, policy.resources, progress)
        with opened as source, refusing_weights(self.design):
            counted = source.class_counts(self._read, self.draw(key))
        largest = max((shape.steps for shape in self.parameters.shapes if isinstance(shape, Shape)), default=1)
        if counted.classes.people * self.parameters.weights.largest * max(largest, 1000) >= _LARGEST:
            raise InvalidInput(
                "The weights and resolutions are too fine for totals of so many people.",
                remedy="Use coarser resolutions.",
                where="[columns]",
                code="data.totals",
            )
        return StrataReading(counted)

    def draw(self, key: ReleaseKey) -> Draw:
        """Who is in the sample."""
        if self.policy.sampling.already_drawn:
            return Everybody(row_key=key.coin())
        return StratifiedCoin(key.coin(), self.design.strata.column, self.design.strata.rates)

    def publish(self, reading: StrataReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Every statistic with its noise, in the order of the policy."""
        from crowdblend.mechanisms.quantiles import ChosenQuantile  # noqa: PLC0415  loads NumPy

        del progress
        mechanisms = self.mechanisms
        exact = self.exact(reading)
        sources = key.source(b"noise on totals, strata"), key.source(b"quantiles, strata")
        # Nothing is about a public number of people, so that none is handed over.
        noisy = mechanisms[0].publish(exact, 0, *sources)
        values = {
            place: self._of_choice(place, found)
            if isinstance(found, ChosenQuantile)
            else self.of_totals(place, [int(total) for total in found])
            for place, found in enumerate(noisy)
        }
        return Publication((numbers_output(self.policy, values),), mechanisms)

    def exact(self, reading: StrataReading) -> list[Whole]:
        """The totals of every statistic in copies, or the copies at each step of each group for a quantile."""
        from crowdblend.mechanisms.strata_statistics import in_copies, in_own_copies  # noqa: PLC0415  loads NumPy

        copied = in_own_copies if self.design.weighted else in_copies
        counted = copied(reading.counted.classes, self.design.strata.column, self.parameters.weights.copies)
        return [self._exact(made, counted) for made in self.policy.statistics]

    def _exact(self, made: Statistic, counted: SampledClasses) -> Whole:
        import numpy as np  # noqa: PLC0415  heavy

        from crowdblend.engines.stepped import fitting, group_numbers, group_totals  # noqa: PLC0415

        fits, counts = fitting(counted, made), counted.counts
        if made.what == "fraction":
            return np.array([counts[~fits].sum(), counts[fits].sum()], np.int64)
        names = (str(made.column),) if made.what == "histogram" else made.groups
        groups, number = group_numbers(counted, names)
        if not made.measured:
            totals = np.zeros(groups, np.int64)
            np.add.at(totals, number[fits], counts[fits])
            return totals
        bounds = self.bounds(made)
        # Steps come after labels, so that the last column of that name has them.
        place = len(counted.columns) - 1 - counted.columns[::-1].index(str(made.column))
        ranks = np.zeros((groups, bounds.steps + 1), np.int64)
        np.add.at(ranks, (number[fits], counted.codes[fits, place]), counts[fits])
        return ranks if made.is_quantile else group_totals(ranks, made, bounds)

    def bounds(self, made: Statistic) -> Bounded:
        """The bounds of a statistic's column of numbers."""
        return self.policy.measures[str(made.column)]

    def _strata(self, made: Statistic) -> list[tuple[int, ...] | None]:
        """For every published number the strata that its people can be in; None for all."""
        policy, name = self.policy, self.design.strata.column
        labels = [stratum.label for stratum in self.design.strata.strata]
        some = (
            [labels.index(label) for label in made.among[name]]
            if made.what != "fraction" and name in made.among
            else None
        )
        names = (str(made.column),) if made.what == "histogram" else made.groups
        bins = max(1, len(policy.bins(made)))
        if name not in names:
            return [None if some is None else tuple(some)] * bins
        within = math.prod(len(policy.labels(other)) for other in names[names.index(name) + 1 :])
        return [(number // within % len(labels),) for number in range(bins)]

    def _of_choice(self, place: int, chosen: Any) -> list[Published]:
        made = self.policy.statistics[place]
        bounds = self.bounds(made)
        return [
            Published(float(bounds.value(Fraction(step))), None, self.parameters.rank(place, size, strata))
            for step, size, strata in zip(chosen.steps, chosen.sizes, self._strata(made), strict=True)
        ]

    def of_totals(self, place: int, totals: Sequence[int]) -> list[Published]:
        """The estimates behind noisy totals in copies, with their errors."""
        made, shape = self.policy.statistics[place], self.parameters.shapes[place]
        assert isinstance(shape, Shape)
        strata = self._strata(made)
        paired = shape.sized or (made.what == "sum" and self.bounds(made).from_zero is None)
        numbers = list(zip(totals[::2], totals[1::2], strict=True)) if paired else [(total,) for total in totals]
        if shape.sized:
            ends = (Fraction(0), Fraction(1)) if made.what == "fraction" else self.bounds(made).ends
            return [self._share(place, ends, pair, some) for pair, some in zip(numbers, strata, strict=True)]
        scales = [1.0]
        if made.what == "sum":
            start, stop = (float(end / shape.steps) for end in self.bounds(made).ends)
            scales = [start, stop] if paired else [stop]
        return [self._sum(place, scales, some, within) for some, within in zip(numbers, strata, strict=True)]

    def _share(
        self, place: int, ends: tuple[Fraction, Fraction], pair: tuple[int, ...], strata: tuple[int, ...] | None
    ) -> Published:
        """What lies between two ends as the second total does between nothing and both."""
        (start, stop), (low, high) = ends, pair
        total = low + high
        share = min(max(Fraction(high, total), Fraction(0)), Fraction(1)) if total > 0 else Fraction(1, 2)
        value = float(start + (stop - start) * share)
        farthest = max(float(stop) - value, value - float(start))
        error = min(float(stop - start) * self.parameters.share(place, total, strata), farthest)
        return Published(value, error + math.ulp(max(abs(float(start)), abs(float(stop)))))

    def _sum(
        self, place: int, scales: Sequence[float], totals: tuple[int, ...], strata: tuple[int, ...] | None
    ) -> Published:
        """A sum of totals, each in a unit of its own."""
        value, error = 0.0, 0.0
        for scale, total in zip(scales, totals, strict=True):
            estimate, low, high = self.parameters.total(place, total, strata)
            value += scale * estimate
            error += abs(scale) * max(estimate - low, high - estimate)
        return Published(value, error * (1 + 1e-12) + math.ulp(abs(value)))


def _breaks(design: Design) -> list[float]:
    """The ends of the classes of a weight."""
    return [float(end) for end in getattr(design.column.recoding, "breaks", ())]


def plan_strata(policy: Statistics, design: Design) -> StrataStatisticsPlan:
    """Plan the noise of every statistic of a stratified or weighted sample."""
    strata = design.strata.strata
    weights = own_weights(_breaks(design), strata) if design.weighted else weights_of(strata)
    planned = plan_strata_statistics(weights, policy.shapes(), policy.epsilon, policy.failure)
    # Three guarantees derive from all of it, and one takes a step more.
    if 3 * planned.steps + 1 > MOST_STEPS:
        raise InvalidInput(
            "There are more statistics and rates of strata than fit one certificate.",
            remedy="Publish fewer statistics, or give strata of similar rates one rate.",
            where="[[statistics]]",
            code="plan.steps",
        )
    return StrataStatisticsPlan(policy, planned, design)
