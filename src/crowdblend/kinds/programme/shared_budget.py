"""Publications that share one budget: all of them are noisy everywhere, and about the same people.

Tables have Laplace or Gaussian noise, whichever makes the smaller error, before any data. Noise of loss ε on one table
adds to the loss of all of them about what normal noise of standard deviation ε would, so that by curves the squares of
losses share μ², the largest with which a normal loss keeps to the budget; by sums the losses share ε. Gaussian noise
shares μ² alone, with √(2/π) of the mean error of Laplace noise at the same share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from crowdblend.kinds.programme.members import (
    Budget,
    cells_of,
    keeps,
    method_among_others,
    refuse_several_rows,
    refuse_shares,
    require_ids,
    sample_of_all,
)
from crowdblend.kinds.programme.programme import PlannedPublication, ProgrammePlan
from crowdblend.methods.designs import Design
from crowdblend.policies.policy import Policy
from crowdblend.trusted.numerics.mechanism_curves import LARGEST_SIGMA, SMALLEST_SIGMA

# How often the range of what each publication may lose is halved.
_HALVINGS = 12
_NORMAL = NormalDist()
_SMALL_STEPS = 60
# Beyond, noise is hardly ever anything but 0, and normal losses say nothing of it.
_LARGEST_EPSILON = 50.0


def by_budget(policy: Policy, budget: Budget) -> ProgrammePlan:
    """Return every publication with a part of epsilon: all are noisy everywhere, and about the same people."""
    sample = sample_of_all(policy, "budget")
    if sample.draws_here:
        require_ids(policy, "publications with different columns would be drawn from different people")
    refuse_shares(policy, "budget")
    refuse_several_rows(policy, shared=True)
    # The mean error of a cell is smallest where parts of epsilon grow as the square root of the number of cells.
    parts = [one.weight * math.sqrt(size) for one, size in zip(policy.publish, cells_of(policy.parts), strict=True)]
    whole = math.fsum(parts)
    # Half of delta is for publications that need one by themselves, half for what all lose beyond epsilon.
    each = min(1.0, budget.delta / (2 * len(parts) * budget.releases * sample.largest_rate))

    def plan_split(epsilon: float) -> ProgrammePlan:
        made = []
        for one, part, own in zip(policy.publish, policy.parts, parts, strict=True):
            noisy = method_among_others(part).plan_noisy(epsilon * own / whole, each)
            made.append(PlannedPublication(str(one.name), noisy))
        return ProgrammePlan(policy, "budget", sample, budget.epsilon, budget.delta, tuple(made), {})

    # Sums keep the smallest of these; by curves a little delta buys more, and sampling amplifies.
    once = sample.largest_loss(budget.epsilon)
    low = (once if sample.people is not None else budget.epsilon * (1 - 1e-12)) / budget.releases
    if budget.delta == 0 or not keeps(plan_split(low)):
        return plan_split(low)
    high = once * 2 * math.sqrt(len(policy.publish))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if keeps(plan_split(middle)):
            low = middle
        else:
            high = middle
    laplace, gaussian = plan_split(low), _with_gaussian_noise(policy, budget, sample)
    if gaussian is None:
        return laplace
    (small, kind, better), (large, other, _) = sorted(
        [(_error(laplace), "Laplace", laplace), (_error(gaussian), "Gaussian", gaussian)], key=lambda one: one[0]
    )
    gain = f"its error is {100 * (1 - small / large):.0f} % smaller than that of {other} noise of the same budget"
    return replace(better, gain=(f"with {kind} noise", gain))


def _error(plan: ProgrammePlan) -> float:
    """Return the error of all cells of tables, added up, as it is expected."""
    total = 0.0
    for one, cells in zip(plan.planned, cells_of(plan.policy.parts), strict=True):
        error = one.plan.cell_error()
        assert error is not None, "what may have Gaussian noise has the same noise on every cell"
        total += cells * error
    return total


def _with_gaussian_noise(policy: Policy, budget: Budget, sample: Design) -> ProgrammePlan | None:
    """Return every table with Gaussian noise, where all can have it and that may be better than Laplace noise."""
    methods = [method_among_others(part) for part in policy.parts]
    if budget.delta == 0 or not (sample.everybody or sample.has_one_rate):
        return None
    cells, weights = cells_of(policy.parts), [one.weight for one in policy.publish]
    ends = {"epsilon": budget.epsilon, "delta": budget.delta, "rate": sample.largest_rate}
    sigmas = gaussian_sigmas(cells, weights, **ends, releases=budget.releases)
    if sigmas is None:
        return None

    def plan_split(factor: float) -> ProgrammePlan | None:
        made = []
        for one, method, sigma in zip(policy.publish, methods, sigmas, strict=True):
            gaussian = method.plan_gaussian(factor * sigma)
            if gaussian is None:
                return None
            made.append(PlannedPublication(str(one.name), gaussian))
        return ProgrammePlan(policy, "budget", sample, budget.epsilon, budget.delta, tuple(made), {})

    # What is proved lies a little above what a normal loss would need.
    factors = (1.003, 1.006, 1.012, 1.025, 1.05, 1.1, 1.2)
    return next((tried for tried in map(plan_split, factors) if tried is not None and keeps(tried)), None)


def gaussian_sigmas(
    cells: Sequence[int], weights: Sequence[float], *, epsilon: float, delta: float, rate: float, releases: int = 1
) -> tuple[float, ...] | None:
    """Return standard deviations of Gaussian noise on tables with this many cells, about as small as the budget allows.

    None where Laplace noise is surely no worse: what is taken for its losses is less than curves allow it. The mean
    error of all cells is smallest where losses of Laplace noise grow as the square root, and one over the standard
    deviations of Gaussian noise as the third root, of the number of cells.

    >>> [gaussian_sigmas([100] * k, [1.0] * k, epsilon=1.0, delta=1e-6, rate=1.0) is None for k in (5, 10, 15, 36)]
    [True, True, False, False]
    """
    if epsilon > _LARGEST_EPSILON:
        return None
    loss = math.log1p(math.expm1(epsilon) / rate) / releases
    most = largest_deviation(loss * releases, min(delta / rate, 0.5)) / math.sqrt(releases)
    thirds = [weight * size ** (1 / 3) for weight, size in zip(weights, cells, strict=True)]
    roots = [weight * math.sqrt(size) for weight, size in zip(weights, cells, strict=True)]
    whole = math.sqrt(math.fsum(part**2 for part in thirds))
    sigmas = tuple(whole / (most * part) for part in thirds)
    laplace = max(loss / math.fsum(roots), most / math.sqrt(math.fsum(part**2 for part in roots)))
    errors = math.fsum(size / (laplace * part) for size, part in zip(cells, roots, strict=True))
    ours = math.fsum(size * math.sqrt(2 / math.pi) * sigma for size, sigma in zip(cells, sigmas, strict=True))
    drawn = all(2 * SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA / 2 for sigma in sigmas)
    return sigmas if drawn and ours < errors else None


def largest_deviation(epsilon: float, delta: float) -> float:
    """Return about the largest μ whose normal loss, of mean μ²/2 and deviation μ, keeps to this ε and δ."""
    low, high = 0.0, 2 * epsilon + 10
    for _ in range(_SMALL_STEPS):
        middle = (low + high) / 2
        near, far = middle / 2 - epsilon / middle, -middle / 2 - epsilon / middle
        beyond = _NORMAL.cdf(near) - math.exp(epsilon) * _NORMAL.cdf(far)
        low, high = (middle, high) if beyond <= delta else (low, middle)
    return low
