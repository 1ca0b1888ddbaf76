"""The policy of points: axes with bounds and a resolution, blocks that are fixed beforehand, and what travels along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

from msgspec.structs import force_setattr

from crowdblend.methods.recoding.reading import exact
from crowdblend.policies.columns import Column, refuse_choice
from crowdblend.policies.crowd import CrowdPolicy, Crowds
from crowdblend.policies.domains import AxisDomain
from crowdblend.policies.key import Section, key, part
from crowdblend.policies.refusals import naming, refusal
from crowdblend.policies.sampling import designs_for
from crowdblend.policies.unit import WHERE_ROWS
from crowdblend.policies.value_types import Ends
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.methods.recoding import blocks
    from crowdblend.methods.recoding.axes import Axis
    from crowdblend.methods.recoding.blocks import Blocks, Box, Grid

BLOCK = "block"


class NamedBox(Section, frozen=True, kw_only=True):
    """One block of points."""

    section = "publish.boxes"

    name: Annotated[str, key("Your name for the box.")]
    box: Annotated[Ends, key("The lower and the upper end on every axis, as in `{ x = [0, 1], y = [0, 2] }`.")]


class QuadtreeRegion(Section, frozen=True, kw_only=True):
    """A region where blocks are halved further."""

    section = "publish.quadtree"

    box: Annotated[Ends, key("The lower and the upper end on every axis of a region to be halved further.")]
    depth: Annotated[int, key("How often the domain is halved where it meets the region.", (1, 30))]


class Points(Crowds, frozen=True, kw_only=True):
    """Places of people: blocks of at least k, every point moved by noise."""

    kind = "points"
    designs = designs_for("poisson", crowds=True)
    lacks = ("recoding",)
    has_axes = True

    noise_epsilon: Annotated[
        float | None,
        key(
            "The privacy loss of the noise on points, before sampling; planned where k, rate, epsilon and delta are "
            "given.",
            "noise_epsilon",
        ),
    ] = None
    keep_in: Annotated[Literal["none", "bounds", "block"], key("What noisy points are kept in; none unless given.")] = (
        "none"
    )
    show_blocks: Annotated[bool, key("Publish the number of every point's block, in a column of its own.")] = False
    boxes: Annotated[tuple[NamedBox, ...], part("Blocks of points, one by one.")] = ()
    quadtree: Annotated[tuple[QuadtreeRegion, ...], part("Regions where blocks of points are small.")] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            *columns: str,
            name: str | None = None,
            share: float | None = None,
            weight: float = 1.0,
            k: int | None = None,
            noise_epsilon: float | None = None,
            keep_in: Literal["none", "bounds", "block"] = "none",
            show_blocks: bool = False,
            boxes: Sequence[NamedBox] = (),
            quadtree: Sequence[QuadtreeRegion] = (),
        ) -> None: ...


class PointsPolicy(CrowdPolicy, frozen=True, kw_only=True):
    """Points; the axes are the last of the columns."""

    reserved = ("estimate", "low", "high")

    publication: Points

    def __post_init__(self) -> None:
        super().__post_init__()
        axes = [column for column in self.columns if _is_axis(column)]
        along = [column for column in self.columns if not _is_axis(column)]
        force_setattr(self, "columns", (*along, *axes))
        if not axes:
            message = '`publish.kind = "points"` needs at least one axis, and no column has a resolution.'
            remedy = "Declare one, for example `columns.x = { from = 0, to = 100, resolution = 0.1, width = 5 }`."
            raise refusal("no-axis", message, remedy, "`columns`")
        refuse_choice(along, "a release of points")
        if self.publication.show_blocks and any(column.name.lower() == BLOCK for column in self.columns):
            message = f"`publish.show_blocks` publishes a column {BLOCK!r}, and `columns` has one of that name."
            raise refusal("reserved-name", message, "Rename it in the data.", f"column {BLOCK!r}")
        if self.unit.several and not all(column.steps_of_block for column in axes):
            message = "Several rows of a person are kept in different blocks, which needs a width on every axis."
            raise refusal("rows-per-person", message, 'Add width, or write `data.duplicates = "one"`.', WHERE_ROWS)
        if all(size == 1 for shape in self.shapes() for size in shape):
            message = "Every block is one step of the resolution on every axis, so that no noise would be added."
            raise refusal(
                "no-noise", message, 'Refine the resolution, or use `publish.kind = "microdata"`.', "`columns`"
            )

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return sum(map(_is_axis, self.columns))

    @property
    def axes(self) -> tuple[tuple[str, Axis], ...]:
        """The axes by name."""
        return tuple((column.name, cast("Axis", column.recoding)) for column in self.columns if _is_axis(column))

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks that points are counted in, fixed in one of three ways."""
        domains = {column.name: column.domain for column in self.columns if isinstance(column.domain, AxisDomain)}
        widths = {name: domain.width for name, domain in domains.items() if domain.width is not None}
        boxes, quadtree = self.publication.boxes, self.publication.quadtree
        ways = {"`width`": widths, "`publish.boxes`": boxes, "`publish.quadtree`": quadtree}
        given = [name for name, value in ways.items() if value]
        if len(given) != 1 or (widths and len(widths) < self.dimension):
            some = " on some axes only" if widths and len(widths) < self.dimension else ""
            message = f"Blocks are fixed by {' and '.join(given) or 'nothing'}{some}."
            raise refusal("blocks", message, "Give a width on every axis, or boxes, or quadtree.", "`columns`")
        axes = dict(self.axes)
        if widths:
            return _grid(widths, axes)
        if boxes:
            return blocks.Boxes(tuple(_box(named.box, axes, "`publish.boxes`") for named in boxes))
        regions = tuple((_box(region.box, axes, "`publish.quadtree`"), region.depth) for region in quadtree)
        return blocks.Quadtree(tuple(axis.cells for axis in axes.values()), regions)

    def shapes(self) -> list[tuple[int, ...]]:
        """Return the different sizes of blocks in cells, largest first."""
        if isinstance(self.blocks, blocks.Grid):
            return [self.blocks.cells]
        found = {tuple(high - low for low, high in box) for box in self.blocks.list_blocks()}
        return sorted(found, key=lambda shape: (-sum(shape), shape))


