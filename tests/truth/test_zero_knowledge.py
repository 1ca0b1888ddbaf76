"""Zero-knowledge promises on every small table with a concealed row (ZKP Propositions 3, 4, 5, 7, 8, 12, 15, 16)."""

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.utility import AVERAGE, Sampler, Useful
from tests.cases import for_each

from .definitions import replace_delta
from .distributions import (
    Distribution,
    divergence,
    double_above,
    double_below,
    epsilon_above,
    growth_below,
    largest_divergence,
    mix,
)
from .mechanisms import random_gentle_mechanism, random_mechanism, tilted
from .noise_below_k import blurred
from .worlds import CONCEALED, Mechanism, Table, concealed, drawn, remembered, rows

# ⊥ is an element of the universe like any other (ZKP 2.1).
UNIVERSE, N, K = (0, 1, CONCEALED), 3, 2
SEEDS = range(4)
Simulator = Callable[[int, Table], Distribution]


def drawn_in_random_order(mechanism: Mechanism, size: int) -> Mechanism:
    """The mechanism on `size` rows drawn without replacement, in random order."""
    return remembered(
        lambda table: mix(
            (share / len(list(permutations(chosen))), mechanism(tuple(table[i] for i in order)))
            for share, chosen in drawn(table, size)
            for order in permutations(chosen)
        )
    )


def sanitizer_promise(mechanism: Mechanism, growth: Fraction) -> Differential:
    delta = replace_delta(mechanism, UNIVERSE, K, growth)
    return Differential(epsilon_above(growth), double_above(delta), Relation.REPLACE)


def simulates(promise: ZeroKnowledge, release: Mechanism, simulator: Simulator) -> bool:
    """ZKP Definition 1, for groups: the simulator sees the table with the group concealed, and its first member."""
    growth, groups = growth_below(promise.epsilon), range(1, promise.people + 1)
    return all(
        divergence(release(table), simulator(group[0], concealed(table, group)), growth) <= Fraction(promise.delta)
        for table in rows(UNIVERSE, N)
        for size in groups
        for group in combinations(range(N), size)
    )


@for_each("growth", [Fraction(1), Fraction(3, 2), Fraction(5, 2)])
@for_each("seed", SEEDS, daily=2)
def test_sample_and_sanitize(seed: int, growth: Fraction) -> None:
    mechanism = random_mechanism(seed) if seed % 2 else random_gentle_mechanism(seed, Fraction(3, 2))
    premise, release = sanitizer_promise(mechanism, growth), drawn_in_random_order(mechanism, K)
    for part in ("plain", "doubled", "linear", "sharp"):
        claimed = RULES[f"sample-and-sanitize.{part}"].conclude(premise, samples=K, population=N)
        assert simulates(claimed, release, lambda i, seen: release(seen)), part
    replaced = RULES["sample-and-sanitize.differential"].conclude(premise, samples=K, population=N)
    assert replace_delta(release, UNIVERSE, N, growth_below(replaced.epsilon)) <= Fraction(replaced.delta)


def test_the_sharp_delta_of_sample_and_sanitize_is_attained() -> None:
    """Publishing the drawn row is (0, 1)-private; drawn 1 of 3 it is (0, 1/3)-private, and no less is true."""
    release = remembered(lambda table: mix((share, {table[i]: Fraction(1)}) for share, (i,) in drawn(table, 1)))
    claimed = RULES["sample-and-sanitize.sharp"].conclude(
        Differential(0.0, 1.0, Relation.REPLACE), samples=1, population=N
    )
    true = largest_divergence(
        ((release(t), release(concealed(t, (i,)))) for t in rows(UNIVERSE, N) for i in range(N)), Fraction(1)
    )
    assert true == Fraction(1, 3)
    assert true <= Fraction(claimed.delta) < true * (1 + Fraction(1, 10**9))
    assert not Fraction(claimed.delta * 0.999999) >= true


def test_the_order_of_the_drawn_rows_must_be_random() -> None:
    """Handed over in the table's order, drawn rows break the sharp promise: a swap then moves the others' places.

    Two bits of randomized response with factor 2, table (1, 0, 1), and the outcome that matches rows 1 and 2.
    """
    y = Fraction(2)

    def responses(pair: Table) -> Distribution:
        truth = [int(value == 1) for value in pair]
        masses = {(o, r): y ** -(int(o != truth[0]) + int(r != truth[1])) for o in (0, 1) for r in (0, 1)}
        return {outcome: mass / sum(masses.values()) for outcome, mass in masses.items()}

    claimed = RULES["sample-and-sanitize.sharp"].conclude(sanitizer_promise(responses, y), samples=K, population=N)
    assert claimed.delta == 0
    shuffled = drawn_in_random_order(responses, K)
    assert simulates(claimed, shuffled, lambda i, seen: shuffled(seen))
    in_order = remembered(lambda t: mix((share, responses(tuple(t[i] for i in c))) for share, c in drawn(t, K)))
    assert not simulates(claimed, in_order, lambda i, seen: in_order(seen))
    with_row, concealed_row = in_order((1, 0, 1)), in_order((CONCEALED, 0, 1))
    assert with_row[1, 0] / concealed_row[1, 0] == Fraction(7, 4) > 1 + Fraction(K, N) * (y - 1)


