"""Find the least noise that keeps a guarantee, the fewest people that keep an error, or the guarantee of both.

The noise is planned from the policy alone: what the network looks like plays no part in it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from crowdblend.calculus import Derivation
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.guarantees.aggregates import Neighbourhood
from crowdblend.planning.networks.derive import (
    SimulatorView,
    derive_release,
    differential,
    estimator,
    sensitivity,
)
from crowdblend.planning.networks.request import NetworkRequest

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
        epsilon: float = self.derivation.conclusion.epsilon
        return epsilon

    def differential(self) -> Derivation:
        """Return the guarantee against an adversary who knows everybody else."""
        return differential(self.request, self.request.bounds, self.scale, self.resolution)

    @property
    def samples(self) -> int:
        """The number of random people that the guarantee is relative to."""
        return self.seen.samples

    @property
    def light_ends(self) -> bool:
        """True if the average degree is counted at the ends with fewer links."""
        aggregate = self.derivation.conclusion.aggregate
        return isinstance(aggregate, Neighbourhood) and aggregate.radius == 2

    @property
    def width(self) -> float:
        """The length of the range of the statistic; a share of people lies between 0 and 1."""
        width: float = self.derivation.premises[0].conclusion.width
        return 1.0 if self.name == "histogram" else width

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
    for plan in plans:
        if plan.error >= plan.width / 2:
            message = (
                f"{plan.name} would have an error of {plan.error:.3g}, at least half its range of {plan.width:.3g}."
            )
            remedy = f"Raise epsilon or samples{_enough(needed, people)}."
            raise Infeasible(message, remedy=remedy, where=plan.name, code="plan.useless-statistic")
    drawn = sum(plan.samples for plan in plans)
    if drawn >= people:
        message = f"The statistics look at {drawn} random people, which is not fewer than all {people}."
        remedy = f"Use fewer samples, a larger error or fewer statistics{_enough(needed, people)}."
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
    return _first(meaningful, least, 10**15)


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


def _enough(need: int | None, people: int) -> str:
    return f", or publish about at least {need} people" if need is not None and need > people else ""


def _noise_for(request: NetworkRequest, samples: int, epsilon: float) -> NetworkPlan:
    """Return the least noise that keeps a guarantee relative to this many people."""
    seen = SimulatorView(samples, _people_to_explore(request, samples))
    estimated = estimator(request, request.bounds, seen)
    moved = min(sensitivity(request, request.bounds) + estimated.conclusion.reach, estimated.conclusion.width)
    resolution = _resolution(request, moved)
    rounding = resolution * (request.classes or 1)
    scale = max(estimated.conclusion.least_scale, (moved + rounding) / epsilon)
    return _keeping(request, estimated, seen, scale, resolution, epsilon)


def _keeping(
    request: NetworkRequest, estimate: Derivation, view: SimulatorView, scale: float, resolution: float, epsilon: float
) -> NetworkPlan:
    """A scale found in doubles may be a last digit too small; what is guaranteed is computed by the rule."""
    if resolution < scale * FINEST:
        raise InvalidInput(
            f"resolution of {request.name} is {resolution:g}; noise of this size needs at least {scale * FINEST:.2g}.",
            remedy="Leave it out.",
            where=f"{request.name}: resolution",
            code="plan.resolution",
        )
    while True:
        derivation = derive_release(request, request.bounds, estimate, scale, resolution)
        if derivation.conclusion.epsilon <= epsilon:
            return NetworkPlan(request, derivation, view, scale, resolution)
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
    samples = _first(lambda t: _noise_for(request, t, epsilon).error <= error, 1, request.bounds.people)
    if samples is None:
        raise _out_of_reach(request)
    return _noise_for(request, samples, epsilon)


def _out_of_reach(request: NetworkRequest) -> Infeasible:
    message = f"{request.name} cannot keep to an error of {request.error:g} with {request.bounds.people} people."
    remedy = "Allow a larger error, or raise epsilon."
    return Infeasible(message, remedy=remedy, where=f"{request.name}: error", code="plan.error-out-of-reach")


def _people_to_explore(request: NetworkRequest, samples: int) -> int:
    """Return the people to explore so that exploring misses no more than sampling does."""
    if not request.explores:
        return 1
    factor = 2 if request.name == "eulerian" else 1
    return request.explored or min(request.bounds.people, math.ceil(factor * math.sqrt(2 * samples / math.log(2))))


def _resolution(request: NetworkRequest, distance: float) -> float:
    """Return a power of ten, fine enough not to matter."""
    step = distance / FINENESS
    if request.resolution is None and step < sys.float_info.min:
        message = "The range of a statistic is too small for a grid of doubles."
        raise Infeasible(message, remedy="Use another unit.", where="[[publish.statistics]] to", code="plan.range")
    return request.resolution or float(f"1e{math.floor(math.log10(step))}")


def _first(holds: Callable[[int], bool], low: int, most: int) -> int | None:
    """Return the first number from `low` on for which a claim holds that then stays true; None if there is none."""
    high = low
    while not holds(min(high, most)):
        if high >= most:
            return None
        low, high = high + 1, high * 2
    high = min(high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
