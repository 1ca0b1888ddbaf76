"""Plans for points: the least noise on them that a guarantee leaves room for."""

from __future__ import annotations

from dataclasses import replace

from crowdblend.errors import Infeasible
from crowdblend.numerics.search import largest_double
from crowdblend.planning.plan import SolvedPlan, answer
from crowdblend.planning.request import PlanRequest

# Less noise than this moves a point by a hundredth of its block: then the block may as well be smaller.
LARGEST_NOISE_EPSILON = 400.0
SMALLEST_NOISE_EPSILON = 1e-3


def weakest_noise(request: PlanRequest, delta: float) -> SolvedPlan:
    """The plan with the largest noise_epsilon that keeps to delta; the request asks for delta, all else is given.

    >>> request = PlanRequest(rate=0.1, k=20, epsilon=1.0, form="moved", noise_epsilon=1.0)
    >>> round(weakest_noise(request, 1e-6).noise_epsilon, 3)
    1.942
    """

    def keeps(noise_epsilon: float) -> bool:
        try:
            return answer(replace(request, noise_epsilon=noise_epsilon)).delta <= delta
        except Infeasible:
            return False

    if not keeps(SMALLEST_NOISE_EPSILON):
        message = (
            f"delta = {delta:g} cannot be reached with these k, rate and epsilon, whatever the noise on the points."
        )
        remedy = "Raise k, epsilon or delta, or lower the rate."
        raise Infeasible(message, remedy=remedy, where="delta", code="plan.no-noise")
    top = 2 * SMALLEST_NOISE_EPSILON
    while top < LARGEST_NOISE_EPSILON and keeps(top):
        top *= 2
    best = largest_double(keeps, top / 2, top, 1e-4)
    return answer(replace(request, noise_epsilon=best))
