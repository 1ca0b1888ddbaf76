"""The sharp promises by definition, on every small graph: exponential moments, and simulator against mechanism."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product

from crowdblend.methods.mechanisms.networks import NoisyStatistic
from crowdblend.methods.planning.networks.request import Bounds, NetworkRequest, SimulatorView
from crowdblend.methods.planning.networks.solve import NetworkPlan, plan_network
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.aggregates import Neighbourhood
from tests.cases import for_each

from .network_samplers import averages, estimate, light_ends, term
from .small_graphs import Graph, conceal, connected, cycle_free, degrees, edits_to, euler_path, graphs, links

N, D = 4, 3
SHORT = {"connectivity": "connected", "cycle-freeness": "cycle-free", "eulerian": "eulerian"}
EDITS = {name: edits_to(N, wanted) for name, wanted in zip(SHORT, (connected, cycle_free, euler_path), strict=True)}
WIDTHS = {"connectivity": Fraction(2, D), "cycle-freeness": Fraction(1), "eulerian": Fraction(1, D)}
Spread = dict[Fraction, Fraction]


def true(name: str, graph: Graph) -> Fraction:
    if name == "average-degree":
        return Fraction(2 * len(links(N, graph)), N)
    return EDITS[name][graph] / Fraction(D * N, 2)


@cache
def _spread(name: str, terms: tuple[Fraction, ...], samples: int) -> Spread:
    found: Spread = {}
    for average, chance in averages(list(terms), samples).items():
        value = average if name == "average-degree" else estimate(SHORT[name], N, average, D)
        clipped = min(max(value, Fraction(0)), WIDTHS.get(name, Fraction(D)))
        found[clipped] = found.get(clipped, Fraction(0)) + chance
    return found


def spread(name: str, graph: Graph, samples: int, explored: int, *, light: bool = False) -> Spread:
    """The exact distribution of what the sampler says."""
    if name == "average-degree":
        terms = [light_ends(N, graph, v) if light else Fraction(degrees(N, graph)[v]) for v in range(N)]
    else:
        terms = [term(SHORT[name], N, graph, v, explored) for v in range(N)]
    return _spread(name, tuple(sorted(terms)), samples)


ESTIMATORS: list[tuple[str, str, dict[str, float]]] = [
    ("connectivity", "connected", {}),
    ("cycle-freeness", "cycle-free", {"average_bound": 3.0}),
    ("cycle-freeness", "cycle-free", {"average_bound": 0.5}),
    ("eulerian", "eulerian", {}),
    ("average-degree", "average-degree", {"average_bound": 3.0}),
    ("average-degree", "average-degree", {"average_bound": 0.5}),
    ("average-degree", "light-ends", {"average_bound": 1.5, "population": N}),
]


@for_each(("name", "rule", "more"), ESTIMATORS)
@for_each(("samples", "explored"), [(1, 1), (2, 2), (4, 4), (7, 3)])
def test_noise_hides_the_error_as_well_as_claimed(
    name: str, rule: str, more: dict[str, float], samples: int, explored: int
) -> None:
    """E[e^{|error|/λ}] ≤ e^{reach/λ} from least_scale on, for every graph within the bounds."""
    walked = {} if name == "average-degree" else {"explored": explored}
    claim = RULES[f"graph.estimator.{rule}"].conclude(degree_bound=D, samples=samples, **more, **walked)
    tried = 0
    for graph in graphs(N, D):
        if 2 * len(links(N, graph)) / N > more.get("average_bound", D):
            continue
        tried += 1
        found = spread(name, graph, samples, explored, light=rule == "light-ends")
        for factor in (1.0, 1.3, 2.0, 5.0):
            scale = claim.least_scale * factor
            moment = sum(float(c) * math.exp(abs(x - true(name, graph)) / scale) for x, c in found.items())
            assert math.log(moment) <= claim.reach / scale * (1 + 1e-12)
    assert tried > 1


def test_nobody_has_more_neighbours_of_larger_degree_than_the_root_of_all_ends() -> None:
    for n in (3, 4, 5):
        for graph in graphs(n):
            ends = 2 * len(links(n, graph))
            terms = [light_ends(n, graph, v) for v in range(n)]
            assert sum(terms) == ends
            assert all((term_ / 2) ** 2 <= ends for term_ in terms)


@for_each("samples", [1, 2, 3, 4])
def test_samples_of_people_s_data_stray_as_little_as_claimed(samples: int) -> None:
    """Averages of values in [0, 1] and shares of three classes, k of 5 people without replacement, in every table."""
    people = 5
    average = RULES["graph.estimator.average"].conclude(samples=samples, population=people, width=1.0)
    shares = RULES["graph.estimator.histogram"].conclude(samples=samples, population=people, dimension=3)
    for table in combinations_with_replacement((0, 1, 2), people):
        whole = [table.count(value) / people for value in (0, 1, 2)]
        draws = list(combinations(table, samples))
        strays = {
            average: [abs(sum(draw) / samples - sum(table) / people) / 2 for draw in draws],
            shares: [sum(abs(draw.count(v) / samples - whole[v]) for v in (0, 1, 2)) for draw in draws],
        }
        for claim, errors in strays.items():
            for factor in (1.0, 1.5, 4.0):
                scale = claim.least_scale * factor
                moment = sum(math.exp(error / scale) for error in errors) / len(errors)
                assert math.log(moment) <= claim.reach / scale * (1 + 1e-12)


def in_the_paper_s_form(b: Bounds) -> NetworkPlan:
    """Connectivity by a sampler that keeps to an accuracy except with some probability."""
    seen, scale, resolution = SimulatorView(7, 3), 0.525, 0.1
    sampler = RULES["graph.sampler.connected"](degree_bound=b.degree_bound, accuracy=0.45, samples=7, explored=3)
    made = RULES["graph.published.distance"](sampler, population=b.people, scale=scale, resolution=resolution)
    return NetworkPlan(NetworkRequest("connectivity", b, epsilon=2.0, samples=7), made, seen, scale, resolution)


QUESTIONS: dict[str, Callable[[Bounds], NetworkRequest]] = {
    "connectivity, sharp": lambda b: NetworkRequest("connectivity", b, epsilon=2.0, samples=6),
    "cycle-freeness, sharp": lambda b: NetworkRequest("cycle-freeness", b, epsilon=2.0, samples=6),
    "eulerian, sharp": lambda b: NetworkRequest("eulerian", b, epsilon=2.0, samples=6, resolution=0.05),
    "average-degree, sharp": lambda b: NetworkRequest("average-degree", b, epsilon=2.0, samples=6, resolution=0.2),
}
PLANS: dict[str, Callable[[Bounds], NetworkPlan]] = {
    **{name: lambda b, asked=asked: plan_network(asked(b)) for name, asked in QUESTIONS.items()},
    "connectivity, published": in_the_paper_s_form,
}


def losses(planned: NetworkPlan, graph: Graph, hidden: int) -> Iterator[float]:
    """ln of the ratio of simulator to mechanism at every output, exactly up to the last logarithm."""
    noise, seen, aggregate = NoisyStatistic(planned).noise, planned.seen, planned.derivation.conclusion.aggregate
    light = isinstance(aggregate, Neighbourhood) and aggregate.radius == 2
    there = noise.round_to_grid(true(planned.name, graph))
    without = conceal(N, graph, hidden)
    found = spread(planned.name, without, seen.samples, seen.explored, light=light)
    ratio = planned.resolution / planned.scale
    steps = [(noise.round_to_grid(x), float(chance)) for x, chance in found.items()]
    # Outside of these the ratio stays what it is at the end.
    ends = [there, *(step for step, _ in steps)]
    for y in {step + more for step in ends for more in (-1, 0, 1)}:
        simulated = sum(chance * math.exp(-ratio * (abs(y - step) - abs(y - there))) for step, chance in steps)
        yield math.log(simulated)


@for_each("name", PLANS)
def test_the_simulator_is_as_close_as_promised(name: str) -> None:
    """For every graph and everybody concealed; and the promise is no empty one."""
    planned = PLANS[name](Bounds(N, D, float(D)))
    worst = max(abs(loss) for graph in graphs(N, D) for hidden in range(N) for loss in losses(planned, graph, hidden))
    assert worst <= planned.epsilon * (1 + 1e-12)
    assert worst >= planned.epsilon / 4


@for_each(("samples", "resolution"), [(1, 0.07), (2, 0.3), (4, 0.001)])
def test_the_simulator_of_shares_is_as_close_as_promised(samples: int, resolution: float) -> None:
    """Three classes of five people, k of them drawn with somebody concealed, in every table; and anybody replaced."""
    people, classes = 5, range(3)
    asked = NetworkRequest(
        "histogram", Bounds(people, 2, 2.0), epsilon=1.0, samples=samples, classes=3, resolution=resolution
    )
    planned = plan_network(asked)
    noise, ratio = NoisyStatistic(planned).noise, planned.resolution / planned.scale
    replaced = NoisyStatistic(planned).claim_replaced().conclusion.epsilon

    def steps(counted: tuple[int | None, ...]) -> tuple[int, ...]:
        return tuple(noise.round_to_grid(Fraction(counted.count(one), len(counted))) for one in classes)

    for table in combinations_with_replacement(classes, people):
        there = steps(table)
        for hidden in range(people):
            before, after = table[:hidden], table[hidden + 1 :]
            said = [steps(draw) for draw in combinations((*before, None, *after), samples)]
            for y in product(*({there[one], *(step[one] for step in said)} for one in classes)):
                losses_ = [sum(abs(y[i] - step[i]) - abs(y[i] - there[i]) for i in classes) for step in said]
                simulated = sum(math.exp(-ratio * loss) for loss in losses_) / len(said)
                assert abs(math.log(simulated)) <= planned.epsilon * (1 + 1e-12)
            for other in classes:
                moved = sum(abs(a - b) for a, b in zip(steps((*before, other, *after)), there, strict=True))
                assert ratio * moved <= replaced * (1 + 1e-12)
