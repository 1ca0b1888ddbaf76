"""Facts of points: the axes, the blocks, and the noise that moved points within them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import msgspec

from crowdblend.frozen import dataclass
from crowdblend.mechanisms.points import MovedPoints, all_within
from crowdblend.recoding.domain import Domain
from crowdblend.releases.crowd_facts import CrowdFacts, by_stratum
from crowdblend.releases.facts import CellTable, Fact, Parameters, contradiction

# For how many points, and how surely, the dry run and the report say that none moves beyond some distance.
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
    deviation: float
    within: float


class PointsFacts(CrowdFacts, frozen=True, kw_only=True, tag="points"):
    """Facts of a release of points.

    `shapes` are the sizes of blocks, in steps along every axis; `blocks` are their ends where they are no grid, and few
    enough to be listed.
    """

    rows_are_counted = False
    axes: dict[str, AxisFacts]
    shapes: Annotated[tuple[tuple[int, ...], ...], msgspec.Meta(max_length=10_000)]
    mechanism: MovedPoints | None = None
    strata: dict[str, MovedPoints] = msgspec.field(default_factory=dict)
    keep_in: Keep = "none"
    show_blocks: bool = False
    blocks: tuple[tuple[tuple[float, float], ...], ...] = ()

    def __post_init__(self) -> None:
        sides = [*self.shapes, *self.blocks]
        if not self.axes or not self.shapes or any(len(side) != len(self.axes) for side in sides):
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
        counted = f"{'people' if self.rows_per_person is None else 'points'} in the population with the same {same}"
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
        if (rows := self.rows_per_person) is None:
            return None
        return (
            f"Everybody has one point in every block of theirs, in at most {rows} random ones: numbers of points are "
            "not numbers of people."
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
        if self.rows_per_person is not None and (self.design.already_drawn or self.design.thin):
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
                far = (on.mean_distance, on.deviation) if math.isfinite(on.loss) else (0.0, 0.0)
                moved[name] = Displacement(*(steps * axis.resolution for steps in (size, *far, reach)))
            found.append(moved)
        return found

    @property
    def crowds(self) -> Mapping[str, int]:
        return {} if self.mechanism is None else {"data": self.mechanism.k}

    @property
    def parameters(self) -> Parameters:
        largest = max(self.mechanisms, key=lambda mechanism: mechanism.k)
        return {**super().parameters, "k": largest.k, "noise_epsilon": largest.noise_epsilon}
