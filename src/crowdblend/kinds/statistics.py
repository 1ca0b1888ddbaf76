"""Statistics: averages, shares, counts and histograms with noise, about everybody or about a sample of exactly k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from crowdblend.calculus import Derivation
from crowdblend.calculus.groups import derived_for_group
from crowdblend.engines.draw import Draw, Everybody, Exactly
from crowdblend.engines.engine import Engine, Progress, check_source
from crowdblend.guarantees.wording import at_least
from crowdblend.kinds.kind import Outcome, Publication, Reading, ReleasePlan, software
from crowdblend.planning.statistics import EVERYBODY, SAMPLE, TotalsPlan, TotalsRequest, Way, plan_statistics
from crowdblend.policies.source import STDIN
from crowdblend.policies.statistics import Statistic, Statistics
from crowdblend.recoding.classes import LARGEST_DOMAIN

if TYPE_CHECKING:
    from crowdblend.engines.outside_values import OutsideValues
    from crowdblend.engines.totals import Totals
    from crowdblend.mechanisms.totals import NoisyTotals
    from crowdblend.planning.statistics.ways import Mechanism
    from crowdblend.randomness import ReleaseKey

_WAYS = {EVERYBODY: "all people, with noise", SAMPLE: "a sample, with noise"}


@dataclass(frozen=True)
class TotalsReading(Reading):
    """What everybody, or a sample, or both add up to: the totals of every way that is taken."""

    totals: Mapping[Mechanism, Totals]

    @property
    def internal(self) -> dict[str, int]:
        return {"people_drawn": max(some.people for some in self.totals.values())}

    @property
    def outside(self) -> Mapping[str, OutsideValues]:
        """What went to the class `other` of a column, among everybody where they were added up."""
        return max(self.totals.values(), key=lambda some: some.people).outside


@dataclass(frozen=True)
class StatisticsPlan(ReleasePlan[Statistics, TotalsReading]):
    """A policy with nothing left open: the noise and the error of every statistic."""

    policy: Statistics
    parameters: TotalsPlan

    def derivations(self, mechanisms: tuple[NoisyTotals, ...]) -> tuple[Derivation, ...]:
        """Zero-knowledge for one person, for a group if the policy has one, and differential privacy."""
        claims, group = [mechanism.claim() for mechanism in mechanisms], self.policy.group
        one = self.parameters.zero_knowledge_of(claims)
        together = () if group is None or group == 1 else (derived_for_group(one, group),)
        return (one, *together, self.parameters.differential_of(claims))

    @property
    def mechanisms(self) -> tuple[NoisyTotals, ...]:
        """The noise on the totals of every way, as it is drawn and certified."""
        from crowdblend.mechanisms.totals import NoisyTotals  # noqa: PLC0415  loads NumPy

        return tuple(NoisyTotals(way.shapes, way.noise_epsilons) for _, way in self.parameters.ways)

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
            "columns": {name: self._domains(name) for name in policy.wanted},
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
            way = self.parameters.way_of(place).mechanism
            lines.append(
                ("would publish", f"{made.name}: {made.words()}, ±{_shown(self.error(place))} from {_WAYS[way]}")
            )
            other = SAMPLE if way == EVERYBODY else EVERYBODY
            instead = self._error_if_all(other, place)
            shown = "too much noise" if instead is None else f"±{_shown(instead)}"
            lines.append(("", f"{shown} if all were from {_WAYS[other]}"))
        lines.append(("", f"each within its ± with a probability of at least {at_least(policy.confidence)}"))
        return lines

    def check_source(self, engine: Engine) -> None:
        """Refuse a source that does not exist or lacks a column, without reading a row."""
        check_source(engine, self.policy.data, self.policy.wanted, self.policy.resources)

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> TotalsReading:
        """Add up everybody, the sample, or both."""
        policy = self.policy
        columns = [column for column in policy.classes if column.name in _labelled(policy.statistics)]
        measures = {name: bounds for name, bounds in policy.measures.items() if name in _averaged(policy.statistics)}
        with engine.open(policy.data, policy.wanted, policy.resources, progress) as source:
            totals = {
                way.mechanism: source.totals(columns, measures, self._draw(way, key)) for _, way in self.parameters.ways
            }
        return TotalsReading(totals)

    def _draw(self, way: Way, key: ReleaseKey) -> Draw:
        """Whom a way adds up."""
        return Everybody() if way.mechanism == EVERYBODY else Exactly(key.coin(), way.samples, self.policy.people)

    def error(self, place: int) -> float:
        """The error of a statistic in its own unit, and of writing the largest possible value as a double."""
        return self.in_unit(place, self.parameters.error(place)) + math.ulp(self._largest(place))

    def value(self, place: int, steps: Fraction) -> float:
        """What is published when the people add up to this many steps on average, kept within what is possible."""
        made = self.policy.statistics[place]
        if made.what == "average":
            return float(self.policy.measures[str(made.column)].value(steps))
        share = min(max(steps, Fraction(0)), Fraction(1))
        return float(share if made.what == "fraction" else share * self.policy.people)

    def in_unit(self, place: int, steps: float) -> float:
        """So many steps per person in the statistic's own unit."""
        made = self.policy.statistics[place]
        if made.what == "average":
            return steps * float(self.policy.measures[str(made.column)].resolution)
        return steps if made.what == "fraction" else steps * self.policy.people

    def publish(self, reading: TotalsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """Every statistic with its noise, in the order of the policy."""
        from crowdblend.kinds.outputs import NumbersOutput  # noqa: PLC0415  loads NumPy

        del progress
        values: dict[int, list[float]] = {}
        mechanisms = self.mechanisms
        for (places, way), mechanism in zip(self.parameters.ways, mechanisms, strict=True):
            totals = reading.totals[way.mechanism]
            people = totals.people
            exact = [
                totals.of(made, self.policy.bins(made)) for made in (self.policy.statistics[place] for place in places)
            ]
            source = key.source(f"noise on totals, {way.mechanism}".encode())
            noisy = mechanism.publish(exact, source)
            for place, numbers in zip(places, noisy, strict=True):
                values[place] = [self.value(place, Fraction(int(number), people)) for number in numbers]
        rows = [
            (made.name, label, value, self.error(place))
            for place, made in enumerate(self.policy.statistics)
            for label, value in zip(self.policy.bins(made) or (None,), values[place], strict=True)
        ]
        stated, bins, published, errors = (list(column) for column in zip(*rows, strict=True))
        columns = {"statistic": stated, "bin": bins, "value": published, "error": errors}
        output = NumbersOutput(f"data.{self.policy.format}", columns, texts=("bin",))
        return Publication((output,), mechanisms)

    def _domains(self, name: str) -> list[dict[str, Any]]:
        """How a column is read: by its labels, within its bounds, or both."""
        policy, domains = self.policy, []
        if any(name in made.among or (made.what, made.column) == ("histogram", name) for made in policy.statistics):
            domains += [column.recoding.domain(LARGEST_DOMAIN) for column in policy.classes if column.name == name]
        if any((made.what, made.column) == ("average", name) for made in policy.statistics):
            domains.append(policy.measures[name].domain())
        return domains

    def _largest(self, place: int) -> float:
        """The largest absolute value that can be published."""
        made = self.policy.statistics[place]
        if made.what == "average":
            bounds = self.policy.measures[str(made.column)]
            return max(abs(float(bounds.start)), abs(float(bounds.stop)))
        return 1.0 if made.what == "fraction" else float(self.policy.people)

    def _error_if_all(self, mechanism: Any, place: int) -> float | None:
        error = self.parameters.error_if_all(mechanism, place)
        return None if error is None else self.in_unit(place, error)

    def _described(self, place: int, made: Statistic) -> dict[str, Any]:
        way = self.parameters.way_of(place)
        published = self.parameters.published_errors(place)
        return {
            **made.facts(),
            "way": way.mechanism,
            "samples": way.samples,
            "noise_epsilon": self.parameters.noise_epsilon(place),
            "error": self.error(place),
            "error_everybody": self._error_if_all(EVERYBODY, place),
            "error_sample": self._error_if_all(SAMPLE, place),
            "error_published": {
                name: None if error is None else self.in_unit(place, error) for name, error in published.items()
            },
        }


def _labelled(statistics: Sequence[Statistic]) -> set[str]:
    """The columns whose labels some statistic counts."""
    histograms = {str(made.column) for made in statistics if made.what == "histogram"}
    return histograms | {name for made in statistics for name in made.among}


def _averaged(statistics: Sequence[Statistic]) -> set[str]:
    """The columns that some statistic averages."""
    return {str(made.column) for made in statistics if made.what == "average"}


def _shown(error: float) -> str:
    """An error to four digits, rounded up."""
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(error))):.4g}"


def plan(policy: Statistics) -> StatisticsPlan:
    """Plan the noise of every statistic."""
    request = TotalsRequest(
        shapes=policy.shapes(),
        epsilon=policy.epsilon,
        samples=policy.samples,
        population=policy.people,
        failure=policy.failure,
        mixed=policy.data.source != STDIN,
    )
    return StatisticsPlan(policy, plan_statistics(request))
