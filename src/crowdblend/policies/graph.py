"""The policy of a network: where the links are, what is public about them, and which statistics are published.

GraphPolicy
├── data: DataSource         the links, one a row
├── graph: Links             their columns, the public bounds, and where everybody is listed
├── statistics: Statistic …  what is published, each with its promise or its error
└── release: Release         the format, and the epsilon that the statistics share
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.planning.networks import PEOPLE_S_DATA, Bounds, NetworkQuestion, plan_network
from crowdblend.policies.keys import GRAPH, GRAPH_STATISTICS, read_keys, shown
from crowdblend.policies.sections import DataSource, Release, Sampling, read_data, read_release

_PARTS = ("data", "graph", "release")
_NOT_OF_LINKS = ("person", "rows_are_people", "duplicates")


@dataclass(frozen=True)
class Links:
    """The columns of the links, who is in the network, and what to do with links that are none."""

    bounds: Bounds
    source: str = "source"
    target: str = "target"
    vertices: DataSource | None = None
    vertex: str = "id"
    self_loops: str = "refuse"
    duplicates: str = "refuse"

    def __post_init__(self) -> None:
        if self.source == self.target:
            raise InvalidInput(
                f"source and target in [graph] must be two columns, got {self.source!r} twice. Name both."
            )


@dataclass(frozen=True)
class Statistic:
    """One statistic: what is asked, and for people's data the column and its domain."""

    question: NetworkQuestion
    column: str | None = None
    low: float = 0.0
    classes: tuple[str, ...] = ()
    other: str | None = None

    @property
    def label(self) -> str:
        """Its name in the published table."""
        return self.question.name if self.column is None else f"{self.question.name} of {self.column}"


@dataclass(frozen=True)
class GraphPolicy:
    """What the steward decided, complete and free of contradictions.

    `graph_in_memory` is a networkx graph given from Python instead of the source.
    """

    data: DataSource
    graph: Links
    statistics: tuple[Statistic, ...]
    release: Release
    sampling: Sampling = field(default_factory=Sampling)
    graph_in_memory: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        labels = [statistic.label for statistic in self.statistics]
        for label in labels:
            if labels.count(label) > 1:
                raise InvalidInput(f"[[graph.statistics]] must be different, got {label} twice. Drop one.")
        for statistic in self.statistics:
            if statistic.column is not None and self.graph.vertices is None:
                raise InvalidInput(
                    f"vertices in [graph] must be given for the {statistic.label}, and is missing. Name the file with "
                    "people's data."
                )

    @property
    def kind(self) -> str:
        """What is published."""
        return self.release.kind

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of people's data that are used, each once."""
        return tuple(dict.fromkeys(s.column for s in self.statistics if s.column is not None))


def with_graph(policy: GraphPolicy, graph: Any) -> GraphPolicy:
    """The policy about a networkx graph in memory, or anything with nodes, edges and is_directed, instead of a file."""
    return replace(policy, graph_in_memory=graph)


def read_policy(parts: dict[str, Any], folder: Path) -> GraphPolicy:
    """The policy of a network."""
    for name in parts:
        if name not in _PARTS:
            why = "a network is not sampled" if name == "sampling" else "[[graph.statistics]] says what is published"
            raise InvalidInput(f'[{name}] must be left out with kind = "graph": {why}. Remove it.')
    if "graph" not in parts:
        raise InvalidInput("the policy must have a section [graph], and it is missing. Add it.")
    release = read_release(parts["release"])
    table = dict(parts["graph"]) if isinstance(parts["graph"], Mapping) else parts["graph"]
    asked = table.pop("statistics", None) if isinstance(table, dict) else None
    links = _read_links(table, folder)
    return GraphPolicy(_read_source(parts["data"], folder), links, _read_statistics(asked, links, release), release)


def _read_source(table: Any, folder: Path) -> DataSource:
    if isinstance(table, Mapping):
        for name in _NOT_OF_LINKS:
            if name in table:
                raise InvalidInput(
                    f"{name} in [data] must be left out: rows are links, and people are named by their ends. Remove it."
                )
        table = {**table, "rows_are_people": True}
    return read_data(table, folder)


