"""Releases side by side: what adds up (fresh samples), and why the refusals are warranted (one sample)."""

from fractions import Fraction

import pytest

from crowdblend.errors import DoesNotCompose
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.rules.composition import compose
from crowdblend.trusted.guarantees.aggregates import IidSampling, RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from tests.cases import for_each

from .definitions import add_remove_delta
from .distributions import both, divergence, double_above, epsilon_above, growth_below, mix, surely
from .mechanisms import random_mechanism, suppressed_histogram
from .worlds import Mechanism, concealed, drawn, neighbours, remembered, rows, sampled, samples

VALUES, MOST = (0, 1), 4


def together(one: Mechanism, other: Mechanism) -> Mechanism:
    """Both releases on the same table, each with coins of its own."""
    return remembered(lambda table: both(one(table), other(table)))


@for_each("seed", range(5))
def test_fresh_samples_add_up(seed: int) -> None:
    """Differential and zero-knowledge promises of two releases, each from its own sample of the population."""
    rate, growths = Fraction(1, 4), (Fraction(9, 8), Fraction(5, 4))
    releases = [sampled(random_mechanism(f"{seed}{name}"), rate) for name in "ab"]
    deltas = [add_remove_delta(r, VALUES, MOST, g) for r, g in zip(releases, growths, strict=True)]
    promises = [
        Differential(epsilon_above(g), double_above(d), Relation.ADD_REMOVE)
        for g, d in zip(growths, deltas, strict=True)
    ]
    claimed = RULES["composition.differential"].conclude(*promises)
    joint = together(*releases)
    assert add_remove_delta(joint, VALUES, MOST, growth_below(claimed.epsilon)) <= Fraction(claimed.delta)
    simulated = RULES["composition.iid-sampling"].conclude(
        *(ZeroKnowledge(p.epsilon, p.delta, IidSampling(0.25), Relation.ADD_REMOVE) for p in promises)
    )
    assert simulated.aggregate == IidSampling(0.25, rounds=2)
    growth = growth_below(simulated.epsilon)
    assert all(divergence(joint(a), joint(b), growth) <= Fraction(simulated.delta) for a, b in neighbours(VALUES, MOST))


@for_each("seed", range(3), daily=2)
def test_random_samples_add_up_with_their_numbers(seed: int) -> None:
    """ZKP Proposition 2: two draws of 1 of 3 rows, simulated from one draw of 2 distinct rows."""
    n, universe = 3, (-1, 0, 1)
    growth = Fraction(6, 5)
    kernels = [random_mechanism(f"{seed}{name}") for name in "ab"]
    releases = [remembered(lambda t, m=m: mix((share, m((t[i],))) for share, (i,) in drawn(t, 1))) for m in kernels]
    pairs = [(t, concealed(t, (i,))) for t in rows(universe, n) for i in range(n)]
    promises = [
        ZeroKnowledge(
            epsilon_above(growth),
            double_above(max(divergence(r(a), r(b), growth) for a, b in pairs)),
            RandomSamples(1, n),
            Relation.CONCEAL,
        )
        for r in releases
    ]
    claimed = RULES["composition.random-samples"].conclude(*promises)
    assert claimed.aggregate == RandomSamples(2, n)

    def simulator(table: tuple[int, ...]) -> dict:
        # From 2 distinct rows: with probability 1/n both releases would have drawn the same one.
        parts = []
        for share, (i, j) in drawn(table, 2):
            for first, second in ((i, j), (j, i)):
                parts.append(
                    (share / 2 * (1 - Fraction(1, n)), both(kernels[0]((table[first],)), kernels[1]((table[second],))))
                )
                parts.append(
                    (share / 2 * Fraction(1, n), both(kernels[0]((table[first],)), kernels[1]((table[first],))))
                )
        return mix(parts)

    joint = together(*releases)
    for table, hidden in pairs:
        assert simulator(table) == joint(table)
        assert divergence(joint(table), simulator(hidden), growth_below(claimed.epsilon)) <= Fraction(claimed.delta)


def test_the_sample_size_beside_a_suppressed_table_voids_the_promise() -> None:
    """The sample's size beside the suppressed table loses the whole sampling rate, at any ε."""
    rate, k, growth = Fraction(1, 4), 3, Fraction(64)
    hidden = suppressed_histogram(lambda value: 0, k)

    def with_size(table: tuple[int, ...]) -> dict:
        return both(hidden(table), surely(len(table)))

    alone = sampled(hidden, rate)
    beside = remembered(lambda t: mix((c, with_size(s)) for c, s in samples(t, [rate] * len(t))))
    # One person against nobody: alone nothing is shown, with the size beside it the whole rate is lost.
    assert divergence(alone((0,)), alone(()), growth) == 0
    assert divergence(beside((0,)), beside(()), growth) == rate
    promise = RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=0.25, epsilon=epsilon_above(growth))
    assert Fraction(promise.conclusion.delta) < rate
    with pytest.raises(DoesNotCompose, match=r"LQS 2\.2"):
        compose(promise, promise)


def test_two_partitions_of_one_sample() -> None:
    """LQS 2.2: two suppressed tables of one sample exceed the sum of their δs, even at the sum of their εs."""
    rate, k, values, growth = Fraction(1, 4), 2, (0, 1, 2), Fraction(20)
    one, other = (suppressed_histogram(classes, k) for classes in (lambda v: int(v == 2), lambda v: int(v != 1)))
    joint = remembered(lambda t: mix((c, both(one(s), other(s))) for c, s in samples(t, [rate] * len(t))))
    promise = RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=0.25, epsilon=epsilon_above(growth))
    claimed = Fraction(promise.conclusion.delta)
    for alone in (one, other):
        assert add_remove_delta(sampled(alone, rate), values, MOST, growth) <= claimed
    assert add_remove_delta(joint, values, MOST, growth**2) == Fraction(37, 256) > 2 * claimed
    with pytest.raises(DoesNotCompose, match=r"LQS 2\.2"):
        compose(promise, promise)
