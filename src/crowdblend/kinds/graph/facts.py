"""Facts of network statistics: what everybody may know of the network, and the noise on every statistic."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated

import msgspec

from crowdblend.kinds.shared.facts import Count, Fact, Parameters, ReleaseFacts, contradiction
from crowdblend.methods.planning.networks.request import (
    PEOPLE_S_DATA,
    Bounds,
    SimulatorView,
    bands,
    derive_release,
    differential,
    estimator,
)
from crowdblend.methods.planning.networks.solve import CONFIDENCE, error_of
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.calculus.rules.composition import compose

Positive = Annotated[float, msgspec.Meta(gt=0)]


class GraphStatisticFacts(Fact, frozen=True, kw_only=True):
    """One statistic: what it is, the noise on it, and how many random people its guarantee is relative to.

    An average of a column lies at most `width` above `low`; a histogram has the classes `labels`, and a degree
    distribution bands, of which a new one begins at each of `breaks`.
    """

    name: str
    scale: Positive
    resolution: Positive
    samples: Count
    explored: Count = 1
    column: str | None = None
    low: float = 0.0
    width: Positive | None = None
    labels: tuple[str, ...] = ()
    other: str | None = None
    breaks: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        if (self.name in PEOPLE_S_DATA) != (self.column is not None):
            raise ValueError("statistics of people's data have a column, and no others")
        if (self.name == "histogram") != bool(self.labels) or (self.name == "average") != (self.width is not None):
            raise ValueError("a histogram has labels, an average has a width, and nothing else has either")
        if (self.name == "degrees") != bool(self.breaks) or any(low >= high for low, high in pairwise(self.breaks)):
            raise ValueError("degrees have breaks that rise, and nothing else has any")

    @property
    def label(self) -> str:
        """The name of the statistic in the published table."""
        return self.name if self.column is None else f"{self.name} of {self.column}"

    @property
    def shares(self) -> tuple[str, ...]:
        """The classes of a histogram or the bands of degrees, of which shares are published."""
        return bands(self.breaks) if self.breaks else self.labels

    @property
    def classes(self) -> int | None:
        """The number of classes of a histogram, or of bands of degrees."""
        return len(self.shares) or None

    @property
    def error(self) -> float:
        """The largest error of the published number, with the stated confidence."""
        return error_of(self.scale, self.resolution)


class GraphFacts(ReleaseFacts, frozen=True, kw_only=True, dict=True, tag="graph"):
    """Facts of a release of network statistics."""

    people: Count
    degree_bound: Count
    average_bound: Annotated[float, msgspec.Meta(gt=0)]
    statistics: Annotated[tuple[GraphStatisticFacts, ...], msgspec.Meta(min_length=1)]

    @property
    def rows_are_people(self) -> bool:
        """Rows are links, and people are known by their names."""
        return False

    @cached_property
    def bounds(self) -> Bounds:
        """The public bounds of the network."""
        return Bounds(self.people, self.degree_bound, self.average_bound)

    @property
    def stated_confidence(self) -> float:
        return CONFIDENCE

    @cached_property
    def guarantees_of_statistics(self) -> tuple[Derivation, ...]:
        """The guarantee of every statistic relative to random people."""
        return tuple(
            derive_release(one, self.bounds, estimator(one, self.bounds, view), one.scale, one.resolution)
            for one in self.statistics
            for view in [SimulatorView(one.samples, one.explored)]
        )

    def derivations(self) -> tuple[Derivation, ...]:
        """Derive zero-knowledge privacy of all statistics together, and differential privacy."""
        if len({one.label for one in self.statistics}) < len(self.statistics):
            raise contradiction("it states a statistic twice")
        if any(one.breaks and one.breaks[-1] > self.degree_bound for one in self.statistics):
            raise contradiction("its bands of degrees go beyond the bound on degrees")
        if sum(one.samples for one in self.statistics) >= self.people:
            raise contradiction("its statistics look at no fewer people than there are")
        alone = (differential(one, self.bounds, one.scale, one.resolution) for one in self.statistics)
        return compose(*self.guarantees_of_statistics), compose(*alone)

    @property
    def parameters(self) -> Parameters:
        return {
            "epsilon": float(self.derivations()[0].conclusion.epsilon),
            "people": self.people,
            "degree_bound": self.degree_bound,
            "average_bound": self.average_bound,
            "sampled_people": sum(one.samples for one in self.statistics),
            "confidence": CONFIDENCE,
        }
