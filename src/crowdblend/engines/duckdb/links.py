"""Read links and people's data, refuse what is no network within the bounds, and number the people.

Messages name columns and bounds, never a person, a link or a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.source import Relation, open_source
from crowdblend.engines.progress import Progress
from crowdblend.errors import InvalidInput
from crowdblend.networks import Network, Structure, network
from crowdblend.networks.naming import numbered
from crowdblend.policies.graph import Graph as GraphPolicy
from crowdblend.policies.graph import Links
from crowdblend.policies.graph import StatisticQuestion as Statistic
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import STDIN, DataSource

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_BROKEN = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True, eq=False)
class Read:
    """A network within its bounds, and the columns of people's data."""

    network: Network
    columns: dict[str, pyarrow.ChunkedArray]
    rows: int

    @cached_property
    def structure(self) -> Structure:
        """What its statistics are computed from; a network that is published again is taken apart once."""
        return Structure(self.network)

    def values(self, statistic: Statistic) -> list[Fraction]:
        """A statistic of people's data: the average above its lower end, or the share of every class."""
        column = self.columns[str(statistic.column)]
        if statistic.question.name == "average":
            return [_average(column, statistic)]
        return _shares(column, statistic)


def check_source(policy: GraphPolicy) -> None:
    """Refuse files that are not there or lack a column, without reading a row; a stream is not touched."""
    links = policy.graph
    if policy.graph_in_memory is None and policy.data.source != STDIN:
        with _opened(policy.data, policy.resources, (links.source, links.target)):
            pass
    if links.people_source is not None:
        with _opened(links.people_source, policy.resources, (links.vertex, *policy.columns)):
            pass


def read_network(policy: GraphPolicy, progress: Progress | None) -> Read:
    """The network of a policy, checked against its bounds."""
    links, known = policy.graph, None
    if policy.graph_in_memory is None:
        ends = _table(policy.data, policy.resources, (links.source, links.target), "links")
    elif links.people_source is None:
        ends = _of_graph(policy.graph_in_memory, links)
    else:
        raise InvalidInput("vertices in [graph] must be left out with a graph from Python, whose nodes are the people.")
    columns: dict[str, pyarrow.ChunkedArray] = {}
    if progress:
        progress("reading", ends.num_rows)
    if links.people_source is not None:
        people = _table(links.people_source, policy.resources, (links.vertex, *policy.columns), "vertices", 1)
        known = people.column(0)
        columns = {name: people.column(at + 1) for at, name in enumerate(policy.columns)}
    if not ends.num_rows:
        raise InvalidInput("the network must have at least one link, and has none. Check source in [data].")
    rows = ends.num_rows
    ends, known = _same_type(ends, known)
    found, first, second = numbered(ends.column(0), ends.column(1), known)
    del ends  # the names are the larger part of what is held
    _check_people(links, found, listed=known is not None)
    made = network(links.bounds.people, first, second, self_loops=links.self_loops, duplicates=links.duplicates)
    _check_bounds(links, made)
    read = Read(made, columns, rows)
    for statistic in policy.questions:
        if statistic.column is not None:
            # Whatever lies outside of its domain is refused now, before the promise counts as spent.
            read.values(statistic)
    return read


def _check_people(links: Links, found: int, *, listed: bool) -> None:
    people = links.bounds.people
    if listed and found != people:
        raise InvalidInput(f"vertices must list exactly the {people} people of [graph], and does not. Correct people.")
    if found > people:
        raise InvalidInput(
            f"people in [graph] must count everybody in the network, got {people}, and there are more. Correct it."
        )


def _check_bounds(links: Links, made: Network) -> None:
    bounds = links.bounds
    if not made.links:
        raise InvalidInput("the network must have at least one link, and has none but dropped ones. Check the data.")
    if int(made.degrees.max()) > bounds.degree_bound:
        raise InvalidInput(
            f"nobody may have more links than degree_bound = {bounds.degree_bound}, and somebody has. "
            "Give a bound that is known beforehand."
        )
    if Fraction(2 * made.links, bounds.people) > Fraction(bounds.average_bound):
        raise InvalidInput(
            f"people may have at most average_bound = {bounds.average_bound:g} links on average, and have more. "
            "Give a bound that is known beforehand."
        )


@contextmanager
def _opened(
    data: DataSource, resources: Resources, names: Sequence[str]
) -> Iterator[tuple[DuckDBPyConnection, Relation]]:
    with private_folder() as folder, database(resources, folder) as connection:
        yield connection, open_source(connection, data, names, folder)


