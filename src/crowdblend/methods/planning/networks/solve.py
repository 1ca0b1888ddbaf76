"""Find the least noise that keeps a guarantee, the fewest people that keep an error, or the guarantee of both.

The noise is planned from the policy alone: what the network looks like plays no part in it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.planning.networks.request import (
    SHARES,
    NetworkRequest,
    SimulatorView,
    derive_release,
    estimator,
    sensitivity,
)
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.numerics.search import first_true

# The error that is stated holds with this probability.
CONFIDENCE = 0.95
# Steps of the grid in what the noise has to hide; rounding then costs a thousandth.
FINENESS = 1000
LEAST_EPSILON = 1e-6
# The exact sampler of the noise goes down to 2^-40 of its scale.
FINEST = 1e-11


@dataclass(frozen=True)
class NetworkPlan:
    """A statistic with nothing left open."""

    request: NetworkRequest
    derivation: Derivation
    seen: SimulatorView
    scale: float
    resolution: float

    @property
    def name(self) -> str:
        """The statistic."""
        return self.request.name

    @property
    def epsilon(self) -> float:
        """The epsilon of the guarantee."""
        return float(self.derivation.conclusion.epsilon)

    @property
    def samples(self) -> int:
        """The number of random people that the guarantee is relative to."""
        return self.seen.samples

    @property
    def width(self) -> float:
        """The length of the range of the statistic; a share of people lies between 0 and 1."""
        return 1.0 if self.name in SHARES else float(self.derivation.premises[0].conclusion.width)

    @property
    def error(self) -> float:
        """The largest error of the published number, with probability CONFIDENCE, rounding included."""
        return error_of(self.scale, self.resolution)


def error_of(scale: float, resolution: float) -> float:
    """P[|Y| > j] = 2a^{j+1}/(1+a) for discrete Laplace noise of j steps; half a step for rounding."""
    ratio = resolution / scale
    beyond = math.log(2 / ((1 - CONFIDENCE) * (1 + math.exp(-ratio)))) / ratio
    return float((max(0, math.ceil(beyond) - 1) + Decimal("0.5")) * Decimal(repr(resolution)))


def plan_network(request: NetworkRequest) -> NetworkPlan:
    """Return the statistic with its noise, its guarantee and its error."""
    if request.samples is not None and request.epsilon is not None:
        return _noise_for(request, request.samples, request.epsilon)
    if request.samples is not None:
        return _epsilon_for(request, request.samples)
    return _samples_for(request)


def refuse_useless(plans: Sequence[NetworkPlan]) -> None:
    """Refuse, before anything is spent, what would show nothing or guarantee nothing beyond differential privacy."""
    people, needed = plans[0].request.bounds.people, least_people(plans)
    more = f", or publish about at least {needed} people" if needed is not None and needed > people else ""
    for plan in plans:
        if plan.error >= plan.width / 2:
            message = (
                f"{plan.name} would have an error of {plan.error:.3g}, at least half its range of {plan.width:.3g}."
            )
            remedy = f"Raise epsilon or samples{more}."
            raise Infeasible(message, remedy=remedy, where=plan.name, code="plan.useless-statistic")
    drawn = sum(plan.samples for plan in plans)
    if drawn >= people:
        message = f"The statistics look at {drawn} random people, which is not fewer than all {people}."
        remedy = f"Use fewer samples, a larger error or fewer statistics{more}."
        raise Infeasible(message, remedy=remedy, where="samples", code="plan.too-many-samples")


def least_people(plans: Sequence[NetworkPlan]) -> int | None:
    """The smallest population for which these statistics, asked for in the same way, mean something; None for none."""

    def meaningful(people: int) -> bool:
        again = [replace(plan.request, bounds=replace(plan.request.bounds, people=people)) for plan in plans]
        try:
            made = [plan_network(request) for request in again]
        except (Infeasible, InvalidInput):
            return False
        return sum(plan.samples for plan in made) < people and all(plan.error < plan.width / 2 for plan in made)

    least = max(2, sum(plan.request.samples or 1 for plan in plans))
    try:
        return first_true(meaningful, least, least, 10**15)
    except LookupError:
        return None


def trades(plan: NetworkPlan) -> dict[str, float]:
    """Return the error with more people in the guarantee, or with a weaker guarantee."""
    request = replace(plan.request, epsilon=plan.epsilon, samples=plan.samples, error=None, resolution=None)
    more = replace(request, samples=4 * plan.samples)
    varied = {"4 times the samples": more, "twice the epsilon": replace(request, epsilon=2 * plan.epsilon)}
    found = {}
    for name, asked in varied.items():
        with suppress(Infeasible, InvalidInput):
            found[name] = plan_network(asked).error
    return found


def _noise_for(request: NetworkRequest, samples: int, epsilon: float) -> NetworkPlan:
    """Return the least noise that keeps a guarantee relative to this many people."""
    explored = 1
    if request.explores:
        # Exploring this many misses no more than sampling does.
        factor = 2 if request.name == "eulerian" else 1
        enough = math.ceil(factor * math.sqrt(2 * samples / math.log(2)))
        explored = min(request.bounds.people, enough)
    seen = SimulatorView(samples, explored)
    estimated = estimator(request, request.bounds, seen)
    moved = min(sensitivity(request, request.bounds) + estimated.conclusion.reach, estimated.conclusion.width)
    resolution = _resolution(request, moved)
    rounding = resolution * (request.classes or 1)
    scale = max(estimated.conclusion.least_scale, (moved + rounding) / epsilon)
    if resolution < scale * FINEST:
        raise InvalidInput(
            f"resolution of {request.name} is {resolution:g}; noise of this size needs at least {scale * FINEST:.2g}.",
            remedy="Leave it out.",
            where=f"{request.name}: resolution",
            code="plan.resolution",
        )
    # A scale found in doubles may be a last digit too small; what is guaranteed is computed by the rule.
    while True:
        derivation = derive_release(request, request.bounds, estimated, scale, resolution)
        if derivation.conclusion.epsilon <= epsilon:
            return NetworkPlan(request, derivation, seen, scale, resolution)
        scale *= 1 + 1e-12


def _epsilon_for(request: NetworkRequest, samples: int) -> NetworkPlan:
    """Return the smallest epsilon with which noise on this many samples keeps to the error."""
    assert request.error is not None
    low, high = LEAST_EPSILON, 1.0
    while _noise_for(request, samples, high).error > request.error:
        high *= 2
        if high > 1e5:
            raise _out_of_reach(request)
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _noise_for(request, samples, middle).error <= request.error else (middle, high)
    return _noise_for(request, samples, high)


def _samples_for(request: NetworkRequest) -> NetworkPlan:
    """Return the fewest random people relative to which the guarantee keeps to the error."""
    epsilon, error = request.epsilon, request.error
    assert epsilon is not None
    assert error is not None
    try:
        samples = first_true(lambda t: _noise_for(request, t, epsilon).error <= error, 1, 1, request.bounds.people)
    except LookupError:
        raise _out_of_reach(request) from None
    return _noise_for(request, samples, epsilon)


def _out_of_reach(request: NetworkRequest) -> Infeasible:
    message = f"{request.name} cannot keep to an error of {request.error:g} with {request.bounds.people} people."
    remedy = "Allow a larger error, or raise epsilon."
    return Infeasible(message, remedy=remedy, where=f"{request.name}: error", code="plan.error-out-of-reach")


def _resolution(request: NetworkRequest, distance: float) -> float:
    """Return a power of ten, fine enough not to matter."""
    step = distance / FINENESS
    if request.resolution is None and step < sys.float_info.min:
        message = "The range of a statistic is too small for a grid of doubles."
        raise Infeasible(message, remedy="Use another unit.", where="`publish.statistics.to`", code="plan.range")
    return request.resolution or float(f"1e{math.floor(math.log10(step))}")
