"""Shares of bands of degrees, on every small network: what one person moves, how far random people stray, and both."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from crowdblend.methods.mechanisms.networks import NoisyStatistic
from crowdblend.methods.networks.exact import degree_shares
from crowdblend.methods.planning.networks.request import Bounds, NetworkRequest
from crowdblend.methods.planning.networks.solve import plan_network
from crowdblend.trusted.calculus import RULES
from tests.cases import for_each

from .small_graphs import Graph, conceal, degrees, edges, graphs
from .test_network_edits import structure

Shares = list[Fraction]


def shares(n: int, graph: Graph, breaks: tuple[int, ...]) -> Shares:
    """Count by the definition: a person is in the last band that begins at their number of links or below."""
    bands = [sum(degree >= low for low in breaks) for degree in degrees(n, graph)]
    return [Fraction(bands.count(band), n) for band in range(len(breaks) + 1)]


def distance(one: Shares, other: Shares) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), start=Fraction(0))


def others_replaced(n: int, bound: int) -> Iterator[tuple[Graph, Graph]]:
    """Every two networks within the bound that differ in the links of the last person alone."""
    last = [bit for bit, edge in enumerate(edges(n)) if n - 1 in edge]
    links = [
        sum(1 << bit for bit, keep in zip(last, kept, strict=True) if keep) for kept in product((0, 1), repeat=n - 1)
    ]
    for base in graphs(n, bound):
        if conceal(n, base, n - 1) == base:
            there = [base + more for more in links if max(degrees(n, base + more)) <= bound]
            yield from ((one, other) for one in there for other in there if one < other)


@for_each(
    ("n", "bound", "breaks", "attained"),
    [
        (5, 2, (1, 2), True),
        (4, 2, (1, 2), True),
        (4, 3, (1, 2, 3), False),
        (5, 4, (1, 2, 3, 4), False),
        (5, 3, (1, 3), False),
        (5, 3, (1, 2, 3), False),
    ],
    daily=4,
)
def test_concealing_or_replacing_links_moves_the_shares_by_what_is_charged(
    n: int, bound: int, breaks: tuple[int, ...], attained: bool
) -> None:
    """2(d + 1)/n and 4d/n in L1, the rule without its rounding; the product counts as the definition does."""
    about = {"degree_bound": bound, "dimension": len(breaks) + 1, "population": n, "scale": 1.0, "resolution": 1e-9}
    replaced = Fraction(RULES["graph.differential.degrees"](**about).conclusion.epsilon)
    concealed = Fraction(2 * (bound + 1), n)
    largest = Fraction(0)
    for graph in graphs(n, bound):
        here = shares(n, graph, breaks)
        assert degree_shares(structure(n, graph), breaks) == here
        for person in range(n):
            assert distance(here, shares(n, conceal(n, graph, person), breaks)) <= concealed
    for one, other in others_replaced(n, bound):
        largest = max(largest, distance(shares(n, one, breaks), shares(n, other, breaks)))
    assert largest <= Fraction(4 * bound, n) <= replaced
    assert (largest == Fraction(4 * bound, n)) == attained


@for_each("samples", [1, 2, 3, 4])
def test_random_people_stray_as_little_as_claimed(samples: int) -> None:
    """Three bands among random people, who may be drawn twice, for every division of five people into bands."""
    claim = RULES["graph.estimator.degrees"].conclude(degree_bound=4, samples=samples, dimension=3)
    for table in product(range(3), repeat=5):
        if list(table) != sorted(table):
            continue
        whole = [table.count(band) / 5 for band in range(3)]
        errors = [
            sum(abs(draw.count(band) / samples - whole[band]) for band in range(3))
            for draw in product(table, repeat=samples)
        ]
        for factor in (1.0, 1.5, 4.0):
            scale = claim.least_scale * factor
            moment = sum(math.exp(error / scale) for error in errors) / len(errors)
            assert math.log(moment) <= claim.reach / scale * (1 + 1e-12)


@for_each(("samples", "resolution"), [(1, 0.07), (2, 0.3)])
def test_the_simulator_of_degrees_is_as_close_as_promised(samples: int, resolution: float) -> None:
    """Two random people of every network of four, somebody's links concealed; and any links replaced."""
    n, bound, breaks = 4, 2, (1, 2)
    asked = NetworkRequest(
        "degrees", Bounds(n, bound, 2.0), epsilon=2.0, samples=samples, classes=3, resolution=resolution
    )
    planned = plan_network(asked)
    noise, ratio = NoisyStatistic(planned).noise, planned.resolution / planned.scale
    replaced = NoisyStatistic(planned).claim_replaced().conclusion.epsilon

    def steps(found: Shares) -> tuple[int, ...]:
        return tuple(noise.round_to_grid(one) for one in found)

    def simulated(graph: Graph) -> list[tuple[int, ...]]:
        bands = [sum(degree >= low for low in breaks) for degree in degrees(n, graph)]
        return [
            steps([Fraction(draw.count(band), samples) for band in range(3)]) for draw in product(bands, repeat=samples)
        ]

    worst = 0.0
    for graph in graphs(n, bound):
        there = steps(shares(n, graph, breaks))
        for hidden in range(n):
            said = simulated(conceal(n, graph, hidden))
            for y in product(*({there[band], *(step[band] for step in said)} for band in range(3))):
                moved = [sum(abs(y[i] - step[i]) - abs(y[i] - there[i]) for i in range(3)) for step in said]
                worst = max(worst, abs(math.log(sum(math.exp(-ratio * one) for one in moved) / len(said))))
    assert planned.epsilon / 4 <= worst <= planned.epsilon * (1 + 1e-12)
    for one, other in others_replaced(n, bound):
        pairs = zip(steps(shares(n, one, breaks)), steps(shares(n, other, breaks)), strict=True)
        assert ratio * sum(abs(a - b) for a, b in pairs) <= replaced * (1 + 1e-12)
