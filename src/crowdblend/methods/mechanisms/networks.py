"""A statistic of a network with discrete Laplace noise on a grid (ZKP Theorem 26 on a grid).

It is computed from the whole network. Its simulator estimates it by looking at a few random people of the network with
someone concealed, and adds the same noise. That their outputs are close is the guarantee, and tests try it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from crowdblend.methods.designs import Claims
from crowdblend.methods.networks import exact
from crowdblend.methods.networks.exact import Structure
from crowdblend.methods.planning.networks.request import derive_release, differential
from crowdblend.methods.planning.networks.solve import NetworkPlan
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.randomness import Source, discrete_laplace


@dataclass(frozen=True)
class GridNoise:
    """Noise of a scale on the multiples of a resolution, for values between 0 and a width."""

    scale: float
    resolution: float
    width: float

    def round_to_grid(self, value: Fraction) -> int:
        """Return the nearest step of the grid, halves upwards, in exact arithmetic."""
        return int((value / Fraction(self.resolution) + Fraction(1, 2)) // 1)

    def add_noise(self, steps: list[int], source: Source) -> list[int]:
        """Return each step with noise of its own."""
        loss = Fraction(self.resolution) / Fraction(self.scale)
        noise = discrete_laplace(len(steps), loss, source).tolist()
        return [step + more for step, more in zip(steps, noise, strict=True)]

    def clamp(self, step: int) -> float:
        """Return the published number: moved into the range, which is post-processing."""
        return float(Decimal(repr(self.resolution)) * min(max(step, 0), self._most))

    @cached_property
    def _most(self) -> int:
        return self.round_to_grid(Fraction(self.width))


@dataclass(frozen=True)
class NoisyStatistic(Claims):
    """One planned statistic: parameters here, data in the call."""

    plan: NetworkPlan

    @cached_property
    def noise(self) -> GridNoise:
        """The noise that the certificate speaks of."""
        return GridNoise(self.plan.scale, self.plan.resolution, self.plan.width)

    def claim(self) -> Derivation:
        """Return this noise's guarantee relative to the random people that the estimator sees."""
        estimated = self.plan.derivation.premises[0]
        request, noise = self.plan.request, self.noise
        return derive_release(request, request.bounds, estimated, noise.scale, noise.resolution)

    def claim_replaced(self) -> Derivation:
        """Return this noise's guarantee against an adversary who knows everybody else."""
        request = self.plan.request
        return differential(request, request.bounds, self.noise.scale, self.noise.resolution)

    def exact(self, structure: Structure) -> Fraction:
        """Return the statistic of the whole network."""
        if self.plan.name == "average-degree":
            return exact.average_degree(structure)
        bounds = self.plan.request.bounds
        return exact.relative(_EDITS[self.plan.name](structure), bounds.people, bounds.degree_bound)

    def publish(self, values: list[Fraction], source: Source) -> list[float]:
        """Return the values to publish."""
        return [self.noise.clamp(step) for step in self.noisy(values, source)]

    def noisy(self, values: list[Fraction], source: Source) -> list[int]:
        """Return the values on the grid, with noise, before they are moved into the range."""
        steps = {value: self.noise.round_to_grid(value) for value in set(values)}
        return self.noise.add_noise([steps[value] for value in values], source)


_EDITS: dict[str, Callable[[Structure], int]] = {
    "connectivity": exact.edits_to_connected,
    "cycle-freeness": exact.edits_to_cycle_free,
    "eulerian": exact.edits_to_euler_path,
}
