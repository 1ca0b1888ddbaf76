"""Which statistic is published in which way. The choice looks at the policy and never at the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crowdblend.calculus import RULES, Derivation
from crowdblend.errors import InvalidInput
from crowdblend.planning.statistics import published
from crowdblend.planning.statistics.accuracy import Shape
from crowdblend.planning.statistics.ways import (
    EVERYBODY,
    SAMPLE,
    AnyShape,
    Mechanism,
    Way,
    from_everybody,
    from_sample,
)

# The positions of some statistics, and the way that they go; all statistics together.
Taken = tuple[tuple[tuple[int, ...], Way], ...]


@dataclass(frozen=True)
class TotalsRequest:
    """What a steward asks for: statistics within ε with respect to k of n samples, errors except with β.

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
        if not self.shapes:
            raise InvalidInput(
                "The plan has no statistics.", remedy="Add one.", where="shapes", code="plan.no-statistics"
            )
        if not 0 < self.epsilon <= 500:
            raise InvalidInput(
                f"epsilon is {self.epsilon:g}; it must be above 0 and at most 500.",
                remedy="Pass 1, for example.",
                where="epsilon",
                code="plan.epsilon",
            )
        if not 1 <= self.samples <= self.population:
            raise InvalidInput(
                f"A sample of {self.samples} cannot be drawn from {self.population} people.",
                remedy="Draw between 1 and all of them.",
                where="sample",
                code="plan.sample",
            )
        if not 0 < self.failure < 1:
            raise InvalidInput(
                f"confidence is {1 - self.failure:g}; it must be between 0 and 1.",
                remedy="Pass 0.95, for example.",
                where="confidence",
                code="plan.confidence",
            )


@dataclass(frozen=True)
class TotalsPlan:
    """The errors of both ways when all statistics go that way, what was chosen, and what it guarantees.

    Statistics that go the same way share its samples; `ways` has one entry for each way that is taken, with the
    positions of its statistics.
    """

    request: TotalsRequest
    alternatives: dict[Mechanism, Way | None]
    ways: Taken

    @property
    def zero_knowledge(self) -> Derivation:
        """The planned guarantee relative to k of n random people."""
        return self.zero_knowledge_of([way.claim for _, way in self.ways])

    def zero_knowledge_of(self, claims: Sequence[Derivation]) -> Derivation:
        """The guarantee relative to k of n random people, from the claim of each way's mechanism."""
        parts = [way.zero_knowledge_of(claim) for (_, way), claim in zip(self.ways, claims, strict=True)]
        return parts[0] if len(parts) == 1 else RULES["composition.random-samples"](*parts)

    @property
    def differential(self) -> Derivation:
        """The planned guarantee with one person's data replaced."""
        return self.differential_of([way.claim for _, way in self.ways])

    def differential_of(self, claims: Sequence[Derivation]) -> Derivation:
        """The guarantee with one person's data replaced, from the claim of each way's mechanism."""
        parts = [way.differential_of(claim) for (_, way), claim in zip(self.ways, claims, strict=True)]
        return parts[0] if len(parts) == 1 else RULES["composition.differential"](*parts)

    def way_of(self, position: int) -> Way:
        """The way that a statistic goes."""
        return next(way for places, way in self.ways if position in places)

    def shape(self, position: int) -> AnyShape:
        """The shape of a statistic."""
        return self.request.shapes[position]

    def error(self, position: int) -> float:
        """The error of a statistic, in steps per person; of groups, where they are of equal size."""
        return self._of(position, "errors")

    def noise_epsilon(self, position: int) -> float:
        """The loss per step of the noise on a statistic."""
        return self._of(position, "noise_epsilons")

    def error_if_all(self, mechanism: Mechanism, position: int) -> float | None:
        """The error that a statistic would have if all went this way; None where the noise would be too wide."""
        way = self.alternatives[mechanism]
        return None if way is None else way.errors[position]

    def published_errors(self, position: int) -> dict[Mechanism, float | None]:
        """What the paper's statements give each way, its samples and its loss divided among the statistics.

        It has none for quantiles and for numbers in groups.
        """
        shape, request = self.request.shapes[position], self.request
        if not isinstance(shape, Shape) or (shape.bins > 1 and shape.steps > 1):
            return {EVERYBODY: None, SAMPLE: None}
        each = max(1, int(request.samples * shape.share))
        numbers = (shape, request.epsilon * shape.share, each, request.population, request.failure)
        return {EVERYBODY: published.laplace(*numbers), SAMPLE: published.sanitized(*numbers)}

    def _of(self, position: int, name: str) -> float:
        places, way = next(found for found in self.ways if position in found[0])
        value: float = getattr(way, name)[places.index(position)]
        return value


def plan_statistics(request: TotalsRequest) -> TotalsPlan:
    """The way, or the mixture of both, with the smallest sum of errors relative to their ranges."""
    everything = tuple(range(len(request.shapes)))
    alternatives: dict[Mechanism, Way | None] = {
        name: _way(name, request, everything, 1.0, request.samples) for name in (EVERYBODY, SAMPLE)
    }
    if request.plain:
        alternatives[EVERYBODY] = None
    candidates: list[Taken] = [((everything, way),) for way in alternatives.values() if way is not None]
    candidates += [] if request.plain else _mixtures(request)
    if not candidates:
        raise InvalidInput(
            "With this epsilon and these resolutions the noise does not fit numbers of 64 bits.",
            remedy="Use coarser resolutions, fewer statistics or a larger epsilon.",
            where="epsilon",
            code="plan.noise-too-large",
        )
    best = min(candidates, key=lambda ways: _total(request.shapes, ways))
    return TotalsPlan(request, alternatives, best)


def _mixtures(request: TotalsRequest) -> list[Taken]:
    """Every statistic on its better side, each side with half of the samples; nothing if all are on one side."""
    half = request.samples // 2
    if not request.mixed or len(request.shapes) == 1 or half == 0:
        return []
    halves: dict[Mechanism, int] = {EVERYBODY: half, SAMPLE: request.samples - half}
    whole = tuple(range(len(request.shapes)))
    tried = {name: _way(name, request, whole, 1.0, some) for name, some in halves.items()}
    if None in tried.values():
        return []
    better = [min(tried, key=lambda name: tried[name].errors[place]) for place in whole]  # type: ignore[union-attr]
    if len(set(better)) == 1:
        return []
    made = []
    for name, samples in halves.items():
        places = tuple(place for place in whole if better[place] == name)
        way = _way(name, request, places, sum(request.shapes[place].share for place in places), samples)
        if way is None:
            return []
        made.append((places, way))
    return [tuple(made)]


def _way(name: Mechanism, request: TotalsRequest, places: Sequence[int], share: float, samples: int) -> Way | None:
    """The statistics at these places, which own this share of ε, published one way."""
    shapes = [request.shapes[place] for place in places]
    shapes = [replace(shape, share=shape.share / share) for shape in shapes]
    build = from_everybody if name == EVERYBODY else from_sample
    # Rounded down, so that the parts of a mixture stay within ε together.
    loss = request.epsilon if share == 1 else request.epsilon * share * (1 - 1e-12)
    return build(shapes, loss, samples, request.population, request.failure)


def _total(shapes: Sequence[AnyShape], ways: Taken) -> float:
    return sum(
        error / shapes[place].span for places, way in ways for place, error in zip(places, way.errors, strict=True)
    )
