"""Points under sampling: no tiny world leaks more than points.sampled says, and a swap is what its proof says."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from crowdblend.calculus import RULES
from crowdblend.guarantees import CrowdBlending
from crowdblend.numerics.shuffled import likelihood_ratios, shuffled_divergence

from . import fractions_arithmetic as exact
from .definitions import add_remove_delta
from .distributions import divergence, hockey_stick, mix, surely
from .worlds import Mechanism, Table, remembered, sampled

ONE = Fraction(1)
Kernel = dict[int, dict[int, Fraction]]


def random_kernel(seed: int, blend: Fraction, values: int = 3, outcomes: int = 3) -> Kernel:
    """Noise on each value of a block, no outcome more than `blend` times as likely from one value as from another."""
    rng = random.Random(seed)
    while True:
        base = [Fraction(rng.randint(1, 6)) for _ in range(outcomes)]
        bent = [[mass * blend ** rng.choice((Fraction(0), 1)) for mass in base] for _ in range(values)]
        kernel = {v: {y: mass / sum(row) for y, mass in enumerate(row)} for v, row in enumerate(bent)}
        told = max(kernel[v][y] / kernel[u][y] for u, v, y in product(range(values), range(values), range(outcomes)))
        if 1 < told <= blend:
            return kernel


def randomized_response(blend: Fraction) -> Kernel:
    right = blend / (blend + 1)
    return {0: {0: right, 1: 1 - right}, 1: {0: 1 - right, 1: right}}


def published(kernel: Kernel, k: int) -> Mechanism:
    """The points of one block, moved and in sorted order, if there are at least k."""

    @remembered
    def release(table: Table) -> dict:
        if len(table) < k:
            return surely(())
        output: dict = surely(())
        for point in table:
            output = mix(
                (p * q, surely(tuple(sorted((*seen, y)))))
                for seen, p in output.items()
                for y, q in kernel[point].items()
            )
        return output

    return release


KERNELS = [
    pytest.param(randomized_response(Fraction(2)), Fraction(2), id="response 2"),
    pytest.param(randomized_response(Fraction(5)), Fraction(5), id="response 5"),
    *(pytest.param(random_kernel(seed, Fraction(3)), Fraction(3), id=f"random {seed}") for seed in range(2)),
]


@pytest.mark.parametrize("rate", [Fraction(1, 5), Fraction(2, 3)], ids=str)
@pytest.mark.parametrize(("kernel", "blend"), KERNELS)
def test_no_tiny_world_leaks_more(kernel: Kernel, blend: Fraction, rate: Fraction) -> None:
    for k in (2, 3):
        release = sampled(published(kernel, k), rate)
        for growth in (Fraction(1), Fraction(6, 5), Fraction(2), Fraction(4)):
            true = add_remove_delta(release, list(kernel), 4, growth)
            assert true <= shuffled_divergence(exact, k, rate, blend, growth)


def test_a_larger_crowd_or_weaker_noise_would_be_caught() -> None:
    """The worlds above can tell k from k + 1, and the noise that is drawn from more."""
    kernel, rate, k, growth = randomized_response(Fraction(5)), Fraction(1, 5), 2, Fraction(2)
    true = add_remove_delta(sampled(published(kernel, k), rate), list(kernel), 4, growth)
    assert shuffled_divergence(exact, k + 1, rate, Fraction(5), growth) < true
    assert shuffled_divergence(exact, k, rate, Fraction(101, 100), growth) < true


def swapped(blend: Fraction, others: int) -> tuple[dict, dict]:
    """One of two responses among others, each of whom gives either with probability 1/(2·blend), else is recognized."""
    alike = 1 / (2 * blend)
    crowd: dict = surely((0, 0))
    for _ in range(others):
        crowd = mix(
            (p * q, surely((u + du, v + dv)))
            for (u, v), p in crowd.items()
            for q, du, dv in ((alike, 1, 0), (alike, 0, 1), (1 - 2 * alike, 0, 0))
        )
    right = blend / (blend + 1)

    def with_one(chance: Fraction) -> dict:
        return mix(
            (p * q, surely((u + du, v + 1 - du)))
            for (u, v), p in crowd.items()
            for q, du in ((chance, 1), (1 - chance, 0))
        )

    return with_one(right), with_one(1 - right)


@pytest.mark.parametrize("blend", [Fraction(3, 2), Fraction(4)], ids=str)
@pytest.mark.parametrize("others", [0, 1, 3, 6])
def test_the_likelihood_ratio_is_all_that_a_swap_tells(blend: Fraction, others: int) -> None:
    law = list(likelihood_ratios(exact, others + 1, blend))
    assert sum(mass for *_, mass in law) == 1
    assert sum(ratio * mass for _, _, ratio, mass in law) == 1
    one, other = swapped(blend, others)
    for growth in (ONE, Fraction(5, 4), Fraction(2), blend):
        direct = sum(mass * max(ratio - growth, Fraction(0)) for _, _, ratio, mass in law)
        assert direct == hockey_stick(one, other, growth) == divergence(one, other, growth)


CASES = [(20, 0.5, 0.1, 1.0), (46, 1.0, 0.5, 1.0), (12, 1.5, 0.2, 1.2), (7, 0.3, 0.6, 0.4), (600, 1.0, 0.1, 0.25)]


@pytest.mark.parametrize(("k", "noise", "rate", "epsilon"), CASES)
def test_it_lies_between_suppression_and_any_crowd_blending_mechanism(
    k: int, noise: float, rate: float, epsilon: float
) -> None:
    made = RULES["points.sampled"].conclude(k=k, noise_epsilon=noise, rate=rate, epsilon=epsilon)
    suppressed = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
    sharp = RULES["blending.sharp"].conclude(CrowdBlending(k, noise), rate=rate, epsilon=epsilon)
    assert suppressed.delta < made.delta < sharp.delta
