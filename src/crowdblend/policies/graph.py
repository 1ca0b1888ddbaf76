"""The policy of a network: where the links are, what is public about them, and which statistics are published."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from crowdblend.policies.key import Section, key, naming, refusal
from crowdblend.policies.policy import Policy, part
from crowdblend.policies.sampling import NOT_SAMPLED, Sampling
from crowdblend.policies.source import DataSource, format_of

if TYPE_CHECKING:
    from crowdblend.planning.networks import Bounds, NetworkRequest

_STATISTICS = "[[graph.statistics]]"
_REQUEST = ("epsilon", "samples", "error", "explored", "accuracy", "failure_exponent", "resolution")


@dataclass(frozen=True, kw_only=True)
class Links(Section):
    """The columns of the links, who is in the network, and what to do with links that are none."""

    section = "graph"

    people: int = key("How many people there are, those without links included; public.", required=True, ranged=True)
    degree_bound: int = key(
        "The most links that anybody can have, known beforehand; public.", required=True, ranged=True
    )
    average_bound: float | None = key(
        "The most links that people can have on average; degree_bound unless given.", ranged=True
    )
    source: str = key('The column with one end of every link; "source" unless given.', default="source")
    target: str = key('The column with the other end; "target" unless given.', default="target")
    vertices: str | None = key(
        "CSV or Parquet file with a row for everybody; needed for statistics of their data.", kind="path"
    )
    vertex: str = key('The column of that file that names people as the links do; "id" unless given.', default="id")
    self_loops: Literal["refuse", "drop"] = key("What to do with links of a person to itself.", default="refuse")
    duplicates: Literal["refuse", "drop"] = key(
        "What to do with links that are listed twice, in either direction.", default="refuse"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source == self.target:
            raise refusal(
                "link-columns",
                f"source and target in [graph] are the same column, {self.source[:60]!r}.",
                "Name the two columns with the ends of a link.",
                "[graph] target",
            )
        _ = self.bounds
        _ = self.people_source

    @cached_property
    def bounds(self) -> Bounds:
        """What everybody may know of the network."""
        from crowdblend.planning.networks.request import Bounds  # noqa: PLC0415

        average = self.degree_bound if self.average_bound is None else self.average_bound
        return naming("[graph]", lambda: Bounds(self.people, self.degree_bound, float(average)))

    @cached_property
    def people_source(self) -> DataSource | None:
        """Where everybody is listed, ready to be opened."""
        if self.vertices is None:
            return None
        path = self.vertices
        return naming("[graph] vertices", lambda: DataSource(path, format_of(path), rows_are_people=True))


@dataclass(frozen=True, kw_only=True)
class GraphStatistic(Section):
    """One statistic of a network as the policy asks for it."""

    section = _STATISTICS

    name: Literal["connectivity", "cycle-freeness", "eulerian", "average-degree", "average", "histogram"] = key(
        "The statistic.", required=True
    )
    epsilon: float | None = key(
        "Its privacy loss; an equal part of what is left of the release's unless given.", ranged=True
    )
    samples: int | None = key("How many random people the guarantee is relative to.", ranged=True)
    error: float | None = key("The error to keep to, at 95 % confidence; instead of samples or epsilon.")
    explored: int | None = key("How many people may be reached from each of them; planned unless given.", ranged=True)
    accuracy: float | None = key("In the paper's terms: δ, what the sampler may err by; below 1/2.", ranged=True)
    failure_exponent: float | None = key(
        "In the paper's terms: K; the sampler fails with probability e^-K.", ranged=True
    )
    resolution: float | None = key(
        "The step of the grid that published numbers lie on; planned unless given.", ranged=True
    )
    column: str | None = key("For average and histogram: the column of the vertices.")
    start: float | None = key("For average: the smallest possible value.", name="from")
    stop: float | None = key("For average: the largest possible value.", name="to")
    values: tuple[str, ...] | None = key("For histogram: the classes.")
    other: str | None = key("For histogram: the class of every other value.")

    def __post_init__(self) -> None:
        super().__post_init__()
        takes = {
            "average": ("column", "start", "stop"),
            "histogram": ("column", "values", "other"),
        }.get(self.name, ())
        names = {"column": "column", "start": "from", "stop": "to", "values": "values", "other": "other"}
        for attribute, name in names.items():
            given = getattr(self, attribute) is not None
            if given and attribute not in takes:
                raise refusal("statistic", f"{self.name} takes no {name}.", f"Remove {name}.", f"{_STATISTICS} {name}")
            if not given and attribute in takes and attribute != "other":
                raise refusal("statistic", f"{self.name} needs {name}.", f"Add {name}.", f"{_STATISTICS} {name}")
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            raise refusal(
                "statistic",
                f"from of the average is {self.start:g} and not below to, {self.stop:g}.",
                "Correct the bounds.",
                f"{_STATISTICS} from",
            )
        if self.values is not None and (not self.values or len(set(self.classes)) < len(self.classes)):
            raise refusal(
                "statistic",
                f"values of the histogram {'name a class twice' if self.values else 'are empty'}.",
                "List the classes, each once.",
                f"{_STATISTICS} values",
            )

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of a histogram, that of other values last."""
        return (*(self.values or ()), *((self.other,) if self.other is not None else ()))

    @property
    def label(self) -> str:
        """Its name in the published table."""
        return self.name if self.column is None else f"{self.name} of {self.column}"

    @property
    def shares(self) -> bool:
        """Whether it takes a part of the release's epsilon: not where samples and error already say it."""
        return self.epsilon is None and (self.samples is None or self.error is None)

    def request(self, bounds: Bounds, epsilon: float | None = None) -> NetworkRequest:
        """What is planned; `epsilon` is its part of the release's."""
        from crowdblend.planning.networks.request import NetworkRequest  # noqa: PLC0415

        given = {name: getattr(self, name) for name in _REQUEST}
        if self.shares:
            given["epsilon"] = epsilon
        width = None if self.start is None or self.stop is None else _length(self.start, self.stop)
        return NetworkRequest(
            self.name, bounds, **given, width=width, classes=len(self.classes) if self.values else None
        )