def simulated_world(seed: int) -> tuple[Mechanism, Simulator]:
    """A release, and simulators that each read K random rows with their positions and compute anything from them."""

    def kernel(i: int, chosen: tuple[int, ...], seen: tuple[int, ...]) -> Distribution:
        base = random_gentle_mechanism(f"{seed}", Fraction(3, 2))(())
        return tilted(base, random.Random(f"{seed}{i}{chosen}{seen}"), Fraction(4, 3))

    known: dict = {}

    def simulator(i: int, table: Table) -> Distribution:
        if (i, table) not in known:
            known[i, table] = mix((share, kernel(i, c, tuple(table[j] for j in c))) for share, c in drawn(table, K))
        return known[i, table]

    def release(table: Table) -> Distribution:
        near = mix((Fraction(1, N), simulator(i, concealed(table, (i,)))) for i in range(N))
        return tilted(near, random.Random(f"{seed}{table}"), Fraction(9, 8))

    return remembered(release), simulator


@for_each("seed", SEEDS, daily=2)
def test_groups_and_differential_privacy_follow(seed: int) -> None:
    release, simulator = simulated_world(seed)
    pairs = [(release(t), simulator(i, concealed(t, (i,)))) for t in rows(UNIVERSE, N) for i in range(N)]
    pure = max(max(p[o] / q[o], q[o] / p[o]) for p, q in pairs for o in p)
    for growth in (Fraction(1), Fraction(21, 20), pure):
        delta = double_above(largest_divergence(pairs, growth))
        premise = ZeroKnowledge(epsilon_above(growth), delta, RandomSamples(K, N), Relation.CONCEAL)
        assert simulates(premise, release, simulator)
        for people in (1, 2, 3):
            names = ["group-distance", "group-samples"] + ["group"] * (delta == 0)
            for name in names:
                group = RULES[f"zero-knowledge.{name}"].conclude(premise, people=people)
                assert simulates(group, release, simulator), name
        private = RULES["zero-knowledge.differential"].conclude(premise)
        assert replace_delta(release, UNIVERSE, N, growth_below(private.epsilon)) <= Fraction(private.delta)


@for_each("seed", SEEDS, daily=2)
def test_differential_privacy_is_zero_knowledge_about_everybody_else(seed: int) -> None:
    release = random_mechanism(seed)
    for growth in (Fraction(1), Fraction(2)):
        for people in (1, 2):
            delta = double_above(replace_delta(release, UNIVERSE, N, growth, people))
            premise = Differential(epsilon_above(growth), delta, Relation.REPLACE, people)
            claimed = RULES["differential.zero-knowledge"].conclude(premise, population=N)
            assert claimed.aggregate == RandomSamples(N, N)
            assert simulates(claimed, release, lambda i, seen: release(seen))


@for_each("seed", SEEDS, daily=2)
def test_a_zero_knowledge_and_a_differential_release_lose_no_more_than_what_both_imply(seed: int) -> None:
    """Enumerated: every table with one row replaced, both releases with randomness of their own."""
    first, simulator = simulated_world(seed)
    second = random_gentle_mechanism(f"beside {seed}", Fraction(3, 2))
    pairs = [(first(t), simulator(i, concealed(t, (i,)))) for t in rows(UNIVERSE, N) for i in range(N)]
    both = remembered(lambda table: {(a, b): p * q for a, p in first(table).items() for b, q in second(table).items()})
    for growth in (Fraction(1), Fraction(21, 20), Fraction(6, 5)):
        known = ZeroKnowledge(
            epsilon_above(growth),
            double_above(largest_divergence(pairs, growth)),
            RandomSamples(K, N),
            Relation.CONCEAL,
        )
        beside = Differential(
            epsilon_above(growth), double_above(replace_delta(second, UNIVERSE, N, growth)), Relation.REPLACE
        )
        implied = RULES["zero-knowledge.differential"].conclude(known)
        claimed = RULES["composition.differential"].conclude(implied, beside)
        truth = replace_delta(both, UNIVERSE, N, growth_below(claimed.epsilon))
        assert 0 < truth <= Fraction(claimed.delta) or truth == 0


