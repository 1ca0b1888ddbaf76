"""The samplers look at whom they may, and err as rarely as the rules say."""

import math
from collections.abc import Callable
from fractions import Fraction

from crowdblend.calculus import RULES
from crowdblend.randomness import SeededSource, Source
from tests.cases import for_each

from . import samplers as s
from .planted import DEGREE_BOUND, PEOPLE, TRUTH, planted
from .samplers import Adjacency, Concealed, View, Watched

NETWORK = Adjacency.of(planted())
RUNS = 2_000
# ln of the chance that a test fails by bad luck alone.
FALSE_ALARM = math.log(1e-6)

CASES: dict[str, tuple[Callable[[View, int, Source], Fraction], dict[str, float], str]] = {
    "connectivity": (
        lambda view, t, source: s.sampled_connected(view, DEGREE_BOUND, t, 8, source),
        {"degree_bound": DEGREE_BOUND, "explored": 8, "accuracy": 0.2},
        "connected",
    ),
    "cycle-freeness": (
        lambda view, t, source: s.sampled_cycle_free(view, DEGREE_BOUND, t, 8, source),
        {"degree_bound": DEGREE_BOUND, "explored": 8, "accuracy": 0.3},
        "cycle-free",
    ),
    "eulerian": (
        lambda view, t, source: s.sampled_euler_path(view, DEGREE_BOUND, t, 8, source),
        {"degree_bound": DEGREE_BOUND, "explored": 8, "accuracy": 0.1},
        "eulerian",
    ),
    "average-degree": (
        s.sampled_degree,
        {"degree_bound": DEGREE_BOUND, "accuracy": 1.0},
        "average-degree",
    ),
    "light ends": (
        s.sampled_light_ends,
        {"degree_bound": DEGREE_BOUND, "accuracy": 1.5, "average_bound": 2.0, "population": PEOPLE},
        "light-ends",
    ),
}


def samples_for(rule: str, stated: dict[str, float], exponent: float) -> int:
    """The fewest samples with which the rule proves a failure of at most e^−K."""
    samples = 1
    while RULES[f"graph.sampler.{rule}"].conclude(**stated, samples=samples).failure > math.exp(-exponent):
        samples += 1
    return samples


def too_many(missed: int, chance: float) -> bool:
    """Whether so many misses in RUNS would be rarer than the false alarm, by Chernoff's bound."""
    seen = missed / RUNS
    if seen <= chance:
        return False
    divergence = seen * math.log(seen / chance) + (1 - seen) * math.log((1 - seen) / (1 - chance) if seen < 1 else 1)
    return -RUNS * divergence < FALSE_ALARM


@for_each("name", CASES, daily=3)
def test_samplers_keep_to_their_accuracy(name: str) -> None:
    """(δ, 1 − e^−K) in at least 1 − e^−K of 2,000 runs, and with K = 2, so that misses are to be expected."""
    run, stated, rule = CASES[name]
    true = TRUTH["average-degree" if name == "light ends" else name]
    samples = samples_for(rule, stated, 2)
    source = SeededSource(7)
    missed = sum(abs(run(NETWORK, samples, source) - true) > Fraction(stated["accuracy"]) for _ in range(RUNS))
    assert not too_many(missed, math.exp(-2))
    assert missed <= RUNS * math.exp(-2)


@for_each("name", CASES)
def test_they_are_right_on_average(name: str) -> None:
    """Components here have at most seven people, so nothing is missed; the average of many samples is the truth."""
    run = CASES[name][0]
    true = TRUTH["average-degree" if name == "light ends" else name]
    # Hoeffding: terms are worth at most 2d each, and 20,000 of them stray by t with probability 2e^{−2·20000(t/2d)²}
    width = 2 * DEGREE_BOUND if "degree" in name or "light" in name else 1
    stray = width * math.sqrt((math.log(2) - FALSE_ALARM) / (2 * 20_000))
    assert abs(run(NETWORK, 20_000, SeededSource(3)) - true) <= stray


@for_each("explored", [1, 2, 4, 7, 8])
def test_a_walk_asks_few_people_and_never_the_concealed(explored: int) -> None:
    hidden = 5
    for start in range(0, PEOPLE, 7):
        watched = Watched(Concealed(NETWORK, hidden))
        found = s.walk(watched, start, explored)
        assert len(watched.visited) == len(set(watched.visited)) <= explored
        assert watched.visited[0] == start
        assert hidden not in watched.visited[1:]
        assert found.degree == len(Concealed(NETWORK, hidden).neighbours(start))
        if found.component is not None:
            assert len(found.component) == len(watched.visited)


def test_samplers_touch_only_whom_the_promise_grants() -> None:
    """Everybody asked lies around a random person: at most t·s rows, and for light ends one step away."""
    samples = 12
    for name, (run, _, _) in CASES.items():
        watched = Watched(NETWORK)
        run(watched, samples, SeededSource(1))
        explores = name in ("connectivity", "cycle-freeness", "eulerian")
        most = samples * (8 if explores else 1 if name == "average-degree" else 1 + DEGREE_BOUND)
        assert samples <= len(watched.visited) <= most


def test_a_component_too_large_counts_for_nothing() -> None:
    assert s.walk(NETWORK, 0, 2).component is None
    assert s.walk(NETWORK, 0, 3).component == (2, 2, 2)
    assert s.walk(NETWORK, 0, 3).even
