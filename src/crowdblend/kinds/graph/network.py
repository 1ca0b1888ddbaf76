"""Links and people's data from an engine: refuse what is no network within the bounds, and number the people.

Messages name columns and bounds, never a person, a link or a count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from crowdblend.kinds.graph.policy import GraphPolicy, GraphStatistic, Links
from crowdblend.kinds.shared.plan import Reading
from crowdblend.methods.networks import Network, Structure, network
from crowdblend.methods.networks.links import number_people
from crowdblend.methods.recoding.reading import number
from crowdblend.sources.engines.engine import Engine, Progress, check_source
from crowdblend.sources.engines.refusals import at_column, refusal, refuse_blanks
from crowdblend.trusted.machine.packages import compute
from crowdblend.trusted.machine.packages import pyarrow as pa


@dataclass(frozen=True, eq=False)
class NetworkReading(Reading):
    """The links of a network, which keep to the bounds of the policy, and the columns of people's data."""

    network: Network
    columns: dict[str, pa.ChunkedArray]
    rows: int

    @property
    def internal(self) -> dict[str, int]:
        return {"rows_read": self.rows}

    @cached_property
    def structure(self) -> Structure:
        """The structure that statistics are computed from, found once per network."""
        return Structure(self.network)

    def values(self, statistic: GraphStatistic) -> list[Fraction]:
        """Return a statistic of people's data: the average above its lower end, or the share of every class."""
        column = self.columns[str(statistic.column)]
        found = [_sum(column, statistic)] if statistic.name == "average" else _class_counts(column, statistic)
        return [Fraction(one) / self.network.people for one in found]


def check_network(policy: GraphPolicy, engine: Engine) -> None:
    """Refuse files that do not exist or lack a column, without reading a row; a stream is left alone."""
    links = policy.publication.graph
    if policy.graph_in_memory is None:
        check_source(engine, policy.data, (links.source, links.target), policy.resources)
    if links.people_source is not None:
        check_source(engine, links.people_source, (links.vertex, *policy.people_columns), policy.resources)


def read_network(policy: GraphPolicy, engine: Engine, progress: Progress | None = None) -> NetworkReading:
    """Return the network of a policy, checked against its bounds."""
    links, known = policy.publication.graph, None
    ends = _ends(policy, engine)
    columns: dict[str, pa.ChunkedArray] = {}
    if progress:
        progress("reading", ends.num_rows)
    if links.people_source is not None:
        with engine.open(links.people_source, (links.vertex, *policy.people_columns), policy.resources) as source:
            people = source.table((links.vertex,), policy.people_columns, "vertices")
        _check_names(people, (links.vertex,), "vertices")
        known = people.column(0)
        columns = {name: people.column(at + 1) for at, name in enumerate(policy.people_columns)}
    if not ends.num_rows:
        raise refusal("no-links", "The network has no links.", "Check `data.source`.", "`data.source`")
    rows = ends.num_rows
    types = {field.type for field in ends.schema} | ({known.type} if known is not None else set())
    if len(types) > 1:
        # Names of one type: texts where one of the columns has texts.
        ends = ends.cast(pa.schema([(name, pa.string()) for name in ends.column_names]))
        known = known.cast(pa.string()) if known is not None else None
    listed = None if known is None else known.combine_chunks()
    found, first, second = number_people(ends.column(0), ends.column(1), listed)
    del ends  # the names are the larger part of what is held
    _check_people(links, found, listed=listed is not None)
    made = network(links.bounds.people, first, second, self_loops=links.self_loops, duplicates=links.duplicates)
    _check_bounds(links, made)
    read = NetworkReading(made, columns, rows)
    for statistic in policy.publication.statistics:
        if statistic.column is not None:
            # Values outside the domain are refused now, before the ledger counts the release as spent.
            read.values(statistic)
    return read


def _ends(policy: GraphPolicy, engine: Engine) -> pa.Table:
    """Return the two ends of every link."""
    links = policy.publication.graph
    if policy.graph_in_memory is None:
        with engine.open(policy.data, (links.source, links.target), policy.resources) as source:
            ends = source.table((links.source, links.target), (), "links")
        _check_names(ends, (links.source, links.target), "links")
        return ends
    if links.people_source is None:
        return links_of(policy.graph_in_memory, links)
    message = "A graph from Python lists its people itself."
    raise refusal("vertices-of-graph", message, "Remove `publish.vertices`.", "`publish.vertices`")


