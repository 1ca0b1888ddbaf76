"""Facts of points: the axes, the blocks, and the noise that moved points within them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec

from crowdblend.kinds.shared.crowd_facts import CrowdFacts, by_stratum
from crowdblend.kinds.shared.facts import CellTable, Fact, Parameters, contradiction
from crowdblend.methods.mechanisms.points import AxisNoise, MovedPoints, all_within
from crowdblend.methods.recoding.domain import Domain

# For how many points the dry run says that none moves beyond some distance; with which probability it may be wrong, as
# may what the report says of noise.
POINTS, FAILURE = 100_000, 0.05
Keep = Literal["none", "bounds", "block"]


class AxisFacts(Fact, frozen=True, kw_only=True):
    """An axis: its ends, the resolution of its grid, and the width of its blocks where all have the same."""

    low: float
    high: float
    resolution: float
    width: float | None = None

    def __post_init__(self) -> None:
        if not (
            self.low < self.high
            and 0 < self.resolution <= self.high - self.low
            and (self.width is None or self.width > 0)
        ):
            raise ValueError("an axis has a length and a resolution")

    @property
    def blocks(self) -> int | None:
        """The number of blocks along the axis; None where they differ."""
        return None if self.width is None else max(1, round((self.high - self.low) / self.width))


@dataclass(frozen=True)
class Displacement:
    """The displacement of points along an axis: the mean, and a bound (`within`) for nearly all."""

    width: float
    mean: float
    within: float


@dataclass(frozen=True)
class AxisMoves:
    """Bounds on what noise does to published points on an axis, in its unit, whichever block they are in.

    With probability FAILURE at most a point moves further than `moved`, two points of one place are further apart than
    `apart`, and any of all points moves further than `all_moved`. Folding and cutting off take no point further from
    where it was, and no two further apart, so that bounds of free noise hold of kept points as well.

    These lean inwards: the mean of where a point may be is up to `lean` from where it was. That is no more than the
    mean distance, nor than half of a block. For discrete Laplace noise is a random walk that stops at a geometric time,
    and a folded point this walk reflected at the ends of its block. Two reflected walks can be made to keep their
    order, so by symmetry the mean is between the place and the middle, and those of evenly spread places do not lean.
    """

    name: str
    lean: float = 0.0
    deviation: float = 0.0
    moved: float = 0.0
    apart: float = 0.0
    all_moved: float = 0.0


class PointsFacts(CrowdFacts, frozen=True, kw_only=True, tag="points"):
    """Facts of a release of points.

    `shapes` are the sizes of blocks, in steps along every axis; `blocks` are their ends where they are no grid, and few
    enough to be listed.
    """

    rows_are_counted = False
    axes: dict[str, AxisFacts]
    shapes: Annotated[tuple[tuple[int, ...], ...], msgspec.Meta(min_length=1, max_length=10_000)]
    mechanism: MovedPoints | None = None
    strata: dict[str, MovedPoints] = msgspec.field(default_factory=dict)
    keep_in: Keep = "none"
    show_blocks: bool = False
    blocks: tuple[tuple[tuple[float, float], ...], ...] = ()

    def __post_init__(self) -> None:
        sides = [*self.shapes, *self.blocks]
        if not self.axes or any(len(side) != len(self.axes) for side in sides):
            raise ValueError("every block has a side on every axis")
        if any(size < 1 for shape in self.shapes for size in shape):
            raise ValueError("every block has at least one step on every axis")
        for place, axis in enumerate(self.axes.values()):
            largest = max(shape[place] for shape in self.shapes)
            if axis.width is not None and not math.isclose(largest * axis.resolution, axis.width, rel_tol=1e-9):
                raise ValueError("the largest blocks are as wide as their axis says")

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Coordinates are no labels."""
        return {name: domain for name, domain in self.columns.items() if name not in self.axes}

    @property
    def declared_domains(self) -> Mapping[str, tuple[Domain, ...]]:
        return {name: (domain,) for name, domain in self.columns.items()}

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        same = "labels and block" if self.show_blocks else "labels"
        counted = f"{self.counted.many} in the population with the same {same}"
        if self.unit.several:
            most = self.unit.most
            counted = f"points in the population with the same {same}, at most {most} random ones of a person"
        axes = {
            name: f"A coordinate on a grid of {axis.resolution} from {axis.low} to {axis.high}, moved by noise."
            for name, axis in self.axes.items()
        }
        return {
            **{name: ("number", text) for name, text in axes.items()},
            "estimate": ("number", f"The estimated number of {counted}; blank where some are missing."),
            "low": ("integer", f"The lower end of the 95 % interval for the number of {counted}."),
            "high": ("integer", f"The upper end of the 95 % interval for the number of {counted}."),
        }

    @property
    def counting_note(self) -> str | None:
        if not self.unit.several:
            return None
        most = self.unit.most
        each = "one random block" if most == 1 else f"each of at most {most} random blocks"
        return (
            f"Everybody has one point in {each} of theirs: numbers of points are not numbers of people. Other blocks "
            f"of a person are in none of the numbers, and in no interval. {self.unit.left_out('blocks')}"
        )

    @property
    def mechanisms(self) -> tuple[MovedPoints, ...]:
        found = by_stratum(self.mechanism, self.strata, self.design)
        if len({one.noise_epsilon for one in found}) > 1:
            raise contradiction("its strata have different noise")
        return found

    @property
    def tables(self) -> Mapping[str, CellTable]:
        along = [axis.blocks for axis in self.axes.values()]
        grid = None if None in along else math.prod(size for size in along if size is not None)
        laws = replace(self.laws, blocks=len(self.blocks) or grid, blocks_shown=self.show_blocks)
        if self.unit.several and (self.design.already_drawn or self.design.thin):
            # People were asked with all of their blocks, so that sums over blocks vary more than coins do.
            laws = replace(laws, estimator=None, strata=dict.fromkeys(laws.strata))
        return {"data": CellTable(self.domains, laws, tuple(one.law for one in self.mechanisms))}

    @property
    def displacements(self) -> list[dict[str, Displacement]]:
        """For every block size, the mean and largest displacement on each axis (CBP Prop. 11)."""
        found = []
        for shape in self.shapes:
            noise = self.mechanisms[0].noise(shape)
            reaches = all_within(noise, POINTS, FAILURE)
            if self.keep_in == "block":
                # Folded, no point leaves its block, and much noise spreads it evenly over that: by a third of its side.
                reaches = [min(reach, size - 1) for reach, size in zip(reaches, shape, strict=True)]
                noise = [on.within(size) for on, size in zip(noise, shape, strict=True)]
            moved: dict[str, Displacement] = {}
            for (name, axis), size, on, reach in zip(self.axes.items(), shape, noise, reaches, strict=True):
                mean = on.mean_distance if math.isfinite(on.loss) else 0.0
                moved[name] = Displacement(*(steps * axis.resolution for steps in (size, mean, reach)))
            found.append(moved)
        return found

    def moves(self, points: int) -> list[AxisMoves]:
        """Return what noise does at most to this many points on every axis."""
        noise, found = {shape: self.mechanisms[0].noise(shape) for shape in self.shapes}, []
        for place, (name, axis) in enumerate(self.axes.items()):
            each = []
            for size, loss in {(shape[place], some[place].loss) for shape, some in noise.items() if shape[place] > 1}:
                on = AxisNoise(loss)
                reaches = on.reach(FAILURE), reach_apart(loss, FAILURE), on.reach(FAILURE / points)
                steps = (on.mean_distance, on.deviation, *reaches)
                folded = [*[(size - 1) / 2] * 2, *[size - 1] * 3]
                each.append(map(min, steps, folded) if self.keep_in == "block" else steps)
            found.append(AxisMoves(name, *(axis.resolution * max(some) for some in zip(*each, strict=True))))
        return found

    @property
    def crowds(self) -> Mapping[str, int]:
        return {} if self.mechanism is None else {"data": self.mechanism.k}

    @property
    def parameters(self) -> Parameters:
        largest = max(self.mechanisms, key=lambda mechanism: mechanism.k)
        return {**super().parameters, "k": largest.k, "noise_epsilon": largest.noise_epsilon}


def reach_apart(loss: float, failure: float) -> int:
    """Return the smallest r with P[|Y − Z| > r] ≤ failure, for noise Y and Z of this loss per step.

    With a = e^−loss, P[|Y − Z| > r] = 2a^{r+1}(1 − a)/(1 + a)²·(r + 1 + (1 + a²)/(1 − a²) + a/(1 − a)).
    """
    a, rest = math.exp(-loss), -math.expm1(-loss)

    def within(r: int) -> bool:
        further = r + 1 + (1 + a * a) / (rest * (1 + a)) + a / rest
        return 2 * a ** (r + 1) * rest / (1 + a) ** 2 * further <= failure

    most = 1
    while not within(most):
        most *= 2
    return bisect_left(range(most), True, key=within)