def _table(data: DataSource, resources: Resources, names: Sequence[str], what: str, ids: int = 2) -> pyarrow.Table:
    """The columns as they are, the first `ids` of them as whole numbers or texts; a NULL anywhere is refused."""
    must = f"the file of the {what} must be readable from beginning to end"
    with _opened(data, resources, names) as (connection, relation), redacted(must):
        selected = []
        for at, name in enumerate(names):
            column, kind = relation.columns[name]
            selected.append(f"{_identifier(column, kind, name) if at < ids else _value(column, kind)} AS c{at}")
        rows = connection.sql(f"SELECT {', '.join(selected)} FROM {relation.sql}")
        table: pyarrow.Table = rows.to_arrow_table() if hasattr(rows, "to_arrow_table") else rows.fetch_arrow_table()
    for at, name in enumerate(names):
        if table.column(at).null_count:
            raise InvalidInput(
                f"the column {name!r} of the {what} must have a value in every row, and has NULLs. Remove those rows."
            )
    return table


def _identifier(column: str, kind: str, name: str) -> str:
    if kind in _WHOLE:
        return f"CAST({column} AS BIGINT)"
    if kind.startswith(_BROKEN):
        raise InvalidInput(f"the column {name!r} must name people by whole numbers or texts, got {kind}. Convert it.")
    return f"NULLIF(CAST({column} AS VARCHAR), '')"


def _value(column: str, kind: str) -> str:
    return column if kind in (*_WHOLE, "DOUBLE") else f"NULLIF(CAST({column} AS VARCHAR), '')"


def _same_type(ends: pyarrow.Table, known: pyarrow.ChunkedArray | None) -> tuple[pyarrow.Table, pyarrow.Array | None]:
    """Names of one type: texts where one of the columns has texts."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    types = {field.type for field in ends.schema} | ({known.type} if known is not None else set())
    if len(types) > 1:
        ends = ends.cast(pa.schema([(name, pa.string()) for name in ends.column_names]))
        known = known.cast(pa.string()) if known is not None else None
    return ends, known.combine_chunks() if known is not None else None


def _of_graph(graph: Any, links: Links) -> pyarrow.Table:
    """The links of a networkx graph, or of anything with nodes, edges and is_directed."""
    import pyarrow as pa  # noqa: PLC0415 - heavy

    if graph.is_directed():
        raise InvalidInput("the graph must be undirected, and is directed. Pass graph.to_undirected().")
    number = {node: at for at, node in enumerate(graph.nodes)}
    # Here everybody is listed, those without links too.
    _check_people(links, len(number), listed=False)
    ends = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    return pa.table({"c0": ends[:, 0], "c1": ends[:, 1]})


def _average(column: pyarrow.ChunkedArray, statistic: Statistic) -> Fraction:
    """In exact arithmetic, value by value."""
    low, question = Fraction(statistic.low), statistic.question
    try:
        values, counts = np.unique(column.to_numpy().astype(np.float64), return_counts=True)
    except ValueError:
        raise InvalidInput(f"the column {statistic.column!r} must hold numbers, and does not. Correct it.") from None
    width = Fraction(question.width or 0)
    above = [Fraction(value) - low for value in values.tolist() if np.isfinite(value)]
    if len(above) < len(values) or any(not 0 <= value <= width for value in above):
        raise InvalidInput(
            f"the column {statistic.column!r} must lie between from and to, and does not. Give a range that is known "
            "beforehand, or cut the values."
        )
    total = sum((value * count for value, count in zip(above, counts.tolist(), strict=True)), Fraction(0))
    return total / question.bounds.people


def _shares(column: pyarrow.ChunkedArray, statistic: Statistic) -> list[Fraction]:
    # NaN is written in many ways, which are counted apart and are one text.
    counted: Counter[str] = Counter()
    for item in column.value_counts().to_pylist():
        counted[str(item["values"])] += int(item["counts"])
    shares = {name: counted.pop(name, 0) for name in statistic.classes}
    if counted and statistic.other is None:
        raise InvalidInput(
            f"the column {statistic.column!r} must hold only its declared values, and has others. "
            "Declare them, or add other."
        )
    if statistic.other is not None:
        shares[statistic.other] += sum(counted.values())
    return [Fraction(count, statistic.question.bounds.people) for count in shares.values()]