def _is_axis(column: Column) -> bool:
    return isinstance(column.domain, AxisDomain)


def _grid(widths: Mapping[str, int | Decimal], axes: dict[str, Axis]) -> Grid:
    cells = []
    for name, width in widths.items():
        axis = axes[name]
        declared = naming(f"column {name!r}", partial(exact, "width", width))
        count = Fraction(declared) / Fraction(exact("resolution", axis.width))
        if count < 1 or count.denominator != 1 or axis.cells % int(count):
            raise refusal(
                "blocks",
                f"Column {name!r}: from {axis.start} to {axis.stop} is no whole number of widths {width}, or the width "
                f"no whole number of resolutions {axis.width}.",
                "Adapt one of them.",
                f"column {name!r}",
            )
        cells.append(int(count))
    along = [axis.cells // size for axis, size in zip(axes.values(), cells, strict=True)]
    return blocks.Grid(tuple(cells), tuple(along))


def _box(ends: Ends, axes: dict[str, Axis], where: str) -> Box:
    if set(ends) != set(axes):
        message = f"A box has ends on {', '.join(ends)}, and the axes are {', '.join(axes)}."
        raise refusal("box", message, "Give two ends on every axis.", where)
    box = naming(
        where,
        lambda: tuple(
            (axis.place("a box", ends[name][0]), axis.place("a box", ends[name][1])) for name, axis in axes.items()
        ),
    )
    if any(low >= high for low, high in box):
        raise refusal("box", "A box ends at or below where it begins.", "Swap its ends.", where)
    return box
