"""Discrete Laplace noise of two scales, a step apart, against a sum over every output."""

from functools import cache

import pytest
from flint import arb, ctx
from mpmath import mp, mpf

from crowdblend.numerics import balls
from crowdblend.numerics.laplace import fading_divergence, step_divergence

PAIRS = [(0.5, 0.5), (0.5, 0.6), (0.6, 0.5), (0.9, 0.91), (0.1, 0.8), (0.8, 0.1), (0.01, 0.02)]


@cache
def _masses(ratio: float) -> list[mpf]:
    """Of the outputs at every distance."""
    return [(1 - mpf(ratio)) / (1 + mpf(ratio)) * mpf(ratio) ** distance for distance in range(902)]


def _brute(a: float, b: float, growth: float) -> object:
    up = down = mpf(0)
    with mp.workdps(60):
        for y in range(-900, 900):
            here, there = _masses(a)[abs(y - 1)], _masses(b)[abs(y)]
            up += max(0, here - growth * there)
            down += max(0, there - growth * here)
    return max(up, down)


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize("growth", [1.0, 1.25, 3.0])
def test_step_divergence_is_the_sum_over_outputs(a: float, b: float, growth: float) -> None:
    with ctx.workprec(300):
        found = balls.round_up(balls.nonnegative(step_divergence(balls, arb(a), arb(b), arb(growth))))
    brute = _brute(a, b, growth)
    assert brute * (1 - mpf("1e-40")) <= mpf(found) <= brute * (1 + mpf("1e-12")) + mpf("1e-60")


def test_equal_losses_need_no_delta() -> None:
    with ctx.workprec(300):
        assert balls.round_up(fading_divergence(balls, [arb(0.5)], arb(1))) == 0
        assert float(step_divergence(balls, arb(0.5), arb(0.5), arb(2)).upper()) < 1e-80


def test_fading_takes_the_worst_step() -> None:
    losses = [0.1, 0.15, 0.3]
    with ctx.workprec(300):
        found = float(fading_divergence(balls, [arb(loss) for loss in losses], arb(2)))
        ratios = [(-arb(loss)).exp() for loss in losses]
        steps = [float(step_divergence(balls, ratios[i], ratios[i - 1], (2 * arb(losses[i])).exp())) for i in (1, 2)]
    assert found == pytest.approx(max(steps), rel=1e-15)
    assert steps[0] != steps[1]
