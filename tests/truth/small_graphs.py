"""Every graph on a few vertices, and its distance to a property by searching through edits.

A graph is a set of edges, kept as bits. The distance to a property is found by walking outwards from all the graphs
that have it, one edit at a time, so it owes nothing to any formula about components or degrees.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations

Graph = int
Property = Callable[[int, Graph], bool]


@cache
def edges(n: int) -> tuple[tuple[int, int], ...]:
    return tuple(combinations(range(n), 2))


def graphs(n: int, degree_bound: int | None = None) -> Iterator[Graph]:
    """All graphs on n labelled vertices, or those within a degree bound."""
    for graph in range(1 << len(edges(n))):
        if degree_bound is None or max(degrees(n, graph), default=0) <= degree_bound:
            yield graph


def links(n: int, graph: Graph) -> list[tuple[int, int]]:
    return [edge for bit, edge in enumerate(edges(n)) if graph >> bit & 1]


@cache
def degrees(n: int, graph: Graph) -> tuple[int, ...]:
    return tuple(sum(v in edge for edge in links(n, graph)) for v in range(n))


@cache
def components(n: int, graph: Graph) -> tuple[frozenset[int], ...]:
    found = [frozenset({v}) for v in range(n)]
    for u, v in links(n, graph):
        one, other = (next(part for part in found if w in part) for w in (u, v))
        if one != other:
            found = [part for part in found if part not in (one, other)] + [one | other]
    return tuple(found)


def component(n: int, graph: Graph, vertex: int) -> frozenset[int]:
    return next(part for part in components(n, graph) if vertex in part)


def conceal(n: int, graph: Graph, vertex: int) -> Graph:
    """The graph without the links of a vertex."""
    return sum(1 << bit for bit, edge in enumerate(edges(n)) if graph >> bit & 1 and vertex not in edge)


def connected(n: int, graph: Graph) -> bool:
    return len(components(n, graph)) == 1


def cycle_free(n: int, graph: Graph) -> bool:
    """Every link joins two components that would be apart without it."""
    return all(
        len(components(n, graph ^ (1 << bit))) > len(components(n, graph))
        for bit in range(len(edges(n)))
        if graph >> bit & 1
    )


def euler_path(n: int, graph: Graph) -> bool:
    """Whether one walk uses every link exactly once, found by trying."""

    def walk(at: int, left: frozenset[tuple[int, int]]) -> bool:
        return not left or any(walk(edge[0] + edge[1] - at, left - {edge}) for edge in left if at in edge)

    todo = frozenset(links(n, graph))
    return any(walk(start, todo) for start in range(n))


def edits_to(n: int, wanted: Property) -> dict[Graph, int]:
    """For every graph the least number of edits that reach the property."""
    distance = {graph: 0 for graph in graphs(n) if wanted(n, graph)}
    frontier = list(distance)
    while frontier:
        reached = []
        for graph in frontier:
            for bit in range(len(edges(n))):
                neighbour = graph ^ (1 << bit)
                if neighbour not in distance:
                    distance[neighbour] = distance[graph] + 1
                    reached.append(neighbour)
        frontier = reached
    return distance
