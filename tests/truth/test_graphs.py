"""Statistics of networks on every graph with up to five vertices: distances, sensitivities and samplers."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.aggregates import Exploration
from crowdblend.trusted.guarantees.utility import AVERAGE_DEGREE, CONNECTED, CYCLE_FREE, EULERIAN, Sampler
from tests.cases import for_each

from .network_samplers import averages, estimate, term
from .small_graphs import components, conceal, connected, cycle_free, degrees, edits_to, euler_path, graphs, links

SIZES = (3, 4, 5)
PROPERTIES = {"connected": connected, "cycle-free": cycle_free, "eulerian": euler_path}
EDITS = {(name, n): edits_to(n, wanted) for name, wanted in PROPERTIES.items() for n in SIZES}
# What the rules charge for concealing a vertex, in units of 1/n.
CHARGED = {"connected": 2, "cycle-free": 2, "eulerian": 4}


@for_each("n", SIZES)
def test_distances_are_what_the_formulas_say(n: int) -> None:
    for graph in graphs(n):
        parts, odd = components(n, graph), sum(d % 2 for d in degrees(n, graph))
        even = sum(len(p) > 1 and all(degrees(n, graph)[v] % 2 == 0 for v in p) for p in parts)
        assert EDITS["connected", n][graph] == len(parts) - 1
        assert EDITS["cycle-free", n][graph] == len(links(n, graph)) - n + len(parts)
        assert EDITS["eulerian", n][graph] == max(0, odd // 2 + even - 1)


@for_each("name", PROPERTIES)
@for_each("degree_bound", [2, 3, 4])
@for_each("n", SIZES)
def test_concealing_a_vertex_moves_no_more_than_is_charged(n: int, degree_bound: int, name: str) -> None:
    edits, largest = EDITS[name, n], Fraction(degree_bound * n, 2)
    moves = [
        abs(edits[graph] - edits[conceal(n, graph, v)]) / largest for graph in graphs(n, degree_bound) for v in range(n)
    ]
    assert max(moves) <= Fraction(CHARGED[name], n)
    assert all(0 <= edits[graph] / largest <= 1 for graph in graphs(n, degree_bound))
    if name == "connected" and degree_bound < n:
        # Attained by the centre of a star, so less would be false.
        assert max(moves) == Fraction(2, n)


STATISTIC = {"connected": CONNECTED, "cycle-free": CYCLE_FREE, "eulerian": EULERIAN, "average-degree": AVERAGE_DEGREE}


@for_each("name", [*PROPERTIES, "average-degree"])
def test_the_rules_charge_exactly_that(name: str) -> None:
    """With a perfect sampler the loss of the release is the charged sensitivity over the scale."""
    n, d = 5, 4
    charged, limit = (Fraction(2 * d, n), d) if name == "average-degree" else (Fraction(CHARGED[name], n), 1)
    perfect = Sampler(STATISTIC[name], 5e-324, 0.0, float(limit), Exploration(1, 1))
    bound = {"degree_bound": d} if name == "average-degree" else {}
    claimed = RULES[f"graph.{name}"].conclude(perfect, population=n, scale=0.5, **bound)
    assert claimed.epsilon == pytest.approx(float(2 * min(charged, limit)), rel=1e-12)


def test_a_low_average_does_not_hide_a_hub() -> None:
    """The range may be narrow because people have few links on average; one person's links still number up to d."""
    n = 100
    few = RULES["graph.sampler.light-ends"].conclude(
        degree_bound=n - 1, average_bound=2.0, population=n, accuracy=0.01, samples=10**9
    )
    assert few.failure < 1e-90
    claimed = RULES["graph.average-degree"].conclude(few, degree_bound=n - 1, population=n, scale=1.0)
    # The centre of a star has all n − 1 links; concealed, nobody has any.
    assert claimed.epsilon >= 2 * (n - 1) / n


@for_each("degree_bound", [2, 3, 4])
def test_the_average_degree(degree_bound: int) -> None:
    n = 5
    for graph in graphs(n, degree_bound):
        average = Fraction(2 * len(links(n, graph)), n)
        assert average == Fraction(sum(degrees(n, graph)), n) <= degree_bound
        for v in range(n):
            moved = average - Fraction(2 * len(links(n, conceal(n, graph, v))), n)
            assert 0 <= moved <= Fraction(2 * degree_bound, n)


@for_each("name", PROPERTIES, daily=2)
@for_each("n", SIZES)
def test_samplers_are_right_on_average_and_their_terms_bounded(n: int, name: str) -> None:
    for d in (2, 3, 4):
        spread = {"connected": Fraction(1), "cycle-free": Fraction(d, 2), "eulerian": Fraction(1, 2)}[name]
        for explored in (1, 2, n):
            terms = {}
            for graph in graphs(n, d):
                terms[graph] = [term(name, n, graph, v, explored) for v in range(n)]
                true = EDITS[name, n][graph] / Fraction(d * n, 2)
                bias = abs(estimate(name, n, sum(terms[graph]) / n, d) - true)
                assert bias <= (0 if explored == n else Fraction(2, explored * d))
            every = [value for values in terms.values() for value in values]
            assert max(every) - min(every) <= spread


@for_each("name", PROPERTIES)
@for_each(("samples", "explored", "accuracy"), [(6, 4, 0.5), (10, 3, 0.45), (10, 2, 0.6)])
def test_samplers_miss_no_more_often_than_claimed(name: str, samples: int, explored: int, accuracy: float) -> None:
    n, d = 4, 3
    claimed = RULES[f"graph.sampler.{name}"].conclude(
        degree_bound=d, accuracy=accuracy, samples=samples, explored=explored
    )
    seen = set()
    for graph in graphs(n, d):
        terms = sorted(term(name, n, graph, v, explored) for v in range(n))
        true = EDITS[name, n][graph] / Fraction(d * n, 2)
        if (*terms, true) not in seen:
            seen.add((*terms, true))
            missed = _missed(averages(terms, samples), lambda a: estimate(name, n, a, d), true, accuracy)
            assert missed <= Fraction(claimed.failure)


@pytest.mark.parametrize(("samples", "accuracy"), [(8, 1.5), (12, 1.2)])
def test_the_sampled_average_degree_misses_no_more_often_than_claimed(samples: int, accuracy: float) -> None:
    n, d = 4, 3
    claimed = RULES["graph.sampler.average-degree"].conclude(degree_bound=d, accuracy=accuracy, samples=samples)
    for terms in {tuple(sorted(degrees(n, graph))) for graph in graphs(n, d)}:
        spread = averages([Fraction(x) for x in terms], samples)
        assert _missed(spread, lambda a: a, Fraction(sum(terms), n), accuracy) <= Fraction(claimed.failure)


def _missed(
    spread: dict[Fraction, Fraction], read: Callable[[Fraction], Fraction], true: Fraction, accuracy: float
) -> Fraction:
    return sum((c for average, c in spread.items() if abs(read(average) - true) > Fraction(accuracy)), Fraction(0))
