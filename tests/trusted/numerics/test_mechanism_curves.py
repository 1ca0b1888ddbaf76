"""Curves at many factors are the divergences that the rules compute at one, the larger of both directions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom

from crowdblend.trusted.calculus.loss_curves import curve_of, part_terms
from crowdblend.trusted.guarantees.profiles import (
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    NoisyCountCurve,
    OutlierCurve,
    PointCurve,
    SplitCurve,
    Uses,
)
from crowdblend.trusted.guarantees.programme import (
    PartInCrowds,
    PartOfPoints,
    PartOfSample,
    PartWithNoise,
    PrivatePart,
    ProgrammeCurve,
)
from crowdblend.trusted.numerics import balls, mechanism_curves
from crowdblend.trusted.numerics.balls import UndecidedBall, precision
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from crowdblend.trusted.numerics.laplace import fading_divergence, step_divergences
from crowdblend.trusted.numerics.noise_below_k import spliced_divergence
from crowdblend.trusted.numerics.points_in_crowds import shuffled_divergence
from crowdblend.trusted.numerics.programme import SampledGaps, programme_divergence
from crowdblend.trusted.numerics.tail_suprema import robust_divergence
from tests.cases import for_each

EPSILONS = (0.02, 0.1, 0.3, 0.8, 1.5)
At = Callable[[arb], arb]


def noisy(k: int, loss: float, rate: float, flag: bool) -> tuple[LossCurve, At]:
    def at(growth: arb) -> arb:
        return spliced_divergence(balls, k, arb(rate), (-arb(loss)).exp(), growth, flagged=flag)

    return NoisyCountCurve(k, loss, rate, flag), at


def crowds(k: int, blend: float, rate: float) -> tuple[LossCurve, At]:
    def at(growth: arb) -> arb:
        return crowd_divergence(balls, k, arb(rate), arb(blend).exp(), growth)

    return CrowdCurve(k, blend, rate), at


def programme(rate: float, *parts: PartOfSample) -> tuple[LossCurve, At]:
    def at(growth: arb) -> arb:
        return programme_divergence(balls, part_terms(parts), arb(rate), growth)

    return ProgrammeCurve(rate, parts), at


def points(k: int, loss: float, rate: float) -> tuple[LossCurve, At]:
    return PointCurve(k, loss, rate), lambda growth: shuffled_divergence(balls, k, arb(rate), arb(loss).exp(), growth)


def biased(k: int, low: float, high: float, exceptions: int, most: float) -> tuple[LossCurve, At]:
    rates = (arb(low), arb(high), arb(most))
    return (
        BiasedCurve(k, 0.0, low, high, exceptions, most),
        lambda growth: robust_divergence(balls, k - exceptions - 1, rates, arb(1), growth).min(arb(most)),
    )


CASES = [
    crowds(8, 0.0, 0.1),
    crowds(30, 0.0, 0.5),
    crowds(4, 0.0, 0.001),
    crowds(1, 0.0, 0.3),
    crowds(12, 0.05, 0.2),
    noisy(3, 1.0, 0.3, False),
    noisy(3, 1.0, 0.3, True),
    noisy(6, 2.0, 0.1, False),
    programme(0.4, PartInCrowds(0.5, 6, 0.0), PartInCrowds(0.25, 9, 0.0)),
    programme(0.7, *(PartInCrowds(share, 7, 0.0) for share in (0.25, 0.25, 0.5))),
    programme(0.4, PartWithNoise(0.5, 4, 1.0, False), PartInCrowds(0.25, 5, 0.4)),
    programme(0.3, PartWithNoise(0.25, 4, 1.0, True), PartOfPoints(0.5, 8, 0.5), PartInCrowds(0.25, 9, 0.0)),
    programme(0.3, PrivatePart(0.25, (Uses(ClosenessCurve(1.0, 1e-4), 1),)), PartOfPoints(0.5, 8, 0.5)),
    programme(0.3, PrivatePart(0.25, (Uses(ClosenessCurve(1.0, 1e-4), 3),)), PartWithNoise(0.5, 3, 1.0, False)),
    points(8, 0.5, 0.2),
    biased(12, 0.1, 0.12, 2, 0.3),
]


@for_each("case", CASES, daily=8)
def test_a_curve_is_the_divergence_of_its_rule(case: tuple[LossCurve, At]) -> None:
    made, at = case
    with precision(128):
        growths = [arb(epsilon).exp() for epsilon in EPSILONS]
        up, down = curve_of(made).bounds(growths)
        for place, growth in enumerate(growths):
            known = [float(bound[place]) for bound in (up, down) if bound[place] is not None]
            exact = float(at(growth))
            assert exact * (1 - 1e-9) - 1e-26 <= max(known) <= exact * (1 + 1e-9) + 1e-24


def test_the_curve_of_an_outlier_table_is_the_divergence_of_its_rule_beyond_epsilon() -> None:
    with precision(128):
        losses = [arb(0.2) * 5 / (15 - j) for j in range(10)] + [arb(0.2)]
        up, down = curve_of(OutlierCurve(0.2, 5, 15)).bounds([arb(0.3).exp(), arb(0.5).exp()])
        # The rule's factor is relative to the loss of each size; at the largest sizes both are the same.
        for place, epsilon in enumerate((0.3, 0.5)):
            known = max(float(bound[place]) for bound in (up, down) if bound[place] is not None)
            assert known <= float(fading_divergence(balls, losses, arb(epsilon) / 0.2)) * (1 + 1e-9)
            assert known > 0


def test_what_stays_undecided_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that moved to another factor would be a false one."""
    bins, growths = mechanism_curves.OutlierBins(0.5, 3, 8), [arb(growth) for growth in (1, 1.1, 1.2)]
    plain = [[str(bound) for bound in bounds] for bounds in bins.bounds(growths)]

    def undecided(*given: Any) -> Any:
        if given[-1] is growths[1]:
            raise UndecidedBall
        return step_divergences(*given)

    monkeypatch.setattr(mechanism_curves, "step_divergences", undecided)
    for bounds, expected in zip(bins.bounds(growths), plain, strict=True):
        assert [str(bound) for bound in bounds] == [expected[0], "None", expected[2]]


