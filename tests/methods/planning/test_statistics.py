"""Plans for statistics: within the promise, no worse than the paper, and true in at least 1 − β of all draws."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.methods.planning.statistics.accuracy import Shape, group_draw_error, noise_error
from crowdblend.methods.planning.statistics.choice import TotalsRequest, plan_statistics
from crowdblend.methods.planning.statistics.ways import EVERYBODY, SAMPLE
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Relation
from crowdblend.trusted.randomness import SeededSource, discrete_laplace
from tests.cases import for_each
from tests.refusals import refuses

SHAPES = {"average": Shape(1000), "fraction": Shape(1), "histogram": Shape(1, bins=12)}
GRID = list(product([0.05, 0.5, 1.0, 3.0], [20, 1000], [1000, 100_000], [0.05, 0.3]))
RUNS = 2_000
# A test below fails by chance with at most this probability for each statistic.
FALSE_ALARM = 1e-6


def asked(*shapes: Shape, epsilon: float, samples: int, population: int, failure: float) -> TotalsRequest:
    equal = tuple(Shape(shape.steps, shape.bins, 1 / len(shapes)) for shape in shapes)
    return TotalsRequest(equal, epsilon, samples, population, failure)


@for_each(("epsilon", "samples", "population", "failure"), GRID)
def test_plans_keep_the_promise_and_are_no_worse_than_the_paper(
    epsilon: float, samples: int, population: int, failure: float
) -> None:
    numbers = {"epsilon": epsilon, "samples": samples, "population": population, "failure": failure}
    for shapes in ([shape] for shape in SHAPES.values()):
        _check(asked(*shapes, **numbers))  # type: ignore[arg-type]
    _check(asked(*SHAPES.values(), *SHAPES.values(), **numbers))  # type: ignore[arg-type]


def published_errors(request: TotalsRequest, shape: Shape) -> dict[str, float | None]:
    """What the paper's statements give each way, its samples and its loss divided among the statistics."""
    k, n, failure = max(1, int(request.samples * shape.share)), request.population, request.failure
    epsilon, m, odds = request.epsilon * shape.share, shape.bins, n / k
    # ZKP 3.1: Lap((1/n + k^(−1/3))/ε') with ε' + 2·exp(−k^(1/3)) = ε, stated for averages and ε' ≤ 1.
    root = math.pow(k, 1 / 3)
    left = epsilon - 2 * math.exp(-root)
    laplace = None
    if m == 1 and 0 < left <= 1:
        laplace = shape.steps * (1 / n + 1 / root) / left * math.log(1 / failure)
    # ZKP 3.2 with the largest ε of the sanitizer that one of the parts of Proposition 16 allows; a histogram is m
    # counts, each from k/m samples and an m-th of the loss.
    inner = max(epsilon, math.log1p(odds * math.expm1(epsilon / 2)), min(1.0, odds * epsilon / 4))
    draw = math.sqrt(m / k) * math.sqrt(math.log(4 * m / failure) / 2)
    return {EVERYBODY: laplace, SAMPLE: shape.steps * (draw + m / (inner * k) * math.log(2 * m / failure))}


def _check(question: TotalsRequest) -> None:
    plan = plan_statistics(question)
    promise, replaced = (made.conclusion for made in plan.derivations())
    assert promise.epsilon <= question.epsilon
    # Nothing worth mentioning is left unused.
    assert promise.epsilon >= question.epsilon * (1 - 1e-9)
    assert promise.aggregate == RandomSamples(question.samples, question.population)
    assert replaced.relation is Relation.REPLACE
    for place, shape in enumerate(question.shapes):
        error = plan.error(place)
        possible = [plan.error_if_all(name, place) for name in (EVERYBODY, SAMPLE)]
        of_paper = published_errors(question, shape)
        stated = [given for given in of_paper.values() if given is not None]
        assert 0 <= error <= shape.steps
        assert error <= max(given for given in possible if given is not None) * (1 + 1e-9)
        assert error <= min(shape.steps, *stated) * (1 + 1e-9), (shape, error, stated)
        for name, given in of_paper.items():
            ours = plan.error_if_all(name, place)
            if given is not None and ours is not None:
                assert ours <= min(shape.steps, given) * (1 + 1e-9), (name, shape, ours, given)


def test_both_ways_are_taken_somewhere() -> None:
    chosen = {
        plan_statistics(asked(SHAPES["fraction"], epsilon=epsilon, samples=1000, population=100_000, failure=0.05))
        .way_of(0)
        .mechanism
        for epsilon in (0.1, 4.0)
    }
    assert chosen == {EVERYBODY, SAMPLE}


