"""Points: blocks of at least k, exact in number, every point moved by noise (CBP 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.kinds.points.facts import FAILURE, POINTS, AxisFacts, PointsFacts
from crowdblend.kinds.points.policy import PointsPolicy
from crowdblend.kinds.shared.class_counts import ClassCountsReading
from crowdblend.kinds.shared.crowds import CrowdsPlan, crowd_request, enough_for_rows, plan_crowds, plan_in_part
from crowdblend.kinds.shared.delta_limit import check_delta, require_more_than_sampling
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import PointsOutput
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.methods.mechanisms.points import NoisyPoints
from crowdblend.methods.mechanisms.strata import publish_points
from crowdblend.methods.planning.parts import PartBudget
from crowdblend.methods.planning.plan import SolvedPlan, answer
from crowdblend.methods.planning.request import PlanRequest
from crowdblend.methods.recoding.blocks import Grid
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.guarantees.programme import PartOfPoints
from crowdblend.trusted.guarantees.wording import at_most
from crowdblend.trusted.numerics.search import largest_double
from crowdblend.trusted.randomness import ReleaseKey
from crowdblend.trusted.randomness.noise import SMALLEST_EPSILON

# A certificate lists blocks up to this number; a grid is told by its widths anyway.
MOST_LISTED = 5_000
# Less noise than this moves a point by a hundredth of its block: then the block may as well be smaller.
LARGEST_NOISE_EPSILON = 400.0
SMALLEST_NOISE_EPSILON = 1e-3


@dataclass(frozen=True, repr=False)
class PointsPlan(CrowdsPlan[PointsPolicy, NoisyPoints]):
    """The plan of points: blocks by strata, and noise that is the same in all of them."""

    def mechanism_of(self, stratum: SolvedPlan) -> NoisyPoints:
        """Return the noise on points, and from which size on blocks are published."""
        assert stratum.crowd_loss is not None
        policy = self.policy
        cells = tuple(axis.cells for _, axis in policy.axes)
        return NoisyPoints(
            stratum.k,
            stratum.crowd_loss,
            policy.blocks,
            cells,
            policy.publication.keep_in,
            policy.publication.show_blocks,
        )

    def facts(self, publication: Result | None = None) -> PointsFacts:
        policy = self.policy
        moved = [one.moved_points for one in self.ran(publication) if isinstance(one, NoisyPoints)]
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
            **self.crowd_facts(),
            axes=axes,
            shapes=tuple(policy.shapes()),
            **self.by_stratum(moved),
            keep_in=policy.publication.keep_in,
            show_blocks=policy.publication.show_blocks,
            blocks=tuple(
                tuple((axis.end(low), axis.end(high)) for (_, axis), (low, high) in zip(policy.axes, box, strict=True))
                for box in ([] if grid or policy.blocks.count > MOST_LISTED else policy.blocks.list_blocks())
            ),
        )

    def describe(self) -> Lines:
        policy, noise = self.policy, self.mechanisms[0].noise_epsilon
        lines = [
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
        policy, mechanisms, people = self.policy, self.mechanisms, reading.sample.people
        published = publish_points(mechanisms, reading.sample, self.stratum, key)
        names = tuple(column.name for column in policy.columns[: -policy.dimension])
        laws = self.facts().tables["data"].laws
        output = PointsOutput(policy.file, published, names, tuple(policy.axes), laws)
        internal = {
            "people_sampled": people,
            "points_published": published.points,
            "relative_difference": (people - published.points) / people if people else 0.0,
        }
        return Result((output,), mechanisms, internal=internal)


def _weakest_noise(policy: PointsPolicy) -> SolvedPlan:
    """Plan the noise of points; everything else is given."""
    stratified = policy.strata is not None and policy.strata.published
    left = "k" if stratified else policy.planned_parameter
    if left is not None:
        whose = "points of a stratified sample need it" if stratified else f"{left} is left out too"
        message = f"noise_epsilon is left out, and {whose}."
        remedy = f"Add `publish.noise_epsilon = 1.0`, for example, and leave {left} out to have it planned."
        raise InvalidInput(message, remedy=remedy, where="`publish.noise_epsilon`", code="plan.unknown")
    assert policy.delta is not None
    planned = weakest_noise(crowd_request(policy, "moved", noise_epsilon=1.0), policy.delta)
    require_more_than_sampling(planned)
    check_delta(policy, policy.delta)
    return replace(planned, delta=policy.delta)


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
            f"`delta = {delta:g}` cannot be reached with these k, rate and epsilon, whatever the noise on the points."
        )
        remedy = "Raise k, epsilon or delta, or lower the rate."
        raise Infeasible(message, remedy=remedy, where="delta", code="plan.no-noise")
    top = 2 * SMALLEST_NOISE_EPSILON
    while top < LARGEST_NOISE_EPSILON and keeps(top):
        top *= 2
    best = largest_double(keeps, top / 2, top, 1e-4)
    return answer(replace(request, noise_epsilon=best))


def _drawable(plan: PointsPlan) -> PointsPlan:
    """Return the plan; refuse noise too strong to be drawn, before it is known in which blocks there are people."""
    mechanism = plan.mechanisms[0]
    for shape in plan.policy.shapes():
        along = sum(size > 1 for size in shape)
        if any(size > 1 and mechanism.moved_points.loss(size, along) < SMALLEST_EPSILON for size in shape):
            raise InvalidInput(
                f"`noise_epsilon = {mechanism.noise_epsilon:g}` leaves less than {float(SMALLEST_EPSILON):.1g} to each "
                f"step of a block of {' x '.join(map(str, shape))} steps.",
                remedy="Raise it, or use a coarser resolution.",
                where="`publish.noise_epsilon`",
                code="plan.epsilon-too-small",
            )
    return plan


class PointsMethod(Method[PointsPolicy]):
    """Points that noise moves within blocks of crowds."""

    def plan(self) -> PointsPlan:
        """Plan what is left open: one of k, rate, epsilon and delta, or the noise when all four are given."""
        policy, loss = self.policy, self.policy.publication.noise_epsilon
        planned = _weakest_noise(policy) if loss is None else plan_crowds(policy, "moved", noise_epsilon=loss)
        return enough_for_rows(_drawable(PointsPlan(policy, planned)))

    def plan_part(self, budget: PartBudget) -> PointsPlan:
        loss = self.policy.publication.noise_epsilon
        if loss is None:
            message = "Points of a part of a sample need the noise of their policy."
            remedy = "Add `publish.noise_epsilon = 1.0`, for example, and leave k out to have it planned."
            raise InvalidInput(message, remedy=remedy, where="`publish.noise_epsilon`", code="plan.unknown")
        part = partial(PartOfPoints, budget.share)
        return _drawable(PointsPlan(*plan_in_part(self.policy, budget, "moved", part, lambda _: loss)))


method = PointsMethod