def test_no_bound_is_above_what_sampling_alone_gives() -> None:
    class Coarse:
        density, reach, distance, kinks = 16, 2.0, 1.0, ()

        def gaps(self, mores: Sequence[arb], fewers: Sequence[arb], _enough: float = 0.0) -> Any:
            return [arb(3)] * len(mores), [arb(3)] * len(fewers)

    ups, downs = SampledGaps(arb(0.5), Coarse()).bounds([arb(1), arb(1.5)])
    assert ([*map(float, ups)], [*map(float, downs)]) == ([0.5, 0.5], [0.5, 0.25])


@for_each("bins", [(0.05, 3, 12), (0.7, 6, 60), (1.5, 2, 9), (2.5, 20, 21), (1.0, 1, 40), (0.05, 100, 300)])
def test_no_size_of_a_bin_that_is_left_out_would_be_worse(bins: tuple[float, int, int]) -> None:
    epsilon, transition, limit = bins
    with precision(128):
        curve = mechanism_curves.OutlierBins(epsilon, transition, limit)
        ratios = [
            (-arb(epsilon) * transition / max(limit - size, transition)).exp() for size in range(limit - transition + 1)
        ]
        large = 1 / ratios[-1]
        for loss in (0.0, 0.5, 0.7, 0.95, 1.001, 1.2, 2.0):
            growth = (arb(epsilon) * loss).exp()
            found = curve.bounds([growth])
            steps = [step_divergences(balls, *pair, growth) for pair in zip(ratios[1:], ratios, strict=False)]
            for way in (0, 1):
                worst = max(
                    (large - growth).nonnegative_part() / (large + 1), *(step[way] for step in steps), key=float
                )
                assert found[way][0].overlaps(worst)  # type: ignore[union-attr]


def suppressed(k: int, rate: float, factor: float, swapped: bool) -> float:
    """The divergence of a count shown from k on, with the person and without, at the worst number of people."""
    worst = 0.0
    for n in range(1, 60):
        counts = np.arange(n + 1)
        pair = [binom.pmf(counts, n, rate), binom.pmf(counts, n - 1, rate)]
        (p, q) = (np.array([own[:k].sum(), *own[k:]]) for own in (pair[::-1] if swapped else pair))
        worst = max(worst, float(np.maximum(p - factor * q, 0).sum()))
    return worst


@for_each(
    ("loss", "k", "rate", "share"), [(0.5, 2, 0.5, 0.2), (1.5, 3, 0.6, 0.25), (0.1, 4, 0.3, 0.5), (2.0, 2, 0.9, 0.1)]
)
def test_a_recoding_that_a_part_chooses_has_the_smaller_of_two_bounds_both_ways(
    loss: float, k: int, rate: float, share: float
) -> None:
    """With c for being in the choosing part, A for that case and B for the other, P = cA + (1 − c)B, and A ≤ e^ε₁·Q.

    A factor α is either shared, which bounds by c and 1 − c times the bounds of the two cases. Or the whole loss of the
    choice is taken: P − αQ ≤ (1 − c)(B − (α − c·e^ε₁)/(1 − c)·Q), and Q − αP ≤ w·(Q − α(1 − c)/w·B) with
    w = 1 − αc·e^−ε₁, since A ≥ e^−ε₁·Q.
    """
    curve, most = curve_of(SplitCurve(loss, k, rate, share)), math.exp(loss)
    chosen = rate * share
    left, released = 1 - chosen, rate * (1 - share) / (1 - chosen)
    factors = [1.0, 1.01, 1.05, 1.1, 1.2, 1.35, 1.5, 1.8, 2.5]
    ups, downs = curve.bounds([arb(factor) for factor in factors])
    smaller = 0
    for factor, up, down in zip(factors, ups, downs, strict=False):
        choice = max(0.0, (most - factor) / (most + 1))
        rest, weight = (factor - chosen * most) / left, 1 - factor * chosen / most
        first = [chosen * choice + left * suppressed(k, released, factor, swapped) for swapped in (False, True)]
        others = [
            left * suppressed(k, released, rest, False) if rest >= 1 else 1.0,
            weight * suppressed(k, released, factor * left / weight, True)
            if weight > 0 and factor * left / weight >= 1
            else 1.0,
        ]
        expected = [min(pair) for pair in zip(first, others, strict=True)]
        smaller += sum(other < one for one, other in zip(first, others, strict=True))
        found = [0.0 if bound is None else float(bound) for bound in (up, down)]
        assert found == pytest.approx(expected, abs=1e-11)
    assert smaller
