"""Where values in people's rows were computed from others' rows or links, the guarantees about rows do not hold.

On every network of five people the shares of classes move further than is certified when one person and their links are
concealed or replaced, if the classes are bands of degrees or of the mean of friends; by classes of their own they do
not. A table that counts people by the size of their household shows who is in it, whatever k is.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from crowdblend.methods.planning.networks.request import Bounds, NetworkRequest
from crowdblend.methods.planning.networks.solve import plan_network
from crowdblend.trusted.calculus import RULES, Assumption
from tests.cases import for_each

from .distributions import Distribution, divergence, growth_below, mix, surely
from .small_graphs import Graph, conceal, degrees, edges, graphs, links
from .worlds import samples

PEOPLE, CLASSES = 5, (0, 1, 2)
Row = Callable[[Graph, int], int]


def own(_: Graph, person: int) -> int:
    """A class that has nothing to do with links."""
    return person % 3


def band(graph: Graph, person: int) -> int:
    """Nobody, one friend, or more."""
    return min(degrees(PEOPLE, graph)[person], 2)


def friends(graph: Graph, person: int) -> int:
    """The classes of one's friends, on average and rounded down."""
    classes = [own(graph, a + b - person) for a, b in links(PEOPLE, graph) if person in (a, b)]
    return sum(classes) // len(classes) if classes else 0


def shares(row: Row, graph: Graph, hidden: int | None = None) -> list[Fraction]:
    """Return the shares of the classes, somebody concealed counting in none."""
    classes = [row(graph, person) for person in range(PEOPLE) if person != hidden]
    return [Fraction(classes.count(one), PEOPLE) for one in CLASSES]


def distance(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, other, strict=True)), start=Fraction(0))


def concealed(row: Row) -> Fraction:
    """Return how far the shares move at most when somebody and their links are concealed."""
    return max(
        distance(shares(row, graph), shares(row, conceal(PEOPLE, graph, person), person))
        for graph in graphs(PEOPLE)
        for person in range(PEOPLE)
    )


def links_replaced() -> Iterator[tuple[Graph, Graph]]:
    """Every two networks that differ in the links of the last person."""
    last = [bit for bit, edge in enumerate(edges(PEOPLE)) if PEOPLE - 1 in edge]
    for graph in graphs(PEOPLE):
        base = conceal(PEOPLE, graph, PEOPLE - 1)
        if base == graph:
            others = [base + sum(1 << bit for at, bit in enumerate(last) if chosen >> at & 1) for chosen in range(16)]
            yield from ((one, other) for one in others for other in others if one < other)


CHARGED = Fraction(1, PEOPLE)


@for_each(("row", "moved"), [(own, 1), (band, 9), (friends, 7)])
def test_concealing_somebody_moves_the_shares_by_one_person_where_rows_are_people_s_own(row: Row, moved: int) -> None:
    """A hub takes itself out of a class, and moves each of its four friends from one class into another."""
    assert concealed(row) == moved * CHARGED


def test_a_column_of_degrees_loses_more_than_is_certified() -> None:
    """With somebody's links replaced; one's own class stays."""
    request = NetworkRequest("histogram", Bounds(1000, 4, 4.0), epsilon=1.0, samples=100, classes=3, resolution=1e-6)
    planned = plan_network(request)
    certified = RULES["graph.differential.histogram"](
        population=PEOPLE, scale=1.0, resolution=1e-9
    ).conclusion.epsilon  # 2/n and two roundings
    replaced = max(distance(shares(band, one), shares(band, other)) for one, other in links_replaced())
    assert replaced > 4 * Fraction(certified)
    assert not any(distance(shares(own, one), shares(own, other)) for one, other in links_replaced())
    assert Assumption.OWN_DATA_ONLY in {made.assumption for made in planned.derivation.assumptions()}


@for_each("k", [2, 3])
def test_a_table_of_the_sizes_of_households_shows_who_is_in_them(k: int) -> None:
    """Without the person the other members have another row; people of a household are sampled like all others."""
    rate, growth = Fraction(1, 2), growth_below(1.0)

    def published(table: tuple[int, ...]) -> Distribution:
        counts = {size: table.count(size) for size in set(table)}
        return surely(tuple(sorted((size, count) for size, count in counts.items() if count >= k)))

    def law(table: tuple[int, ...]) -> Distribution:
        return mix((chance, published(sample)) for chance, sample in samples(table, [rate] * len(table)))

    claimed = RULES["suppression.exact"](RULES["generalization.suppressed"](k=k), rate=0.5, epsilon=1.0)
    stated = Fraction(claimed.conclusion.delta)
    own_rows = divergence(law((5,) * 5), law((5,) * 4), growth)
    household = divergence(law((5,) * 5), law((4,) * 4), growth)
    assert own_rows <= stated < Fraction(household) / 2
    assert Assumption.OWN_DATA_ONLY in {made.assumption for made in claimed.assumptions()}
