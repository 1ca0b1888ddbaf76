"""The policy of a network: where the links are, what is public about them, and which statistics are published."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec.structs import asdict

from crowdblend.policies.key import Rule, Section, key, part
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.refusals import naming, refusal
from crowdblend.policies.rules import conflicts, needs
from crowdblend.policies.source import DataSource, format_of
from crowdblend.policies.unit import ROWS
from crowdblend.policies.value_types import FilePath, Texts, Wholes
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.planning.networks import request as requests
    from crowdblend.methods.planning.networks import solve
    from crowdblend.methods.planning.networks.request import Bounds, NetworkRequest

_STATISTICS = "publish.statistics"
_TAKES = {
    "degrees": ("breaks",),
    "average": ("column", "start", "stop"),
    "histogram": ("column", "values", "other"),
}
_REQUEST = ("epsilon", "samples", "error", "resolution")


class Links(Section, frozen=True, kw_only=True):
    """The columns of the links, who is in the network, and what to do with links that are none."""

    section = "publish"

    people: Annotated[int, key("How many people there are, those without links included; public.", "people")]
    degree_bound: Annotated[int, key("The most links that anybody can have, known beforehand; public.", "degree_bound")]
    average_bound: Annotated[
        float | None,
        key("The most links that people can have on average; `publish.degree_bound` unless given.", "average_bound"),
    ] = None
    source: Annotated[str, key('The column with one end of every link; "source" unless given.')] = "source"
    target: Annotated[str, key('The column with the other end; "target" unless given.')] = "target"
    vertices: Annotated[
        FilePath | None,
        key(
            "CSV or Parquet file with a row for everybody; needed for statistics of their data. No value in it may be "
            "computed from links or from other people."
        ),
    ] = None
    vertex: Annotated[str, key('The column of that file that names people as the links do; "id" unless given.')] = "id"
    self_loops: Annotated[Literal["refuse", "drop"], key("What to do with links of a person to itself.")] = "refuse"
    duplicates: Annotated[
        Literal["refuse", "drop"], key("What to do with links that are listed twice, in either direction.")
    ] = "refuse"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source == self.target:
            message = f"`publish.source` and `publish.target` are the same column, {self.source[:60]!r}."
            raise refusal("link-columns", message, "Name the two columns with the ends of a link.", "`publish.target`")
        _ = self.bounds
        _ = self.people_source

    @cached_property
    def bounds(self) -> Bounds:
        """The public bounds of the network."""
        average = self.degree_bound if self.average_bound is None else self.average_bound
        return naming("`publish`", lambda: requests.Bounds(self.people, self.degree_bound, float(average)))

    @cached_property
    def people_source(self) -> DataSource | None:
        """The source that lists everybody, ready to be opened."""
        if self.vertices is None:
            return None
        path = self.vertices
        return naming("`publish.vertices`", lambda: DataSource(path, format_of(path), rows_are_people=True))


class GraphStatistic(Section, frozen=True, kw_only=True):
    """One statistic of a network as the policy asks for it."""

    section = _STATISTICS
    rules: ClassVar[tuple[Rule, ...]] = (
        *(needs(f"name={name}", one, code="statistic") for name, keys in _TAKES.items() for one in keys[:2]),
        needs("name=average", "stop", code="statistic"),
        *(
            needs(one, *(f"name={name}" for name, keys in _TAKES.items() if one in keys), code="statistic")
            for one in ("breaks", "column", "start", "stop", "values", "other")
        ),
    )

    name: Annotated[
        Literal["connectivity", "cycle-freeness", "eulerian", "average-degree", "degrees", "average", "histogram"],
        key("The statistic."),
    ]
    epsilon: Annotated[
        float | None,
        key("Its privacy loss; an equal part of what is left of the release's unless given.", "epsilon"),
    ] = None
    samples: Annotated[int | None, key("How many random people the guarantee is relative to.", "samples")] = None
    error: Annotated[float | None, key("The error to keep to, at 95 % confidence; instead of samples or epsilon.")] = (
        None
    )
    resolution: Annotated[
        float | None, key("The step of the grid that published numbers lie on; planned unless given.", "resolution")
    ] = None
    breaks: Annotated[
        Wholes | None,
        key("For degrees: the numbers of links from which on a new band begins; the first band begins with 0."),
    ] = None
    column: Annotated[
        str | None, key("For average and histogram: the column of the vertices, which no link decides.")
    ] = None
    start: Annotated[float | None, key("For average: the smallest possible value.", name="from")] = None
    stop: Annotated[float | None, key("For average: the largest possible value.", name="to")] = None
    values: Annotated[Texts | None, key("For histogram: the classes.")] = None
    other: Annotated[str | None, key("For histogram: the class of every other value.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            message = f"from of the average is {self.start:g} and not below to, {self.stop:g}."
            raise refusal("statistic", message, "Correct the bounds.", f"`{_STATISTICS}.from`")
        if self.values is not None and (not self.values or len(set(self.classes)) < len(self.classes)):
            message = f"values of the histogram {'name a class twice' if self.values else 'are empty'}."
            raise refusal("statistic", message, "List the classes, each once.", f"`{_STATISTICS}.values`")

        if self.breaks is not None and not _rise_from_1(self.breaks):
            message = "breaks of the degrees do not rise from 1 or more."
            raise refusal("statistic", message, "List them in order, each once.", f"`{_STATISTICS}.breaks`")

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of a histogram, that of other values last, or the bands of degrees."""
        if self.breaks is not None:
            return requests.bands(self.breaks)
        return (*(self.values or ()), *((self.other,) if self.other is not None else ()))

    @property
    def label(self) -> str:
        """The name of the statistic in the published table."""
        return self.name if self.column is None else f"{self.name} of {self.column}"

    @property
    def low(self) -> float:
        """The lower end of the range of an average; other statistics begin at 0."""
        return float(self.start or 0)

    @property
    def width(self) -> float | None:
        """The length of the range of an average, rounded up."""
        if self.start is None or self.stop is None:
            return None
        length = self.stop - self.start
        exact = Fraction(self.stop) - Fraction(self.start)
        return length if Fraction(length) >= exact else math.nextafter(length, math.inf)

    @property
    def shares(self) -> bool:
        """True if it takes a part of the release's epsilon: not where samples and error already say it."""
        return self.epsilon is None and (self.samples is None or self.error is None)

    def request(self, bounds: Bounds, epsilon: float | None = None) -> NetworkRequest:
        """Return the request to plan within the `bounds` of the network; `epsilon` is its part of the release's."""
        given = {name: value for name, value in asdict(self).items() if name in _REQUEST}
        if self.shares:
            given["epsilon"] = epsilon
        return requests.NetworkRequest(self.name, bounds, **given, width=self.width, classes=len(self.classes) or None)