def _read_links(table: Any, folder: Path) -> Links:
    given = read_keys("[graph]", GRAPH, table)
    degree = given.pop("degree_bound")
    bounds = Bounds(given.pop("people"), degree, float(given.pop("average_bound", degree)))
    if "vertices" in given:
        given["vertices"] = read_data({"source": given["vertices"], "rows_are_people": True}, folder)
    return Links(bounds, **given)


def _read_statistics(asked: Any, links: Links, release: Release) -> tuple[Statistic, ...]:
    if not isinstance(asked, list) or not asked:
        raise InvalidInput(
            f"[[graph.statistics]] must name at least one statistic, got {shown(asked) if asked else 'none'}. Add one."
        )
    given = [read_keys("[[graph.statistics]]", GRAPH_STATISTICS, part) for part in asked]
    free = [one for one in given if _shares(one)]
    if release.epsilon is not None:
        left = release.epsilon - sum(_taken(one, links) for one in given)
        if left < 0 or (free and left <= 0):
            raise InvalidInput(
                f"epsilon in [release] must cover that of all statistics, got {release.epsilon:g}. "
                "Raise it, or lower theirs."
            )
        for one in free:
            one["epsilon"] = left / len(free)
    return tuple(_statistic(one, links) for one in given)


def _shares(given: dict[str, Any]) -> bool:
    """Whether a statistic takes its part of the release's epsilon: not when samples and error already say it."""
    return "epsilon" not in given and not ("samples" in given and "error" in given)


def _taken(given: dict[str, Any], links: Links) -> float:
    """What a statistic takes of the release's epsilon before the others share the rest."""
    if "epsilon" in given:
        return float(given["epsilon"])
    return 0.0 if _shares(given) else plan_network(_statistic(given, links).question).epsilon


def _statistic(given: dict[str, Any], links: Links) -> Statistic:
    name, column = given["name"], given.get("column")
    mine: dict[str, Any] = {
        key: float(given[key]) if key == "error" else given[key] for key in _QUESTION if key in given
    }
    if name not in PEOPLE_S_DATA:
        for key in ("column", "from", "to", "values", "other"):
            if key in given:
                raise InvalidInput(f"{key} in [[graph.statistics]] must be left out for {name}. Remove it.")
        return Statistic(NetworkQuestion(name, links.bounds, **mine))
    domain = ("from", "to") if name == "average" else ("values",)
    allowed = {"column", *domain, *(("other",) if name == "histogram" else ())}
    for key in ("column", *domain):
        if key not in given:
            raise InvalidInput(f"{key} in [[graph.statistics]] must be given for the {name}, and is missing. Add it.")
    for key in {"from", "to", "values", "other"} - allowed:
        if key in given:
            raise InvalidInput(f"{key} in [[graph.statistics]] must be left out for the {name}. Remove it.")
    if name == "average":
        low, high = float(given["from"]), float(given["to"])
        if not low < high:
            raise InvalidInput(f"from of the average must be below to, got {low:g} and {high:g}. Correct them.")
        return Statistic(NetworkQuestion(name, links.bounds, **mine, width=_length(low, high)), column, low)
    classes = tuple(given["values"]) + ((given["other"],) if "other" in given else ())
    if not given["values"] or len(set(classes)) < len(classes):
        raise InvalidInput("values of the histogram must be different classes, at least one. Correct the list.")
    question = NetworkQuestion(name, links.bounds, **mine, classes=len(classes))
    return Statistic(question, column, classes=classes, other=given.get("other"))


def _length(low: float, high: float) -> float:
    """high − low, rounded up."""
    length = high - low
    return length if Fraction(length) >= Fraction(high) - Fraction(low) else math.nextafter(length, math.inf)


_QUESTION = ("epsilon", "samples", "error", "explored", "accuracy", "failure_exponent", "resolution")
