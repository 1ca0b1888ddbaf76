"""The exact statistics against the definition: fewest edits to the property, on every graph with up to six vertices."""

from fractions import Fraction
from functools import cache

import numpy as np

from crowdblend.methods.networks import Structure, network
from crowdblend.methods.networks.exact import (
    average_degree,
    edits_to_connected,
    edits_to_cycle_free,
    edits_to_euler_path,
)
from tests.cases import for_each

from .small_graphs import (
    Graph,
    components,
    conceal,
    connected,
    cycle_free,
    degrees,
    edges,
    edits_to,
    euler_path,
    graphs,
    links,
)


def by_euler_s_theorem(n: int, graph: Graph) -> bool:
    """At most two odd vertices, and all links in one component."""
    odd = sum(degree % 2 for degree in degrees(n, graph))
    return odd <= 2 and sum(len(part) > 1 for part in components(n, graph)) <= 1


PROPERTIES = {"connected": connected, "cycle-free": cycle_free, "eulerian": by_euler_s_theorem}
FORMULAS = {"connected": edits_to_connected, "cycle-free": edits_to_cycle_free, "eulerian": edits_to_euler_path}


def structure(n: int, graph: Graph) -> Structure:
    pairs = np.array(links(n, graph), dtype=np.int64).reshape(-1, 2)
    return Structure(network(n, pairs[:, 0], pairs[:, 1]))


@cache
def fewest(n: int, name: str) -> dict[Graph, int]:
    return edits_to(n, PROPERTIES[name])


@cache
def renamings(n: int) -> list[Graph]:
    """The graphs in which vertices come by falling degree: every graph is one of them with its vertices renamed."""
    return [graph for graph in graphs(n) if list(degrees(n, graph)) == sorted(degrees(n, graph), reverse=True)]


@for_each("n", [2, 3, 4, 5])
def test_euler_s_theorem_is_about_one_walk(n: int) -> None:
    assert all(by_euler_s_theorem(n, graph) == euler_path(n, graph) for graph in graphs(n))


@for_each("name", PROPERTIES)
@for_each("n", [1, 2, 3, 4, 5, 6], daily=4)
def test_edits_are_the_fewest(n: int, name: str) -> None:
    edits = fewest(n, name)
    assert all(FORMULAS[name](structure(n, graph)) == edits[graph] for graph in renamings(n))


@for_each("name", PROPERTIES, daily=1)
def test_concealing_anybody_moves_it_by_at_most_their_links(name: str) -> None:
    """d edits at most, 2/n of M: also for Euler paths, where the paper has 4/n."""
    n = 6
    edits = fewest(n, name)
    moves = set()
    for graph in renamings(n):
        for vertex in range(n):
            moved = abs(edits[graph] - edits[conceal(n, graph, vertex)])
            assert moved <= degrees(n, graph)[vertex]
            moves.add(moved)
    assert max(moves) == {"connected": 5, "cycle-free": 4, "eulerian": 2}[name]


@for_each("name", PROPERTIES)
def test_replacing_anybody_s_links_moves_it_by_at_most_the_bound(name: str) -> None:
    """d edits between any two sets of at most d links of one person. Cycles make d − 1 of it at most; an Euler path
    makes d of it among more people than these."""
    n = 5
    for degree_bound in (2, 3, 4):
        for vertex in range(n):
            found: dict[Graph, list[int]] = {}
            for graph in graphs(n, degree_bound):
                found.setdefault(conceal(n, graph, vertex), []).append(fewest(n, name)[graph])
            most = max(max(edits) - min(edits) for edits in found.values())
            if name == "eulerian":
                assert 0 < most <= degree_bound
            else:
                assert most == degree_bound - (name == "cycle-free")


@for_each("degree_bound", [2, 3, 4, 5])
def test_distances_keep_to_their_ranges(degree_bound: int) -> None:
    n = 6
    largest = Fraction(degree_bound * n, 2)
    widths = {"connected": Fraction(2, degree_bound), "eulerian": Fraction(1, degree_bound), "cycle-free": Fraction(1)}
    within = [graph for graph in renamings(n) if max(degrees(n, graph)) <= degree_bound]
    for name, width in widths.items():
        assert all(0 <= fewest(n, name)[graph] / largest <= width for graph in within)
    for graph in within:
        average = Fraction(2 * len(links(n, graph)), n)
        assert fewest(n, "cycle-free")[graph] / largest <= average / degree_bound


def test_the_average_degree() -> None:
    n = 5
    for graph in graphs(n):
        assert average_degree(structure(n, graph)) == Fraction(sum(degrees(n, graph)), n)


def test_every_pair_is_an_edge_once() -> None:
    assert len(edges(6)) == 15
    assert len(renamings(6)) < 2**15