def test_a_mixture_shares_out_the_samples_and_the_loss() -> None:
    heavy, light = Shape(1, share=0.98), Shape(1, share=0.02)
    plan = plan_statistics(TotalsRequest((heavy, light), 10.0, 1000, 10**6, 0.05))
    assert [way.mechanism for _, way in plan.ways] == [EVERYBODY, SAMPLE]
    samples = [way.samples for _, way in plan.ways]
    assert sum(samples) == 1000
    promise = plan.derivations()[0].conclusion
    assert promise.epsilon <= 10.0
    assert promise.aggregate == RandomSamples(1000, 10**6)
    assert plan.error(0) < plan.error_if_all(SAMPLE, 0)
    assert plan.error(1) < plan.error_if_all(EVERYBODY, 1)
    unmixed = plan_statistics(TotalsRequest((heavy, light), 10.0, 1000, 10**6, 0.05, mixed=False))
    assert len(unmixed.ways) == 1


@for_each("noise_epsilon", [1e-6, 0.01, 0.7, 5.0])
@for_each("failure", [0.3, 0.05, 1e-6])
def test_noise_errors_are_the_smallest_that_hold(noise_epsilon: float, failure: float) -> None:
    a, t = math.exp(-noise_epsilon), noise_error(noise_epsilon, failure)

    def beyond(t: int) -> float:
        return 2 * a ** (t + 1) / (1 + a)

    assert beyond(t) <= failure
    assert t == 0 or beyond(t - 1) >= failure * (1 - 1e-9)


@for_each("bins", [1, 2, 12, 1000])
@for_each("noise_epsilon", [0.01, 0.7])
def test_the_error_of_a_histogram_holds_for_all_its_bins_at_once(bins: int, noise_epsilon: float) -> None:
    """P[some bin is off by more than t] = 1 − (1 − P[|Y| > t])^bins ≤ failure, and t is hardly larger than needed."""
    people, failure, a = 10**6, 0.05, math.exp(-noise_epsilon)

    def missed(t: float) -> float:
        return -math.expm1(bins * math.log1p(-2 * a ** (math.floor(t) + 1) / (1 + a)))

    shape = Shape(1, bins=bins)
    error = shape.error(noise_epsilon, people, people, failure)
    assert missed(error * people) <= failure
    assert missed(error * people - 2) > failure * 0.95
    drawn = shape.error(noise_epsilon, 1000, people, failure)
    assert drawn == Shape(1).error(noise_epsilon, 1000, people, failure / bins)


def _population(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """What everybody adds, a column for each bin; halves at both ends vary most."""
    if kind == "average":
        return rng.choice([0, 1000], (n, 1))
    if kind == "fraction":
        return (np.arange(n) % 2)[:, None]
    return np.eye(12, dtype=np.int64)[rng.integers(0, 2, n)]


@for_each("kind", SHAPES, daily=2)
@for_each("epsilon", [0.02, 0.5, 4.0])
@for_each("mechanism", [EVERYBODY, SAMPLE])
def test_stated_errors_hold_in_enough_of_2000_runs(kind: str, epsilon: float, mechanism: str) -> None:
    n, k, failure = 5000, 200, 0.05
    question = asked(SHAPES[kind], epsilon=epsilon, samples=k, population=n, failure=failure)
    way = plan_statistics(question).alternatives[mechanism]  # type: ignore[index]
    rng = np.random.default_rng(7)
    people = _population(kind, n, rng)
    bins = people.shape[1]
    noise = discrete_laplace(RUNS * bins, way.noise_epsilons[0], SeededSource(3)).reshape(RUNS, bins)
    if mechanism == EVERYBODY:
        published = (people.sum(axis=0) + noise) / n
    else:
        # k of n without replacement in every run.
        drawn = np.array([people[rng.choice(n, k, replace=False)].sum(axis=0) for _ in range(RUNS)])
        published = (drawn + noise) / k
    published = published.clip(0, SHAPES[kind].steps)
    missed = int((np.abs(published - people.mean(axis=0)).max(axis=1) > way.errors[0] + 1e-12).sum())
    # With a true failure rate of at most β, more misses than this have probability below FALSE_ALARM.
    assert missed <= binom.isf(FALSE_ALARM, RUNS, failure)


@for_each("people", [0, 1, 3, 40, 100_000])
@for_each("failure", [0.5, 0.05, 1e-6])
def test_the_error_of_random_people_is_that_of_hoeffding(people: int, failure: float) -> None:
    """P[|mean − expectation| ≥ t] ≤ 2·exp(−2nt²), and no share is further off than 1."""
    t = group_draw_error(people, failure, 0.5)
    assert t == 1 or failure * (1 - 1e-9) < 2 * math.exp(-2 * people * t**2) <= failure
    assert t <= 1
    assert (t == 1) == (2 * math.exp(-2 * people) >= failure)
    assert group_draw_error(people, failure, 1.0) == 0


@pytest.mark.parametrize("samples", [0, 1001])
def test_impossible_samples_are_refused(samples: int) -> None:
    with refuses("plan.sample"):
        TotalsRequest((Shape(1),), 1.0, samples, 1000, 0.05)


def test_noise_that_fits_no_number_is_refused() -> None:
    with refuses("plan.noise-too-large"):
        plan_statistics(TotalsRequest((Shape(2**31),), 1e-9, 10, 2**21, 0.05))