def _rise_from_1(breaks: tuple[int, ...]) -> bool:
    return bool(breaks) and breaks[0] >= 1 and all(low < high for low, high in pairwise(breaks))


class Graph(Publication, frozen=True, kw_only=True):
    """Figures of a network, from one link a row."""

    kind = "graph"
    lacks = (*("columns", "sampling", "people", ROWS, "delta", "releases", "accept_delta", "recoding"),)
    joins_others = False
    rows_are_links = True
    without = ("share", "weight", "columns")
    positional = "statistics"

    graph: Annotated[Links, part("The links, and what is public about them.")]
    statistics: Annotated[tuple[GraphStatistic, ...], part("The statistics of a network, one after the other.")] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            *statistics: GraphStatistic,
            people: int,
            degree_bound: int,
            average_bound: float | None = None,
            source: str = "source",
            target: str = "target",
            vertices: str | None = None,
            vertex: str = "id",
            self_loops: Literal["refuse", "drop"] = "refuse",
            duplicates: Literal["refuse", "drop"] = "refuse",
            name: str | None = None,
        ) -> None: ...


class GraphPolicy(PublicationPolicy, frozen=True, kw_only=True):
    """Figures of a network."""

    rules: ClassVar[tuple[Rule, ...]] = (
        conflicts("person", because="rows of a network are links"),
        conflicts("rows_are_people", because="rows of a network are links"),
    )

    publication: Graph
    epsilon: Annotated[
        float | None,
        key("The privacy loss of all statistics; those without their own share it.", "epsilon", section="privacy"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        statistics, graph = self.publication.statistics, self.publication.graph
        if not statistics:
            raise refusal("statistics", "The policy has no statistics.", "Add at least one.", f"`{_STATISTICS}`")
        labels = [statistic.label for statistic in statistics]
        for statistic in statistics:
            if labels.count(statistic.label) > 1:
                raise refusal(
                    "statistic-twice",
                    f"`{_STATISTICS}` has {statistic.label[:60]} twice.",
                    "Remove one.",
                    f"`{_STATISTICS}`",
                )
            if statistic.breaks is not None and statistic.breaks[-1] > graph.degree_bound:
                message = f"breaks of the degrees go beyond `degree_bound = {graph.degree_bound}`."
                raise refusal("statistic", message, "Leave larger ones out.", f"`{_STATISTICS}.breaks`")
            if statistic.column is not None and graph.vertices is None:
                message = f"The {statistic.label[:60]} needs people's data."
                raise refusal("vertices", message, "Name their file as `publish.vertices`.", "`publish.vertices`")
        _ = self.requests

    def published_texts(self) -> Iterator[tuple[str, str]]:
        for statistic in self.publication.statistics:
            yield from ((f"`{_STATISTICS}`", text) for text in (statistic.label, *statistic.classes))

    def _people(self) -> dict[str, Any]:
        return {"rows_are_people": True}

    @cached_property
    def graph_in_memory(self) -> Any:
        """A networkx graph given from Python instead of the source, by `with_graph`."""
        return None

    @property
    def people_columns(self) -> tuple[str, ...]:
        """The columns of people's data that are used, each once."""
        return tuple(dict.fromkeys(s.column for s in self.publication.statistics if s.column is not None))

    @cached_property
    def requests(self) -> tuple[NetworkRequest, ...]:
        """The request of every statistic, with its part of epsilon."""
        bounds, part_of_epsilon = self.publication.graph.bounds, self._part_of_epsilon()
        asked = (partial(one.request, bounds, part_of_epsilon) for one in self.publication.statistics)
        return tuple(naming(f"`{_STATISTICS}`", request) for request in asked)

    def _part_of_epsilon(self) -> float | None:
        """Return the part of the release's epsilon for each statistic without one of its own."""
        statistics, bounds = self.publication.statistics, self.publication.graph.bounds
        sharing = sum(statistic.shares for statistic in statistics)
        if self.epsilon is None:
            return None
        left = self.epsilon - sum(
            solve.plan_network(one.request(bounds)).epsilon if one.epsilon is None else one.epsilon
            for one in statistics
            if not one.shares
        )
        if left < 0 or (sharing and left <= 0):
            message = f"`privacy.epsilon` is {self.epsilon:g}, less than its statistics take."
            raise refusal("epsilon-shared", message, "Raise it, or lower theirs.", "`privacy.epsilon`")
        return left / sharing if sharing else None


def with_graph(policy: GraphPolicy, graph: Any) -> GraphPolicy:
    """Return the policy about a networkx graph, or anything with nodes, edges and is_directed, instead of a file."""
    placed = copy.copy(policy)
    placed.__dict__["graph_in_memory"] = graph
    return placed
