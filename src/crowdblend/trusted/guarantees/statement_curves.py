"""Divergence curves that follow from what another tool says it spent: a ρ, or its δ at a few ε."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.parameters import check
from crowdblend.trusted.guarantees.profiles import LossCurve

MOST_POINTS = 1000


@dataclass(frozen=True)
class ConcentratedCurve(LossCurve):
    """A release whose Rényi divergence of every order a > 1 is at most rho·a, both ways: zero-concentrated privacy."""

    rho: float


@dataclass(frozen=True)
class PointsCurve(LossCurve):
    """A release that is (ε, δ)-differentially private at each of these points, with rising ε and falling δ."""

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.points, tuple) or not 1 <= len(self.points) <= MOST_POINTS:
            raise _refusal(f"A curve has 1 to {MOST_POINTS:,} points.")
        for point in self.points:
            if not isinstance(point, tuple) or len(point) != 2:
                raise _refusal("A point of a curve is a pair of an epsilon and its delta.")
            check("epsilon", point[0])
            check("delta", point[1])
        for (epsilon, delta), (next_epsilon, next_delta) in pairwise(self.points):
            if not (epsilon < next_epsilon and delta >= next_delta):
                raise _refusal("Along a curve every epsilon is larger than the one before, and no delta is.")


def _refusal(message: str) -> InvalidInput:
    remedy = "Pass pairs such as (0.5, 1e-3), (1.0, 1e-6)."
    return InvalidInput(message, remedy=remedy, where="curve", code="ledger.curve")
