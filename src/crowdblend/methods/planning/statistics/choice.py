"""The way in which each statistic is published, chosen from the policy and never from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from crowdblend.errors import InvalidInput
from crowdblend.methods.planning.statistics.strata_totals import StrataWay
from crowdblend.methods.planning.statistics.ways import EVERYBODY, SAMPLE, AnyShape, SampleWay, Way, plan_way
from crowdblend.trusted.calculus import RULES, Derivation

# The positions of some statistics, and the way that they go; all statistics together.
Taken = tuple[tuple[tuple[int, ...], Way], ...]


@dataclass(frozen=True)
class TotalsRequest:
    """A steward's request: statistics within ε relative to k of n samples, errors except with β.

    `mixed` allows one part of the statistics to go one way and the rest the other, which reads the data twice.
    `plain` is about differential privacy alone: ε is the loss with one person's data replaced, not only concealed.
    """

    shapes: tuple[AnyShape, ...]
    epsilon: float
    samples: int
    population: int
    failure: float
    mixed: bool = True
    plain: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= self.population:
            message = f"A sample of {self.samples} cannot be drawn from {self.population} people."
            raise InvalidInput(message, remedy="Draw between 1 and all of them.", where="sample", code="plan.sample")


@dataclass(frozen=True)
class TotalsPlan:
    """The ways that the statistics go, and what they guarantee together.

    Statistics that go the same way share its samples; `ways` has one entry for each way that is taken, with the
    positions of its statistics. `alternatives` are both ways of a sample where all statistics go that way.
    """

    shapes: tuple[AnyShape, ...]
    ways: tuple[tuple[tuple[int, ...], Way | StrataWay], ...]
    alternatives: Mapping[SampleWay, Way | None] = field(default_factory=dict)

    def derivations(self) -> tuple[Derivation, ...]:
        """Zero-knowledge first, then differential privacy, from the claim of each way's mechanism."""
        each = [way.derivations() for _, way in self.ways]
        if len(each) == 1:
            return each[0]
        private, differential = zip(*each, strict=True)
        return RULES["composition.random-samples"](*private), RULES["composition.differential"](*differential)

    def way_of(self, position: int) -> Way | StrataWay:
        """Return the way that a statistic goes."""
        return next(way for places, way in self.ways if position in places)

    def noise_epsilon(self, position: int) -> float:
        """Return the loss per step of the noise on a statistic."""
        places, way = next(found for found in self.ways if position in found[0])
        return way.noise_epsilons[places.index(position)]

    def error(self, position: int) -> float:
        """Return the error of a statistic of a sample, in steps per person; of groups, where they are of equal size."""
        places, way = next(found for found in self.ways if position in found[0])
        assert isinstance(way, Way), "the errors of strata depend on their sizes"
        return way.errors[places.index(position)]

    def error_if_all(self, mechanism: SampleWay, position: int) -> float | None:
        """Return the error that a statistic would have if all went this way; None where the noise would be too wide."""
        way = self.alternatives[mechanism]
        return None if way is None else way.errors[position]


def plan_statistics(request: TotalsRequest) -> TotalsPlan:
    """Return the way, or the mixture of both, with the smallest sum of errors relative to their ranges."""
    everything = tuple(range(len(request.shapes)))
    alternatives = {name: _way(name, request, everything, 1.0, request.samples) for name in (EVERYBODY, SAMPLE)}
    if request.plain:
        alternatives[EVERYBODY] = None
    candidates: list[Taken] = [((everything, way),) for way in alternatives.values() if way is not None]
    candidates += [] if request.plain else _mixtures(request)
    if not candidates:
        message = "With this epsilon and these resolutions the noise does not fit numbers of 64 bits."
        remedy = "Use coarser resolutions, fewer statistics or a larger epsilon."
        raise InvalidInput(message, remedy=remedy, where="epsilon", code="plan.noise-too-large")

    def error(ways: Taken) -> float:
        each = (found for places, way in ways for found in zip(places, way.errors, strict=True))
        return sum(error / request.shapes[place].span for place, error in each)

    best = min(candidates, key=error)
    return TotalsPlan(request.shapes, best, alternatives)


def _mixtures(request: TotalsRequest) -> list[Taken]:
    """Return every statistic on its better side, each side with half of the samples; nothing if all are on one side."""
    half = request.samples // 2
    if not request.mixed or len(request.shapes) == 1 or half == 0:
        return []
    halves: dict[SampleWay, int] = {EVERYBODY: half, SAMPLE: request.samples - half}
    whole = tuple(range(len(request.shapes)))
    tried = {name: way for name, some in halves.items() if (way := _way(name, request, whole, 1.0, some))}
    if len(tried) < 2:
        return []
    better = [min(tried, key=lambda name: tried[name].errors[place]) for place in whole]
    if len(set(better)) == 1:
        return []
    mixture = []
    for name, samples in halves.items():
        places = tuple(place for place in whole if better[place] == name)
        way = _way(name, request, places, sum(request.shapes[place].share for place in places), samples)
        if way is None:
            return []
        mixture.append((places, way))
    return [tuple(mixture)]


def _way(name: SampleWay, request: TotalsRequest, places: Sequence[int], share: float, samples: int) -> Way | None:
    """Return the statistics at these places, which own this share of ε, published one way."""
    shapes = [replace(request.shapes[place], share=request.shapes[place].share / share) for place in places]
    # Rounded down, so that the parts of a mixture stay within ε together.
    loss = request.epsilon if share == 1 else request.epsilon * share * (1 - 1e-12)
    return plan_way(name, shapes, loss, samples, request.population, request.failure)