@dataclass(frozen=True)
class NetworkStatistic:
    """One statistic with its part of epsilon: what is planned, and for people's data the column and its domain."""

    request: NetworkRequest
    column: str | None = None
    low: float = 0.0
    classes: tuple[str, ...] = ()
    other: str | None = None

    @property
    def label(self) -> str:
        """Its name in the published table."""
        return self.request.name if self.column is None else f"{self.request.name} of {self.column}"


@dataclass(frozen=True, kw_only=True)
class Graph(Policy):
    """What the steward decided, complete and free of contradictions.

    `graph_in_memory` is a networkx graph given from Python instead of the source.
    """

    kind = "graph"

    graph: Links = part("graph", Links, "The links, and what is public about them.", required=True)
    statistics: tuple[GraphStatistic, ...] = part(
        "graph.statistics", GraphStatistic, "The statistics of a network, one after the other.", many=True
    )
    epsilon: float | None = key("The privacy loss of all statistics; those without their own share it.", ranged=True)
    graph_in_memory: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.statistics:
            raise refusal(
                "statistics", "The policy has no [[graph.statistics]].", "Add at least one statistic.", _STATISTICS
            )
        labels = [statistic.label for statistic in self.statistics]
        for statistic in self.statistics:
            if labels.count(statistic.label) > 1:
                raise refusal(
                    "statistic-twice", f"{_STATISTICS} has {statistic.label[:60]} twice.", "Remove one.", _STATISTICS
                )
            if statistic.column is not None and self.graph.vertices is None:
                raise refusal(
                    "vertices",
                    f"The {statistic.label[:60]} needs people's data.",
                    "Name their file as vertices in [graph].",
                    "[graph] vertices",
                )
        _ = self.requests

    def published_texts(self) -> Iterator[tuple[str, str]]:
        """The names of statistics and their classes."""
        for statistic in self.statistics:
            yield from ((_STATISTICS, text) for text in (statistic.label, *statistic.classes))

    @property
    def sampling(self) -> Sampling:
        """A network is not sampled beforehand: each statistic draws people of its own."""
        return NOT_SAMPLED

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of people's data that are used, each once."""
        return tuple(dict.fromkeys(s.column for s in self.statistics if s.column is not None))

    @cached_property
    def requests(self) -> tuple[NetworkStatistic, ...]:
        """Every statistic with its part of epsilon."""
        part_of_epsilon = self._part_of_epsilon()
        return tuple(
            NetworkStatistic(
                naming(_STATISTICS, lambda one=one: one.request(self.graph.bounds, part_of_epsilon)),  # type: ignore[misc]
                one.column,
                float(one.start or 0),
                one.classes,
                one.other,
            )
            for one in self.statistics
        )

    def _part_of_epsilon(self) -> float | None:
        """What each statistic without an epsilon of its own gets of the release's."""
        sharing = sum(statistic.shares for statistic in self.statistics)
        if self.epsilon is None:
            return None
        left = self.epsilon - sum(self._taken(statistic) for statistic in self.statistics)
        if left < 0 or (sharing and left <= 0):
            raise refusal(
                "epsilon-shared",
                f"epsilon in [release] is {self.epsilon:g}, less than its statistics take.",
                "Raise it, or lower theirs.",
                "[release] epsilon",
            )
        return left / sharing if sharing else None

    def _taken(self, statistic: GraphStatistic) -> float:
        """What a statistic takes of the release's epsilon before the others share the rest."""
        if statistic.epsilon is not None:
            return statistic.epsilon
        if statistic.shares:
            return 0.0
        from crowdblend.planning.networks import plan_network  # noqa: PLC0415

        return plan_network(statistic.request(self.graph.bounds)).epsilon


def with_graph(policy: Graph, graph: Any) -> Graph:
    """The policy about a networkx graph in memory, or anything with nodes, edges and is_directed, instead of a file."""
    return replace(policy, graph_in_memory=graph)


def _length(low: float, high: float) -> float:
    """high − low, rounded up."""
    length = high - low
    return length if Fraction(length) >= Fraction(high) - Fraction(low) else math.nextafter(length, math.inf)