def _check_people(links: Links, number: int, *, listed: bool) -> None:
    people, where = links.bounds.people, "`publish.people`"
    if listed and number != people:
        raise refusal(
            "vertices", f"vertices lists another number of people than `people = {people}`.", "Correct people.", where
        )
    if number > people:
        raise refusal(
            "people", f"The network has more than `people = {people}` people.", "Correct `publish.people`.", where
        )


def _check_bounds(links: Links, network: Network) -> None:
    bounds = links.bounds
    if not network.links:
        raise refusal(
            "no-links", "All links of the network are dropped as loops or duplicates.", "Check the data.", "`publish`"
        )
    if int(network.degrees.max()) > bounds.degree_bound:
        message = "Give a bound that is known without the data, or cap links before the release."
        remedy = f"Someone has more than `degree_bound = {bounds.degree_bound}` links."
        raise refusal("degree-bound", remedy, message, "`publish.degree_bound`")
    if Fraction(2 * network.links, bounds.people) > Fraction(bounds.average_bound):
        message = f"People have more than `average_bound = {bounds.average_bound:g}` links on average."
        remedy = "Give a bound that is known without the data."
        raise refusal("average-bound", message, remedy, "`publish.average_bound`")


def _check_names(table: pa.Table, names: Sequence[str], what: str) -> None:
    """Refuse blank names; of most names the first character already says that they are not blank."""
    for place, name in enumerate(names):
        column = table.column(place)
        if pa.types.is_integer(column.type):
            continue
        suspects = column.filter(compute.less(column, "!"))
        if compute.any(compute.equal(compute.ascii_trim_whitespace(suspects), "")).as_py():
            refuse_blanks(name, what)


def links_of(graph: Any, links: Links) -> pa.Table:
    """Return the links of a networkx graph, or of anything with nodes, edges and is_directed, as a file has them."""
    if graph.is_directed():
        raise refusal("directed-graph", "The graph is directed.", "Pass graph.to_undirected().", "graph")
    number = {node: at for at, node in enumerate(graph.nodes)}
    # Here everybody is listed, those without links too.
    _check_people(links, len(number), listed=False)
    ends = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    return pa.table({links.source: ends[:, 0], links.target: ends[:, 1]})


def _sum(column: pa.ChunkedArray, statistic: GraphStatistic) -> Fraction:
    """Return the sum of values above the lower end in exact arithmetic, value by value."""
    low, width = Fraction(statistic.low), Fraction(statistic.width or 0)
    total = Fraction(0)
    for item in column.value_counts().to_pylist():
        above = _number(item["values"], statistic) - low
        if not 0 <= above <= width:
            _refuse_beyond(statistic)
        total += above * int(item["counts"])
    return total


def _number(value: Any, statistic: GraphStatistic) -> Fraction:
    """Return a value as the number that it is, or that its text means; the same texts are numbers as in a recoding."""
    read = number(value) if isinstance(value, str) else float(value)
    if read is None:
        message = f"Column {statistic.column!r} holds values that are no numbers."
        raise refusal("not-numbers", message, "Correct them.", at_column(str(statistic.column)))
    if not math.isfinite(read):
        _refuse_beyond(statistic)
    return Fraction(read)


def _refuse_beyond(statistic: GraphStatistic) -> NoReturn:
    message = "Give a range that is known without the data, or clamp the values."
    remedy = f"Column {statistic.column!r} has values outside from and to."
    raise refusal("outside-bounds", remedy, message, at_column(str(statistic.column)))


def _class_counts(column: pa.ChunkedArray, statistic: GraphStatistic) -> list[int]:
    """Return the number of people in every class."""
    # NaN is written in many ways, which are counted apart and are one text.
    counted: Counter[str] = Counter()
    for item in column.value_counts().to_pylist():
        counted[str(item["values"])] += int(item["counts"])
    counts = {name: counted.pop(name, 0) for name in statistic.classes}
    if counted and statistic.other is None:
        message = f"Column {statistic.column!r} has values that are not declared."
        raise refusal("outside-domain", message, "Declare them, or add other.", at_column(str(statistic.column)))
    if statistic.other is not None:
        counts[statistic.other] += sum(counted.values())
    return list(counts.values())