# Proposition 12 on integers: the number of ones, estimated from K of N rows, with discrete Laplace noise.
RATIO = Fraction(2, 3)


def ones(table: Table) -> int:
    return sum(value == 1 for value in table)


def estimate(table: Table) -> list[tuple[Fraction, int]]:
    """Ones among the drawn rows, scaled up and rounded to the grid."""
    return [(share, round(Fraction(N, K) * ones(tuple(table[i] for i in c)))) for share, c in drawn(table, K)]


def failure_beyond(accuracy: int) -> Fraction:
    return max(
        sum((share for share, e in estimate(t) if abs(e - ones(t)) > accuracy), Fraction(0)) for t in rows(UNIVERSE, N)
    )


def noisy_ones(table: Table) -> Distribution:
    return blurred(ones(table), RATIO, 0, N)


def noisy_estimate(i: int, seen: Table) -> Distribution:
    return mix((share, blurred(e, RATIO, 0, N)) for share, e in estimate(seen))


@pytest.mark.parametrize("accuracy", [1, 2])
def test_laplace_noise_by_sample_complexity(accuracy: int) -> None:
    # A scale a hair below the true one: more loss is charged than the noise has, never less.
    scale = double_below(1 / Fraction(epsilon_above(1 / RATIO)))
    sampler = Sampler(AVERAGE, float(accuracy), double_above(failure_beyond(accuracy)), float(N), RandomSamples(K, N))
    claimed = RULES["laplace.sample-complexity"].conclude(sampler, sensitivity=1.0, scale=scale)
    assert simulates(claimed, noisy_ones, noisy_estimate)
    everybody = RULES["laplace.everybody"].conclude(sensitivity=1.0, scale=scale, population=N)
    assert simulates(everybody, noisy_ones, lambda i, seen: noisy_ones(seen))
    tighter = ZeroKnowledge(everybody.epsilon * 0.999999, 0.0, everybody.aggregate, Relation.CONCEAL)
    assert not simulates(tighter, noisy_ones, lambda i, seen: noisy_ones(seen))


def test_laplace_noise_from_random_samples_bounds_the_sensitivity() -> None:
    """ZKP Corollary 13 where its condition on the failure holds."""
    accuracy = next(a for a in range(1, N + 1) if failure_beyond(a) < (1 - Fraction(K, N)) / 2)
    scale = double_below(1 / Fraction(epsilon_above(1 / RATIO)))
    sampler = Sampler(AVERAGE, float(accuracy), double_above(failure_beyond(accuracy)), float(N), RandomSamples(K, N))
    claimed = RULES["laplace.random-samples"].conclude(sampler, scale=scale)
    assert simulates(claimed, noisy_ones, noisy_estimate)


@for_each("accuracy", [0, 1, 2])
def test_what_is_released_well_can_be_estimated(accuracy: int) -> None:
    """ZKP Proposition 15: the simulator of a private and accurate release is a sampler."""

    def misses(shown: Distribution, truth: int) -> Fraction:
        return sum(
            (m for o, m in shown.items() if not (isinstance(o, int) and abs(o - truth) <= accuracy)), Fraction(0)
        )

    pairs = [(noisy_ones(t), noisy_estimate(i, concealed(t, (i,)))) for t in rows(UNIVERSE, N) for i in range(N)]
    loss = max(max(p[o] / q[o], q[o] / p[o]) for p, q in pairs for o in p)
    premise = ZeroKnowledge(epsilon_above(loss), 0.0, RandomSamples(K, N), Relation.CONCEAL)
    failure = max(misses(noisy_ones(t), ones(t)) for t in rows(UNIVERSE, N))
    useful = Useful(float(accuracy) or 0.5, double_above(failure))
    sampler = RULES["zero-knowledge.sampler"].conclude(premise, useful, width=float(N))
    for table in rows(UNIVERSE, N):
        assert misses(noisy_estimate(0, concealed(table, (0,))), ones(table)) <= Fraction(sampler.failure)


@for_each(("samples", "accuracy"), [(1, 0.5), (3, 0.75), (4, 0.5), (4, 0.9)])
def test_the_average_of_samples_keeps_hoeffdings_promise(samples: int, accuracy: float) -> None:
    n = 5
    claimed = RULES["sampler.average"].conclude(samples=samples, population=n, accuracy=accuracy, width=1.0)
    for table in rows((0, 1), n):
        missed = sum(
            share
            for share, c in drawn(table, samples)
            if abs(Fraction(sum(table[i] for i in c), samples) - Fraction(sum(table), n)) > Fraction(accuracy)
        )
        assert missed <= Fraction(claimed.failure)
