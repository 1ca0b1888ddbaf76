"""Discrete Gaussian noise: one table and two, on everybody and on a sample, by direct summation of the definition.

Beyond twelve standard deviations lies less than 1e-30 of the mass, and doubles round off less than 1e-12 of a sum.
"""

from itertools import combinations_with_replacement, product

import numpy as np
from flint import arb, ctx

from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.loss_curves import curve_of, together
from crowdblend.trusted.guarantees.profiles import GaussianCurve, LossCurve, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve
from crowdblend.trusted.numerics.balls import round_up
from tests.cases import for_each

SIGMAS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.3, 2.7, 3.1, 3.7, 4.4)
RATES = (None, 0.02, 0.1, 0.3, 0.5, 0.9)
ALONE = tuple(product(SIGMAS, RATES))
PAIRS = tuple(combinations_with_replacement(SIGMAS, 2))
LOSSES = (0.0, 0.1, 0.4, 1.0, 2.0)
ROUNDING = 1 - 1e-11


def noisy(count: int, sigma: float) -> np.ndarray:
    far = 12 * int(np.ceil(sigma)) + 2
    y = np.arange(-far, far + 2)
    masses = np.exp(-((y - count) ** 2) / (2 * sigma**2))
    return masses / np.exp(-(y**2) / (2 * sigma**2)).sum()


def gaps(one: np.ndarray, other: np.ndarray, rate: float | None, loss: float) -> tuple[float, float]:
    """Both divergences at e^loss; on a sample the person is there with probability `rate`."""
    one = one if rate is None else rate * one + (1 - rate) * other
    growth = np.exp(loss)
    return float(np.maximum(one - growth * other, 0).sum()), float(np.maximum(other - growth * one, 0).sum())


def claims(curve: LossCurve, losses: tuple[float, ...]) -> list[tuple[float, float]]:
    with ctx.workprec(128):
        up, down = curve_of(curve).bounds([arb(loss).exp() for loss in losses])
        return [tuple(1.0 if one is None else round_up(one) for one in both) for both in zip(up, down, strict=True)]


def check(one: np.ndarray, other: np.ndarray, rate: float | None, claimed: list[tuple[float, float]]) -> None:
    for loss, (up, down) in zip(LOSSES, claimed, strict=True):
        more, fewer = gaps(one, other, rate, loss)
        assert more * ROUNDING <= up + 1e-15
        assert fewer * ROUNDING <= down + 1e-15


@for_each(("sigma", "rate"), ALONE)
def test_one_table(sigma: float, rate: float | None) -> None:
    curve: LossCurve = GaussianCurve(sigma)
    one, other = noisy(1, sigma), noisy(0, sigma)
    if rate is None:
        for loss in LOSSES:
            claimed = RULES["histogram.gaussian"].conclude(sigma=sigma, epsilon=loss).delta
            # What is claimed is the divergence itself.
            assert abs(gaps(one, other, None, loss)[0] - claimed) <= 1e-9 * claimed + 1e-15
    else:
        curve = OneSampleCurve(rate, (Uses(curve, 1),))
    check(one, other, rate, claims(curve, LOSSES))


@for_each(("first", "second"), PAIRS, daily=2)
def test_two_tables_on_everybody_and_on_a_sample(first: float, second: float) -> None:
    """All pairs of noises, each on everybody and on samples at five rates."""
    uses = tuple(Uses(GaussianCurve(sigma), 1) for sigma in {first, second})
    uses = (Uses(GaussianCurve(first), 2),) if first == second else uses
    one, other = (np.outer(noisy(at, first), noisy(at, second)).ravel() for at in (1, 0))
    pair = together(uses, 1e-2, 1e-16)
    composed = [(float(pair.up.delta(loss).upper()), float(pair.down.delta(loss).upper())) for loss in LOSSES]
    check(one, other, None, composed)
    for rate in RATES[1:]:
        check(one, other, rate, claims(OneSampleCurve(rate, uses), LOSSES))
