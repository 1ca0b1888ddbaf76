"""Privacy of a noisy point among those of its block, before and after sampling.

A block with c ≥ k sampled points publishes them in no particular order, each moved by noise that tells two points of
the block apart by a factor of at most b. Swap one of them for another point of the block. Each of the c − 1 others
looks like either of the two with probability 1/b, and then like one as often as like the other. Let w − 1 others do so,
w − 1 ~ Bin(c−1, 1/b); of the w points that look alike, u look like the one and v = w − u like the other. All that the
output tells about the swap is the likelihood ratio

    L = (bu + v)/(u + bv),    with probability  C(w, u)·2^{−w} · 2(u + bv)/(w(b + 1))    given w,

so the swap costs no more than a draw of L (docs/proofs.md). A larger crowd hides better, so the law of L at c = k
covers every c ≥ k, and at fewer than k points as well.

Given L, sampling and dropping blocks below k cost what `crowd_divergence` says at the factor s/L. That is convex in L.
So L may be moved to the ends of the interval of a grid that it lies in, keeping its mean, which only raises the result.
"""

from __future__ import annotations

from collections.abc import Iterator

from crowdblend.trusted.numerics.arithmetic import Arithmetic, Number, sampled_factors
from crowdblend.trusted.numerics.crowd_divergence import Gap, one_fewer, one_more

# Intervals that the values of L are gathered in. More are slower, and lower the result by less than a percent.
STEPS = 64
# Others beyond these are not counted on: they would cost time quadratically.
LARGEST_CROWD = 400
# Numbers of alike points that are rarer than this are taken to be none at all.
NEGLIGIBLE = 1e-45


def shuffled_divergence(calc: Arithmetic, k: int, rate: Number, blend: Number, growth: Number) -> Number:
    """Return the largest divergence at e^ε' = growth that sampling leaves to points hidden in blocks of at least k."""
    ratios = gathered_ratios(calc, k, blend)
    gain, (most, least) = sampled_factors(calc, rate, growth)
    up = rate * mean_gap(calc, one_more, k, rate, [(mass * ratio, most / ratio) for ratio, mass in ratios])
    if calc.surely(gain <= 0):
        return up
    down = mean_gap(calc, one_fewer, k, rate, [(mass, least * ratio) for ratio, mass in ratios])
    return calc.maximum(up, gain * down)


def mean_gap(calc: Arithmetic, gap: Gap, k: int, rate: Number, factors: list[tuple[Number, Number]]) -> Number:
    """Σ weight·gap(factor). Below factor 1 the supremum over n is at most its value at 1 plus what is missing to 1."""
    at_one = gap(calc, k, rate, calc.number(1))
    total = calc.number(0)
    for weight, factor in factors:
        if calc.surely(factor >= 1):
            total += weight * gap(calc, k, rate, factor)
        else:
            total += weight * (at_one + calc.nonnegative(1 - factor))
    return total


def likelihood_ratios(calc: Arithmetic, crowd: int, blend: Number) -> Iterator[tuple[int, int, Number, Number]]:
    """Yield every (u, v) with L and its probability, for a crowd of that many, the person included."""
    alone = calc.number(0)
    for alike in range(crowd, 0, -1):
        chance = calc.pmf(crowd - 1, alike - 1, 1 / blend)
        if alike == 1:
            chance += alone
        elif calc.surely(chance < NEGLIGIBLE):
            alone += chance
            continue
        share = chance * 2 / (alike * (blend + 1) * 2**alike)
        ways = 1
        for u in range(alike + 1):
            v = alike - u
            yield u, v, (blend * u + v) / (u + blend * v), share * ways * (u + blend * v)
            ways = ways * v // (u + 1)


def gathered_ratios(calc: Arithmetic, k: int, blend: Number) -> list[tuple[Number, Number]]:
    """Return the law of L in a crowd of k, moved to a grid of STEPS intervals from 1/b to b."""
    if calc.surely(blend == 1):
        return [(calc.number(1), calc.number(1))]
    low, step = 1 / blend, (blend - 1 / blend) / STEPS
    grid = [low + step * i for i in range(STEPS)] + [blend]
    masses = [calc.number(0)] * (STEPS + 1)
    for u, v, ratio, mass in likelihood_ratios(calc, min(k, LARGEST_CROWD), blend):
        if u == 0 or v == 0:
            masses[STEPS if v == 0 else 0] += mass
            continue
        # The ceiling is right or one too large, so the ratio lies below grid[above]; the lower end is checked.
        above = min(calc.ceil((ratio - low) / step), STEPS)
        below = next(i for i in (above - 1, above - 2, 0) if i == 0 or (i > 0 and calc.surely(ratio >= grid[i])))
        part = mass * (ratio - grid[below]) / (grid[above] - grid[below])
        masses[above] += part
        masses[below] += mass - part
    return list(zip(grid, masses, strict=True))
