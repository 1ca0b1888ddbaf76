"""Synopses and measurements against the simulator of ZKP Proposition 16, on every small table, exactly.

The simulator sees k random rows of the table in which the person is concealed, and nothing else.
"""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import list_conjunctions, ranges
from crowdblend.methods.mechanisms.synopsis.rows import count_rows
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, FittedSynopsis
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import Useful
from tests.cases import for_each

from .definitions import replace_delta
from .distributions import Distribution, divergence, double_above, epsilon_above, growth_below, mix
from .noise_below_k import blurred
from .worlds import CONCEALED, Mechanism, Table, concealed, drawn, remembered, rows

N, K = 3, 2
CLASSES = {
    "conjunctions": Conjunctions((2, 2), 2),
    "all tables": Conjunctions((2, 2), 2, add_up=0),
    "ranges": ranges(3),
    "listed": list_conjunctions((2, 2), [{0: 0}, {0: 1, 1: 0}]),
}


def simulates(promise: ZeroKnowledge, release: Mechanism, universe: tuple[int, ...], n: int = N) -> bool:
    """The release on the concealed table is the simulator: sampling and sanitizing sees k random rows only."""
    growth = growth_below(promise.epsilon)
    return all(
        divergence(release(table), release(concealed(table, (i,))), growth) <= Fraction(promise.delta)
        for table in rows(universe, n)
        for i in range(n)
    )


def on_samples(sanitizer: Mechanism, size: int = K) -> Mechanism:
    """The sanitizer on rows drawn without replacement; it counts rows, so their order does not matter."""
    known = remembered(sanitizer)
    return remembered(
        lambda table: mix(
            (share, known(tuple(sorted(table[i] for i in chosen)))) for share, chosen in drawn(table, size)
        )
    )


def cells(table: Table) -> np.ndarray:
    return np.array(table, np.int64)


def chosen_law(mechanism: ExponentialSynopsis, base: Fraction) -> Mechanism:
    """The law of the exponential mechanism with weights base^score, by the mechanism's own scores."""

    def law(table: Table) -> Distribution:
        scores = mechanism.scores(count_rows(cells(table), mechanism.queries.shape), len(table))
        weights = [base**score for score in scores]
        return {place: weight / sum(weights) for place, weight in enumerate(weights)}

    return law


@for_each("name", CLASSES, daily=2)
def test_the_chosen_synopsis_is_private(name: str) -> None:
    queries, base, m = CLASSES[name], Fraction(4, 3), 2
    # e^{ε/(2m)} ≥ base: the law with base is that of an epsilon a hair smaller.
    epsilon = double_above(2 * m * Fraction(epsilon_above(base)))
    law = chosen_law(ExponentialSynopsis(queries, epsilon, m), base)
    premise = RULES["synopsis.exponential"].conclude(epsilon=epsilon)
    universe = (*range(queries.universe), CONCEALED)
    assert replace_delta(law, universe, K, growth_below(premise.epsilon)) == 0
    claimed = RULES["sample-and-sanitize.sharp"].conclude(premise, samples=K, population=N)
    assert simulates(claimed, on_samples(law), universe)


@for_each("name", ["conjunctions", "ranges", "listed"])
def test_a_choice_with_three_times_the_loss_is_caught(name: str) -> None:
    queries, base, m = CLASSES[name], Fraction(4, 3), 2
    epsilon = double_above(2 * m * Fraction(epsilon_above(base)))
    broken = chosen_law(ExponentialSynopsis(queries, epsilon, m), base**3)
    universe = (*range(queries.universe), CONCEALED)
    assert replace_delta(broken, universe, K, growth_below(epsilon)) > 0


def measured_law(mechanism: FittedSynopsis, ratio: Fraction) -> Mechanism:
    """The law of the noisy counts, as far as any event can tell: beyond the true counts all laws fall alike."""

    def law(table: Table) -> Distribution:
        counts = mechanism.queries.counts(count_rows(cells(table), mechanism.queries.shape))
        parts = [blurred(int(count), ratio, 0, len(table)) for count in counts]
        found: dict = {}
        for outcome in product(*parts):
            mass = Fraction(1)
            for part, value in zip(parts, outcome, strict=True):
                mass *= part[value]
            found[outcome] = mass
        return found

    return law


SMALL = {
    "two tables": Conjunctions((2, 2), 1),
    "one table": Conjunctions((3,), 1),
    "ranges": ranges(3),
    "listed": list_conjunctions((2, 2), [{0: 0}, {0: 1, 1: 0}]),
}
SLOW = ("two tables",)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in SMALL])
def test_noisy_counts_are_private(name: str) -> None:
    queries, ratio = SMALL[name], Fraction(2, 3)
    noise_epsilon = epsilon_above(1 / ratio)
    law = remembered(measured_law(FittedSynopsis(queries, noise_epsilon, 1, 1.0, 1.0, 1.0), ratio))
    premise = RULES["synopsis.counts"].conclude(noise_epsilon=noise_epsilon, sensitivity=float(queries.sensitivity))
    universe = (*range(queries.universe), CONCEALED)
    assert replace_delta(law, universe, K, growth_below(premise.epsilon)) == 0
    claimed = RULES["sample-and-sanitize.sharp"].conclude(premise, samples=K, population=N)
    assert simulates(claimed, on_samples(law), universe)
    if name != "listed":
        tighter = Differential(premise.epsilon * 0.999, 0.0, Relation.REPLACE)
        assert replace_delta(law, universe, K, growth_below(tighter.epsilon)) > 0


