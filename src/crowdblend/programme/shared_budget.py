"""Publications that share one budget: all of them are noisy everywhere, and about the same people."""

from __future__ import annotations

import math
from dataclasses import replace

from crowdblend.designs import Design
from crowdblend.mechanisms.everywhere import NoiseEverywhere
from crowdblend.mechanisms.gaussian import GaussianEverywhere
from crowdblend.policies.policy import Policy
from crowdblend.policies.refusals import refusal
from crowdblend.programme.members import Budget, cells_of, keeps, module_for, refuse_shares
from crowdblend.programme.noise_choice import gaussian_sigmas
from crowdblend.programme.programme import PlannedPublication, ProgrammePlan
from crowdblend.programme.sample import require_ids, sample_of_all

# How often the range of what each publication may lose is halved.
_HALVINGS = 12


def by_budget(policy: Policy, budget: Budget) -> ProgrammePlan:
    """Return every publication with a part of epsilon: all are noisy everywhere, and about the same people."""
    sample = sample_of_all(policy, "budget")
    if sample.draws_here:
        require_ids(policy, "publications with different columns would be drawn from different people")
    refuse_shares(policy, "budget")
    # The mean error of a cell is smallest where parts of epsilon grow as the square root of the number of cells.
    parts = [one.weight * math.sqrt(size) for one, size in zip(policy.publish, cells_of(policy.parts), strict=True)]
    whole = math.fsum(parts)
    # Half of delta is for publications that need one by themselves, half for what all lose beyond epsilon.
    each = min(1.0, budget.delta / (2 * len(parts) * budget.releases * sample.largest_rate))

    def plan_split(epsilon: float) -> ProgrammePlan:
        made = []
        for one, part, own in zip(policy.publish, policy.parts, parts, strict=True):
            module = module_for(part)
            if not hasattr(module, "plan_noisy"):
                message = f'kind = "{part.kind}" is not certified with a part of the budget.'
                remedy = 'Write split = "people" or "fresh", or of a register publish it in a policy of its own.'
                raise refusal("split", message, remedy, "[privacy] split")
            made.append(PlannedPublication(str(one.name), module.plan_noisy(part, epsilon * own / whole, each)))
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
    return _with_less_error(plan_split(low), _with_gaussian_noise(policy, budget, sample))


def _with_less_error(laplace: ProgrammePlan, gaussian: ProgrammePlan | None) -> ProgrammePlan:
    """Return the plan with the smaller mean error of all cells, which says by how much."""
    if gaussian is None:
        return laplace
    small, large = _error(gaussian), _error(laplace)
    if small < large:
        gain = f"its error is {100 * (1 - small / large):.0f} % smaller than that of Laplace noise of the same budget"
        return replace(gaussian, gain=("with Gaussian noise", gain))
    gain = f"its error is {100 * (1 - large / small):.0f} % smaller than that of Gaussian noise of the same budget"
    return replace(laplace, gain=("with Laplace noise", gain))


def _error(plan: ProgrammePlan) -> float:
    """Return the error of all cells of tables, added up, as it is expected."""
    total = 0.0
    for one, cells in zip(plan.planned, cells_of(plan.policy.parts), strict=True):
        (noise,) = one.plan.mechanisms
        assert isinstance(noise, NoiseEverywhere | GaussianEverywhere), "only tables may have Gaussian noise"
        total += cells * noise.expected_error()
    return total


def _with_gaussian_noise(policy: Policy, budget: Budget, sample: Design) -> ProgrammePlan | None:
    """Return every table with Gaussian noise, where all can have it and that may be better than Laplace noise."""
    modules = [module_for(part) for part in policy.parts]
    fits = all(
        hasattr(one, "takes_gaussian") and one.takes_gaussian(part)
        for one, part in zip(modules, policy.parts, strict=True)
    )
    if budget.delta == 0 or not fits or not (sample.everybody or sample.has_one_rate):
        return None
    cells, weights = cells_of(policy.parts), [one.weight for one in policy.publish]
    ends = {"epsilon": budget.epsilon, "delta": budget.delta, "rate": sample.largest_rate}
    sigmas = gaussian_sigmas(cells, weights, **ends, releases=budget.releases)
    if sigmas is None:
        return None

    def plan_split(factor: float) -> ProgrammePlan:
        made = [
            PlannedPublication(str(one.name), module.plan_noisy(part, factor / sigma, 0.0, factor * sigma))
            for one, module, part, sigma in zip(policy.publish, modules, policy.parts, sigmas, strict=True)
        ]
        return ProgrammePlan(policy, "budget", sample, budget.epsilon, budget.delta, tuple(made), {})

    # What is proved lies a little above what a normal loss would need.
    factors = (1.003, 1.006, 1.012, 1.025, 1.05, 1.1, 1.2)
    return next((tried for tried in map(plan_split, factors) if keeps(tried)), None)
