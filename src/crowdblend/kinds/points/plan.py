"""Points: blocks of at least k, exact in number, every point moved by noise (CBP 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from crowdblend.designs import Biased, Poisson, Strata
from crowdblend.engines.engine import Progress
from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.guarantees import PartOfPoints
from crowdblend.guarantees.wording import at_most
from crowdblend.kinds.class_counts import ClassCountsPlan, ClassCountsReading, one_sample, published_strata
from crowdblend.kinds.crowd_classes import placed
from crowdblend.kinds.delta_limit import check_delta, refuse_crowd_of_one, with_stated_delta
from crowdblend.kinds.kind import Lines, Result, software
from crowdblend.kinds.outputs import PointsOutput
from crowdblend.kinds.points.facts import FAILURE, POINTS, AxisFacts, PointsFacts
from crowdblend.kinds.points.policy import PointsPolicy
from crowdblend.kinds.strata import describe_sample, plan_stratified
from crowdblend.mechanisms.points import NoisyPoints, PublishedPoints
from crowdblend.mechanisms.strata import publish_points
from crowdblend.planning import Plan
from crowdblend.planning.part_budget import PartBudget
from crowdblend.planning.plan import answer
from crowdblend.planning.points import weakest_noise
from crowdblend.planning.request import PlanRequest
from crowdblend.planning.strata import StrataPlan
from crowdblend.randomness import ReleaseKey
from crowdblend.randomness.noise import SMALLEST_EPSILON
from crowdblend.recoding import Grid

# A certificate lists blocks up to this number; a grid is told by its widths anyway.
MOST_LISTED = 5_000


@dataclass(frozen=True)
class PointsPlan(ClassCountsPlan[PointsPolicy]):
    """A policy with nothing left open: the planned parameters, and what the certificate will say."""

    policy: PointsPolicy
    parameters: Plan

    @property
    def mechanisms(self) -> tuple[NoisyPoints, ...]:
        return (self.mechanism,)

    @property
    def mechanism(self) -> NoisyPoints:
        """The noise on points, and from which size on blocks are published."""
        assert self.parameters.noise_epsilon is not None
        policy = self.policy
        cells = tuple(axis.cells for _, axis in policy.axes)
        return NoisyPoints(
            self.parameters.k, self.parameters.noise_epsilon, policy.blocks, cells, policy.keep_in, policy.show_blocks
        )

    @property
    def sample(self) -> Poisson | Biased | Strata:
        """How people are sampled, as it is drawn."""
        drawn = self.policy.sampling.already_drawn
        return one_sample(self.parameters.design, self.policy.design, already_drawn=drawn)

    @property
    def budget(self) -> tuple[float, float]:
        """The planned epsilon and delta."""
        return self.parameters.epsilon, self.parameters.delta

    def facts(self, publication: Result | None = None) -> PointsFacts:
        policy, design, (epsilon, delta) = self.policy, self.sample, self.budget
        ran = self.mechanisms if publication is None else publication.mechanisms
        moved = [one.moved for one in ran if isinstance(one, NoisyPoints)]
        grid = isinstance(policy.blocks, Grid)
        sizes = policy.blocks.cells if isinstance(policy.blocks, Grid) else [None] * len(policy.axes)
        axes = {
            name: AxisFacts(
                low=axis.end(0),
                high=axis.end(axis.cells),
                resolution=axis.step,
                width=None if size is None else size * axis.step,
            )
            for (name, axis), size in zip(policy.axes, sizes, strict=True)
        }
        return PointsFacts(
            software=software(),
            person=policy.data.person,
            epsilon=epsilon,
            delta=delta,
            releases=policy.releases,
            design=design,
            columns={column.name: column.recoding.domain() for column in policy.columns},
            axes=axes,
            shapes=tuple(policy.shapes()),
            mechanism=None if isinstance(design, Strata) else moved[0],
            strata=dict(zip(design.strata, moved, strict=True)) if isinstance(design, Strata) else {},
            keep_in=policy.keep_in,
            show_blocks=policy.show_blocks,
            blocks=() if grid or policy.blocks.count > MOST_LISTED else self._boxes(),
        )

    def _boxes(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """The ends of every block on every axis."""
        return tuple(
            tuple((axis.end(low), axis.end(high)) for (_, axis), (low, high) in zip(self.policy.axes, box, strict=True))
            for box in self.policy.blocks.listed()
        )

    def summary(self) -> dict[str, Any]:
        return {**self.parameters.to_dict(), **super().summary()}

    def describe_sample(self) -> Lines:
        """What would be sampled."""
        drawn = "was already drawn at an assumed" if self.policy.sampling.already_drawn else "will be drawn at"
        rate = self.parameters.rate if self.parameters.rate is not None else "between low and high"
        return [("would sample", f"the sample {drawn} rate {rate}")]

    def describe(self) -> Lines:
        """What would happen, from the policy alone."""
        policy, noise = self.policy, self.mechanism.noise_epsilon
        lines = [
            self.describe_reading(self.published_names),
            *self.describe_sample(),
            (
                "would publish",
                f"the points of blocks of at least {self.parameters.k}, out of {policy.blocks.count:,} blocks",
            ),
            ("would move", f"points by noise that tells a block's points apart by e^{at_most(noise)}"),
        ]
        displaced = self.facts().displacements
        for shape in displaced[:3]:
            sides = " x ".join(f"{on.width:.4g}" for on in shape.values())
            moved = ", ".join(f"{on.mean:.3g} in {name}" for name, on in shape.items())
            far = ", ".join(f"{on.within:.3g} in {name}" for name, on in shape.items())
            sure = f"{100 * (1 - FAILURE):g} %"
            lines += [
                ("", f"in a block of {sides} on average by {moved};"),
                ("", f"all of {POINTS:,} by at most {far} ({sure})"),
            ]
        if len(displaced) > 3:
            lines.append(("", f"and less in blocks of {len(displaced) - 3:,} smaller sizes"))
        return lines

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        """The points of the sample, moved."""
        del progress
        policy, mechanisms, people = self.policy, self.mechanisms, reading.sample.people
        published = self._moved(mechanisms, reading, key)
        names = tuple(column.name for column in policy.columns[: -policy.dimension])
        laws = self.facts().tables["data"].laws
        output = PointsOutput(policy.file, published, names, tuple(policy.axes), laws)
        internal = {
            "people_sampled": people,
            "points_published": published.points,
            "relative_difference": (people - published.points) / people if people else 0.0,
        }
        return Result((output,), mechanisms, internal=internal)

    def _moved(
        self, mechanisms: tuple[NoisyPoints, ...], reading: ClassCountsReading, key: ReleaseKey
    ) -> PublishedPoints:
        (mechanism,) = mechanisms
        return mechanism.publish(reading.sample, key)


@dataclass(frozen=True)
class StratifiedPointsPlan(PointsPlan):
    """The plan of points by strata; `parameters` are those of the stratum with the largest k."""

    by_stratum: StrataPlan

    @property
    def mechanisms(self) -> tuple[NoisyPoints, ...]:
        """One for each stratum, in the order of the labels; the noise is the same."""
        return tuple(replace(self.mechanism, k=stratum.k) for stratum in self.by_stratum.strata)

    @property
    def sample(self) -> Strata:
        """The strata, or classes of weights."""
        return published_strata(self.strata, already_drawn=self.policy.sampling.already_drawn)

    @property
    def budget(self) -> tuple[float, float]:
        """Those of the worst stratum."""
        return self.by_stratum.epsilon, self.by_stratum.delta

    def summary(self) -> dict[str, Any]:
        return {**super().summary(), **self.by_stratum.to_dict()}

    def describe_sample(self) -> Lines:
        """What would be sampled: rate and k of every stratum."""
        return describe_sample(self, self.by_stratum)

    def _moved(
        self, mechanisms: tuple[NoisyPoints, ...], reading: ClassCountsReading, key: ReleaseKey
    ) -> PublishedPoints:
        return publish_points(mechanisms, reading.sample, self.strata.strata.column, key)


PlanT = TypeVar("PlanT", bound=PointsPlan)


def plan(policy: PointsPolicy) -> PointsPlan:
    """Plan what the policy leaves open: one of k, rate, epsilon and delta, or the noise when all four are given."""
    if policy.design is not None and policy.design.published:
        return _plan_strata(policy)
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
        form="moved",
        noise_epsilon=policy.noise_epsilon or 1.0,
        releases=policy.releases,
    )
    if policy.noise_epsilon is None:
        if policy.planned is not None:
            raise InvalidInput(
                f"noise_epsilon and {policy.planned} are both left out.",
                remedy=f"Add noise_epsilon = 1.0, for example, or give {policy.planned} to have the noise planned.",
                where="[[publish]] noise_epsilon",
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
    return _drawable(PointsPlan(policy, planned))


def _plan_strata(policy: PointsPolicy) -> StratifiedPointsPlan:
    """Plan the k of every stratum, or the one of epsilon and delta that is left out."""
    if policy.noise_epsilon is None:
        raise InvalidInput(
            "Points of a stratified sample need the noise of their policy.",
            remedy="Add noise_epsilon = 1.0, for example, and leave k out to have it planned.",
            where="[[publish]] noise_epsilon",
            code="plan.unknown",
        )
    planned = plan_stratified(policy, "moved", policy.noise_epsilon)
    largest = max(planned.strata, key=lambda stratum: stratum.k)
    return _drawable(StratifiedPointsPlan(policy, largest.parameters, planned))


def _require_more_than_sampling(planned: Plan) -> None:
    refuse_crowd_of_one(planned.k)
    if planned.delta >= planned.sampled_with:
        raise Infeasible(
            f"delta = {planned.delta:g} with noise_epsilon = {planned.noise_epsilon:g} is not below the rate of "
            f"{planned.sampled_with:g}: sampling alone guarantees as much.",
            remedy="Lower noise_epsilon or delta, or raise k.",
            where="[[publish]] noise_epsilon",
            code="plan.no-more-than-sampling",
        )


def _drawable(planned: PlanT) -> PlanT:
    """The plan; refuses noise too strong to be drawn, before it is known in which blocks there are people."""
    mechanism = planned.mechanism
    for shape in planned.policy.shapes():
        along = sum(size > 1 for size in shape)
        if any(size > 1 and mechanism.moved.loss(size, along) < SMALLEST_EPSILON for size in shape):
            raise InvalidInput(
                f"noise_epsilon = {mechanism.noise_epsilon:g} leaves less than {float(SMALLEST_EPSILON):.1g} to each "
                f"step of a block of {' x '.join(map(str, shape))} steps.",
                remedy="Raise it, or use a coarser resolution.",
                where="[[publish]] noise_epsilon",
                code="plan.epsilon-too-small",
            )
    return planned


def plan_part(policy: PointsPolicy, budget: PartBudget) -> PointsPlan:
    """Plan the points of a part of a sample."""
    noise, k = policy.noise_epsilon, policy.k
    if noise is None:
        raise InvalidInput(
            "Points of a part of a sample need the noise of their policy.",
            remedy="Add noise_epsilon = 1.0, for example, and leave k out to have it planned.",
            where="[[publish]] noise_epsilon",
            code="plan.unknown",
        )
    if k is None:
        k = budget.smallest_k(lambda size: PartOfPoints(budget.share, size, noise))
    return plan(placed(policy, budget, k, releases=1))