@for_each("m", [1, 2, 4])
@for_each("name", ["conjunctions", "ranges"])
def test_the_chosen_synopsis_is_as_useful_as_stated(name: str, m: int) -> None:
    """P[error > α] for every table of four people, by the exact law; α < 1 or the test would say nothing."""
    queries, k, base = CLASSES[name], 4, Fraction(1000)
    # A base a hair above e^{ε/(2m)} with a slightly smaller ε would be less accurate; so round ε down.
    epsilon = 2 * m * np.nextafter(np.log(1000.0), 0) * (1 - 1e-12)
    mechanism = ExponentialSynopsis(queries, float(epsilon), m)
    law = chosen_law(mechanism, base)
    stated = RULES["synopsis.exponential-useful"].conclude(
        samples=k, universe=queries.universe, queries=queries.size, rows=m, epsilon=float(epsilon), failure=0.2
    )
    assert isinstance(stated, Useful)
    for table in rows(range(queries.universe), k):
        if table == tuple(sorted(table)):
            scores = mechanism.scores(count_rows(cells(table), queries.shape), k)
            missed = sum(
                (mass for place, mass in law(table).items() if Fraction(-scores[place], m * k) > stated.accuracy),
                Fraction(0),
            )
            assert missed <= Fraction(stated.failure)
            # Some table of m rows is as close as the first part of the bound says.
            assert Fraction(-max(scores), m * k) <= Fraction(queries.universe, 4 * m)
            assert -max(scores) / (m * k) <= (np.log(2 * queries.size) / (2 * m)) ** 0.5


@for_each(("universe", "m"), [(2, 1), (3, 2), (4, 2), (4, 3)])
def test_a_table_of_few_rows_is_close_to_any_other(universe: int, m: int) -> None:
    """The bound X/(4m), for the hardest class there is: all sets of values."""
    for people in rows(range(4), universe):
        total = sum(people)
        if total == 0:
            continue
        exact = [Fraction(m * count, total) for count in people]
        errors = [
            sum(max(Fraction(0), c - e) for c, e in zip(counts, exact, strict=True)) / m
            for counts in rows(range(m + 1), universe)
            if sum(counts) == m
        ]
        assert min(errors) <= Fraction(universe, 4 * m)


@for_each(("samples", "failure"), [(1, 0.5), (3, 0.3), (5, 0.1), (6, 0.05)])
def test_random_people_answer_a_finite_class(samples: int, failure: float) -> None:
    """Serfling's inequality with the union bound, for one query and for two, on every table of six people."""
    n = 6
    for queries in (1, 2):
        stated = RULES["queries.finite-class"].conclude(samples=samples, population=n, queries=queries, failure=failure)
        for table in rows(range(2**queries), n):
            if table != tuple(sorted(table)):
                continue
            missed = Fraction(0)
            for share, chosen in drawn(table, samples):
                errors = [
                    abs(
                        Fraction(sum(table[i] >> q & 1 for i in chosen), samples)
                        - Fraction(sum(value >> q & 1 for value in table), n)
                    )
                    for q in range(queries)
                ]
                missed += share * (max(errors) > Fraction(stated.accuracy))
            assert missed <= Fraction(failure)


@for_each(("parts", "noise_epsilon"), [(1, 0.7), (2, 0.7), (3, 1.5), (6, 0.4)])
def test_noisy_answers_keep_to_their_bound(parts: int, noise_epsilon: float) -> None:
    """The tail of a sum of discrete Laplace noise, by convolution, against the stated bound; the tail is real."""
    failure, a, far = 0.01, np.exp(-noise_epsilon), 400
    single = (1 - a) / (1 + a) * a ** np.abs(np.arange(-far, far + 1))
    law = single
    for _ in range(parts - 1):
        law = np.convolve(law, single)
    values = np.arange(len(law)) - len(law) // 2
    stated = RULES["synopsis.counts-useful"].conclude(
        samples=1, queries=1, addends=parts, noise_epsilon=noise_epsilon, failure=failure
    )
    beyond = law[np.abs(values) > stated.accuracy].sum()
    assert beyond <= failure
    if parts == 1:
        assert law[np.abs(values) > stated.accuracy - 1].sum() > failure


def test_multisets_are_counted() -> None:
    made = ExponentialSynopsis(CLASSES["conjunctions"], 1.0, 3)
    assert len(made.candidates) == comb(4 + 3 - 1, 3)
    assert len({tuple(row) for row in made.candidates.tolist()}) == len(made.candidates)
