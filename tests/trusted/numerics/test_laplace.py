"""Discrete Laplace noise of two scales, a step apart, against a sum over every output."""

import pytest
from flint import arb, ctx

from crowdblend.trusted.numerics import balls
from crowdblend.trusted.numerics.laplace import fading_divergence, step_divergence


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
