"""Points: blocks of at least k, exact in number, every point moved by noise (CBP 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crowdblend.calculus import Derivation
from crowdblend.engines.engine import Engine, Progress
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading, unpublished_design
from crowdblend.kinds.delta_limit import check_delta, with_stated_delta
from crowdblend.kinds.kind import Outcome, Publication, software
from crowdblend.kinds.outputs import PointsOutput
from crowdblend.mechanisms.points import NoisyPoints, PublishedPoints, all_within
from crowdblend.planning import Plan
from crowdblend.planning.plan import answer
from crowdblend.planning.points import weakest_noise
from crowdblend.planning.request import PlanRequest
from crowdblend.policies.points import Points
from crowdblend.randomness import ReleaseKey
from crowdblend.randomness.noise import SMALLEST_EPSILON
from crowdblend.recoding import Grid

# For how many points, and how surely, the dry run and the report say that none moves beyond some distance.
POINTS, FAILURE = 100_000, 0.05
# A certificate lists blocks up to this number; a grid is told by its widths anyway.
MOST_LISTED = 5_000


@dataclass(frozen=True)
class PointsPlan(ClassCountsPlan[ClassCountsReading]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: Points
    parameters: Plan

    @property
    def draw_rate(self) -> float | None:
        """The rate at which the sample is drawn here; None when it was drawn before."""
        return self.parameters.rate if self.draws else None

    @property
    def mechanisms(self) -> tuple[NoisyPoints]:
        return (self.mechanism,)

    def derivations(self, mechanisms: tuple[NoisyPoints]) -> tuple[Derivation, ...]:
        (mechanism,) = mechanisms
        return self.parameters.derivations(mechanism)

    @property
    def mechanism(self) -> NoisyPoints:
        """The noise on points, and from which size on blocks are published."""
        assert self.parameters.noise_epsilon is not None
        policy = self.policy
        cells = tuple(axis.cells for _, axis in policy.axes)
        return NoisyPoints(
            self.parameters.k, self.parameters.noise_epsilon, policy.blocks, cells, policy.keep_in, policy.show_blocks
        )

    def facts(self, outcome: Outcome = None) -> dict[str, Any]:
        """What a reader needs to know of the release, none of it read off the data."""
        del outcome
        policy = self.policy
        facts: dict[str, Any] = {
            "kind": policy.kind,
            "already_drawn": policy.sampling.already_drawn,
            "person": policy.data.person,
            "parameters": self.parameters.to_dict(),
            **unpublished_design(self.design),
            "columns": {column.name: column.recoding.domain() for column in policy.columns},
            "axes": {name: [axis.end(0), axis.end(axis.cells), axis.step] for name, axis in policy.axes},
            "keep_in": policy.keep_in,
            "show_blocks": policy.show_blocks,
            "noise": self.displacement(),
            "software": software(),
        }
        if isinstance(policy.blocks, Grid):
            sizes = zip(policy.axes, policy.blocks.cells, strict=True)
            facts["widths"] = {name: size * axis.step for (name, axis), size in sizes}
        elif policy.blocks.count <= MOST_LISTED:
            facts["blocks"] = [
                [[axis.end(low), axis.end(high)] for (_, axis), (low, high) in zip(policy.axes, box, strict=True)]
                for box in policy.blocks.listed()
            ]
        return facts

    def displacement(self) -> list[dict[str, Any]]:
        """For every size of blocks: how far its points move on each axis, on average and at worst (CBP Prop. 11)."""
        mechanism, displacements = self.mechanism, []
        for shape in self.policy.shapes():
            noise = mechanism.noise(shape)
            reaches = all_within(noise, POINTS, FAILURE)
            if self.policy.keep_in == "block":
                # Folded, no point leaves its block, and much noise spreads it evenly over that: by a third of its side.
                reaches = [min(reach, size - 1) for reach, size in zip(reaches, shape, strict=True)]
                noise = [on.within(size) for on, size in zip(noise, shape, strict=True)]
            displacements.append(
                {
                    name: {
                        "width": size * axis.step,
                        "mean": on.mean_distance * axis.step if math.isfinite(on.loss) else 0.0,
                        "deviation": on.deviation * axis.step if math.isfinite(on.loss) else 0.0,
                        "within": reach * axis.step,
                    }
                    for (name, axis), size, on, reach in zip(self.policy.axes, shape, noise, reaches, strict=True)
                }
            )
        return displacements

    def describe(self) -> list[tuple[str, str]]:
        """What would happen, from the policy alone."""
        policy, noise = self.policy, self.mechanism.noise_epsilon
        drawn = "was already drawn at an assumed" if policy.sampling.already_drawn else "will be drawn at"
        rate = self.parameters.rate if self.parameters.rate is not None else "between low and high"
        columns = ", ".join(column.name for column in policy.columns)
        lines = [
            ("would read", f"{columns} from {policy.data.name}"),
            ("would sample", f"the sample {drawn} rate {rate}"),
            (
                "would publish",
                f"the points of blocks of at least {self.parameters.k}, out of {policy.blocks.count:,} blocks",
            ),
            ("would move", f"points by noise that tells a block's points apart by e^{at_most(noise)}"),
        ]
        displaced = self.displacement()
        for shape in displaced[:3]:
            sides = " x ".join(f"{on['width']:.4g}" for on in shape.values())
            moved = ", ".join(f"{on['mean']:.3g} in {name}" for name, on in shape.items())
            far = ", ".join(f"{on['within']:.3g} in {name}" for name, on in shape.items())
            sure = f"{100 * (1 - FAILURE):g} %"
            lines += [
                ("", f"in a block of {sides} on average by {moved};"),
                ("", f"all of {POINTS:,} by at most {far} ({sure})"),
            ]
        if len(displaced) > 3:
            lines.append(("", f"and less in blocks of {len(displaced) - 3:,} smaller sizes"))
        return lines

    def read(self, engine: Engine, key: ReleaseKey, progress: Progress | None = None) -> ClassCountsReading:
        """Count the sample by cells of the resolution."""
        return self.count(engine, key, progress)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Publication:
        """The points of the sample, moved."""
        del progress
        (mechanism,) = self.mechanisms
        published = mechanism.publish(reading.sample, key)
        return published_points(self.policy, published, (mechanism,), reading.sample.people, self.facts())


def published_points(
    policy: Points,
    published: PublishedPoints,
    mechanisms: tuple[NoisyPoints, ...],
    people: int,
    facts: Mapping[str, Any],
) -> Publication:
    """The published points as a file, and what the steward may know of them."""
    names = tuple(column.name for column in policy.columns[: -policy.dimension])
    output = PointsOutput(f"data.{policy.format}", published, names, tuple(policy.axes), facts)
    internal = {
        "people_sampled": people,
        "points_published": published.points,
        "relative_difference": (people - published.points) / people if people else 0.0,
    }
    return Publication((output,), mechanisms, internal=internal)


def plan(policy: Points) -> PointsPlan:
    """Plan what the policy leaves open: one of k, rate, epsilon and delta, or the noise when all four are given."""
    if policy.design is not None and policy.design.published:
        from crowdblend.kinds.strata_points import plan_points_of_strata  # noqa: PLC0415  it extends this module

        return plan_points_of_strata(policy)
    drawn = policy.sampling
    request = PlanRequest(
        rate=drawn.rate,
        k=policy.k,
        epsilon=policy.epsilon,
        delta=policy.delta if policy.planned else None,
        low=policy.rate_range[0],
        high=policy.rate_range[1],
        exceptions=drawn.exceptions,
        max_rate=policy.max_rate,
        kind="points",
        noise_epsilon=policy.noise_epsilon or 1.0,
        releases=policy.releases,
    )
    if policy.noise_epsilon is None:
        if policy.planned is not None:
            raise InvalidInput(
                f"noise_epsilon and {policy.planned} are both left out.",
                remedy=f"Add noise_epsilon = 1.0, for example, or give {policy.planned} to have the noise planned.",
                where="[release] noise_epsilon",
                code="plan.unknown",
            )
        assert policy.delta is not None
        planned = weakest_noise(request, policy.delta)
        _require_more_than_sampling(planned)
        planned = replace(planned, delta=policy.delta)
    else:
        planned = answer(request)
        _require_more_than_sampling(planned)
        if not policy.planned and policy.delta is not None:
            remedy = "Raise k, epsilon or delta, or leave noise_epsilon out to be planned."
            planned = with_stated_delta(planned, policy.delta, "k, rate, epsilon and noise_epsilon", remedy)
    check_delta(policy, planned.delta)
    release_plan = PointsPlan(policy, planned)
    require_drawable(policy, release_plan.mechanism)
    return release_plan


def _require_more_than_sampling(planned: Plan) -> None:
    if planned.k == 1:
        raise Infeasible(
            "k = 1 hides nobody: sampling alone guarantees as much.",
            remedy="Lower delta, or state a larger k.",
            where="[release] k",
            code="plan.crowd-of-one",
        )
    if planned.delta >= planned.sampled_with:
        raise Infeasible(
            f"delta = {planned.delta:g} with noise_epsilon = {planned.noise_epsilon:g} is not below the rate of "
            f"{planned.sampled_with:g}: sampling alone guarantees as much.",
            remedy="Lower noise_epsilon or delta, or raise k.",
            where="[release] noise_epsilon",
            code="plan.no-more-than-sampling",
        )


def require_drawable(policy: Points, mechanism: NoisyPoints) -> None:
    """Refuse noise too strong to be drawn, before it is known in which blocks there are people."""
    for shape in policy.shapes():
        along = sum(size > 1 for size in shape)
        if any(size > 1 and mechanism.loss(size, along) < SMALLEST_EPSILON for size in shape):
            raise InvalidInput(
                f"noise_epsilon = {mechanism.noise_epsilon:g} leaves less than {float(SMALLEST_EPSILON):.1g} to each "
                f"step of a block of {' x '.join(map(str, shape))} steps.",
                remedy="Raise it, or use a coarser resolution.",
                where="[release] noise_epsilon",
                code="plan.epsilon-too-small",
            )
