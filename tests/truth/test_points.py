"""Points under sampling: no tiny world leaks more than points.sampled says, and a swap is what its proof says."""

import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from crowdblend.trusted.numerics.crowd_divergence import Gap, one_fewer, one_more
from crowdblend.trusted.numerics.points_in_crowds import (
    gathered_ratios,
    likelihood_ratios,
    mean_gap,
    shuffled_divergence,
)
from tests.cases import for_each

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
    (randomized_response(Fraction(2)), Fraction(2)),
    (randomized_response(Fraction(5)), Fraction(5)),
    *((random_kernel(seed, Fraction(3)), Fraction(3)) for seed in range(2)),
]


@for_each("rate", [Fraction(1, 5), Fraction(2, 3)])
@for_each(("kernel", "blend"), KERNELS, daily=2)
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


@for_each("blend", [Fraction(3, 2), Fraction(4)])
@for_each("k", [2, 3, 6])
def test_a_point_hides_among_k_with_itself(k: int, blend: Fraction) -> None:
    """The mean over L at a crowd of k, its own values kept, is what the grid may only exceed, and by little."""
    rate, growth = Fraction(1, 3), Fraction(2)
    most = 1 + (growth - 1) / rate
    law = likelihood_ratios(exact, k, blend)
    mean = rate * mean_gap(exact, one_more, k, rate, [(mass * ratio, most / ratio) for _, _, ratio, mass in law])
    claimed = shuffled_divergence(exact, k, rate, blend, growth)
    assert growth * (1 - rate) >= 1, "one person less costs nothing here"
    assert mean <= claimed <= mean * Fraction(102, 100)


def with_response(block: dict, chance: Fraction, rate: Fraction) -> dict:
    """One more person, sampled at the rate, who responds 1 with that chance: (points, ones) with probabilities."""
    return mix(
        (p * q, surely((points + drawn, ones + one)))
        for (points, ones), p in block.items()
        for q, drawn, one in ((1 - rate, 0, 0), (rate * chance, 1, 1), (rate * (1 - chance), 1, 0))
    )


def shown_from(block: dict, k: int) -> dict:
    return mix((p, surely(outcome if outcome[0] >= k else ())) for outcome, p in block.items())


@for_each(("rate", "blend"), product([Fraction(1, 3), Fraction(4, 5)], [ONE, Fraction(3, 2), Fraction(4)]), daily=2)
def test_no_larger_block_of_unlike_points_leaks_more(blend: Fraction, rate: Fraction) -> None:
    """Crowd sizes from 1 to 4, and blocks beyond the worst size: some points respond like t, some not, some evenly."""
    right, growths = blend / (blend + 1), (ONE, Fraction(3, 2), Fraction(20))
    chances = sorted({1 - right, Fraction(1, 2), right})
    true = {(k, growth): Fraction(0) for k in range(1, 5) for growth in growths}
    for n in range(6):
        for others in combinations_with_replacement(chances, n):
            block: dict = surely((0, 0))
            for chance in others:
                block = with_response(block, chance, rate)
            # By symmetry t need not respond 0.
            for k, chance in product(range(1, 5), chances[len(chances) // 2 :]):
                absent, present = shown_from(block, k), shown_from(with_response(block, chance, rate), k)
                for growth in growths:
                    true[k, growth] = max(true[k, growth], divergence(present, absent, growth))
    claimed = {(k, growth): shuffled_divergence(exact, k, rate, blend, growth) for k, growth in true}
    assert all(true[case] <= claimed[case] for case in true)
    # The bound is attained, so that anything smaller would be caught here.
    assert any(true[case] == min(claimed[case], rate) for case in true if case[0] > 1)


@for_each("factor", [Fraction(1, 3), Fraction(9, 10), ONE, Fraction(2)], daily=2)
@for_each("rate", [Fraction(1, 5), Fraction(9, 10)])
def test_no_block_size_exceeds_the_gap_at_any_factor(rate: Fraction, factor: Fraction) -> None:
    """Σ of positive parts, as the proof has it for one likelihood ratio, below the factor 1 as well."""

    def bound(gap: Gap, k: int) -> Fraction:
        return mean_gap(exact, gap, k, rate, [(ONE, factor)])

    for k, n in product(range(1, 5), range(30)):
        f = [exact.pmf(n, j, rate) for j in range(n + 2)]
        more = sum(max(f[c - 1] - factor * f[c], Fraction(0)) for c in range(k, n + 2))
        hidden = max(sum(f[:k]) - factor * sum(f[: k - 1]), Fraction(0))
        fewer = hidden + sum(max(f[c] - factor * f[c - 1], Fraction(0)) for c in range(k, n + 2))
        assert more <= bound(one_more, k)
        assert fewer <= bound(one_fewer, k)


@for_each("blend", [Fraction(3, 2), Fraction(5)])
@for_each("crowd", [1, 2, 7])
def test_gathered_ratios_spread_and_larger_crowds_gather(blend: Fraction, crowd: int) -> None:
    """Every hinge of L has a mean on the grid of at least its own, and at most its own in a larger crowd."""
    law, larger = ([(r, m) for _, _, r, m in likelihood_ratios(exact, c, blend)] for c in (crowd, crowd + 1))
    grid = gathered_ratios(exact, crowd, blend)
    assert sum(mass for _, mass in grid) == sum(mass * ratio for ratio, mass in grid) == 1
    for at in (Fraction(i, 8) for i in range(48)):
        spread, own, hidden = (sum(m * max(r - at, Fraction(0)) for r, m in which) for which in (grid, law, larger))
        assert hidden <= own <= spread


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


@for_each("blend", [Fraction(3, 2), Fraction(4)])
@for_each("others", [0, 1, 3, 6])
def test_the_likelihood_ratio_is_all_that_a_swap_tells(blend: Fraction, others: int) -> None:
    law = list(likelihood_ratios(exact, others + 1, blend))
    assert sum(mass for *_, mass in law) == 1
    assert sum(ratio * mass for _, _, ratio, mass in law) == 1
    one, other = swapped(blend, others)
    for growth in (ONE, Fraction(5, 4), Fraction(2), blend):
        direct = sum(mass * max(ratio - growth, Fraction(0)) for _, _, ratio, mass in law)
        assert direct == hockey_stick(one, other, growth) == divergence(one, other, growth)


CASES = [(20, 0.5, 0.1, 1.0), (46, 1.0, 0.5, 1.0), (12, 1.5, 0.2, 1.2), (7, 0.3, 0.6, 0.4), (600, 1.0, 0.1, 0.25)]


@for_each(("k", "noise", "rate", "epsilon"), CASES, daily=3)
def test_it_lies_between_suppression_and_any_crowd_blending_mechanism(
    k: int, noise: float, rate: float, epsilon: float
) -> None:
    made = RULES["points.sampled"].conclude(k=k, noise_epsilon=noise, rate=rate, epsilon=epsilon)
    suppressed = RULES["suppression.exact"].conclude(CrowdBlending(k, 0.0), rate=rate, epsilon=epsilon)
    sharp = RULES["blending.sharp"].conclude(CrowdBlending(k, noise), rate=rate, epsilon=epsilon)
    assert suppressed.delta < made.delta < sharp.delta
