"""The curve of replaced data lies above every pair of distributions that removing and adding may lead through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from crowdblend.trusted.numerics.combined_curves import ReplacedData
from crowdblend.trusted.numerics.profile_curves import Bounds


def divergence(left: np.ndarray, right: np.ndarray, growth: float) -> float:
    return float(np.maximum(left - growth * right, 0).sum())


@dataclass(frozen=True)
class OfThree:
    """The curve of a mechanism that says p with one person's data, r with others, and q without the person."""

    p: np.ndarray
    q: np.ndarray
    r: np.ndarray
    density: float = 1.0
    reach: float = 5.0
    distance: float = 1.0
    kinks: tuple[float, ...] = ()

    def bounds(self, growths: Sequence[arb], _enough: float = 0.0) -> tuple[Bounds, Bounds]:
        """The larger of both pairs, each way."""
        ups = [max(divergence(some, self.q, float(growth)) for some in (self.p, self.r)) for growth in growths]
        downs = [max(divergence(self.q, some, float(growth)) for some in (self.p, self.r)) for growth in growths]
        return [arb(bound) for bound in ups], [arb(bound) for bound in downs]


def test_the_curve_lies_above_what_replacing_does_and_is_met() -> None:
    """The factor α₁ is needed: without it the bound is below the truth in some of these worlds."""
    rng = np.random.default_rng(3)
    growths = [arb(1.25) ** place for place in range(16)]
    without_factor = 0
    for _ in range(600):
        p, q, r = (rng.dirichlet([0.4] * 4) for _ in range(3))
        curve = OfThree(p, q, r)
        bounds, same = ReplacedData(curve).bounds(growths)
        assert bounds is same
        up, down = curve.bounds(growths)
        for place, growth in enumerate(growths):
            truth = max(divergence(p, r, float(growth)), divergence(r, p, float(growth)))
            bound = bounds[place]
            assert bound is not None
            assert truth <= float(bound.upper()) + 1e-12
            pairs = [(first, place - first) for first in range(place + 1)]
            sums = [float(up[one] or 0) + float(growths[one]) * float(down[other] or 0) for one, other in pairs]
            assert abs(float(bound) - min(sums)) < 1e-9
            fewer = min(float(up[one] or 0) + float(down[other] or 0) for one, other in pairs)
            without_factor += fewer < truth - 1e-9
    assert without_factor > 0
