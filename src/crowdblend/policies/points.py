"""The policy of points: axes with bounds and a resolution, blocks that are fixed beforehand, and what travels along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.points import Keep
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.keys import AXIS, BOXES, POINTS, QUADTREE, naming, read_keys, shown
from crowdblend.policies.sections import read_data, read_release, read_sampling
from crowdblend.policies.table import Policy
from crowdblend.recoding import Axis, Blocks, Boxes, Grid, Quadtree
from crowdblend.recoding.blocks import Box
from crowdblend.recoding.reading import exact

DEEPEST = 30
BLOCK = "block"


@dataclass(frozen=True)
class PointsPolicy(Policy):
    """What the steward decided about points; the axes are the last of the columns."""

    blocks: Blocks = field(kw_only=True)
    dimension: int = field(kw_only=True)
    keep_in: Keep = "none"
    show_blocks: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.show_blocks and any(column.name.lower() == BLOCK for column in self.columns):
            raise InvalidInput(f"column {BLOCK!r} must have another name with show_blocks. Rename it in the data.")
        sizes = self.shapes()
        if all(size == 1 for shape in sizes for size in shape):
            raise InvalidInput(
                "a block must hold several steps of the resolution on some axis, and none does: no noise would be "
                'added. Refine the resolution, or use kind = "microdata".'
            )

    @property
    def axes(self) -> tuple[tuple[str, Axis], ...]:
        """The axes by name."""
        found = []
        for column in self.columns[-self.dimension :]:
            assert isinstance(column.recoding, Axis)
            found.append((column.name, column.recoding))
        return tuple(found)

    def shapes(self) -> list[tuple[int, ...]]:
        """The different sizes of blocks in cells, largest first."""
        if isinstance(self.blocks, Grid):
            return [self.blocks.cells]
        found = {tuple(high - low for low, high in box) for box in self.blocks.listed()}
        return sorted(found, key=lambda shape: (-sum(shape), shape))


def read_policy(parts: dict[str, Any], folder: Path) -> PointsPolicy:
    """The policy of a release of points."""
    declared = parts.get("columns")
    if not isinstance(declared, Mapping):
        raise InvalidInput("the policy must have a section [columns], and it is missing. Add it.")
    placed = {name: keys for name, keys in declared.items() if isinstance(keys, Mapping) and "resolution" in keys}
    if not placed:
        raise InvalidInput(
            "points must have at least one axis, and no column has a resolution. "
            "Write for example x = { from = 0, to = 100, resolution = 0.1, width = 5 }."
        )
    given = {name: read_keys(f"column {name!r}", AXIS, keys) for name, keys in placed.items()}
    axes = {name: naming(f"column {name!r}", partial(_axis, keys)) for name, keys in given.items()}
    others = {name: keys for name, keys in declared.items() if name not in placed}
    along = read_columns(others, folder) if others else ()
    settings = read_keys("[points]", POINTS, parts.get("points", {}))
    return PointsPolicy(
        data=read_data(parts["data"], folder),
        sampling=read_sampling(parts.get("sampling", {})),
        columns=(*along, *(Column(name, (axis,)) for name, axis in axes.items())),
        release=read_release(parts["release"]),
        blocks=_blocks(parts, given, axes),
        dimension=len(axes),
        **settings,
    )


def _axis(keys: dict[str, Any]) -> Axis:
    return Axis.declared(keys["from"], keys["to"], keys["resolution"], drop=keys.get("outside") == "drop")


def _blocks(parts: dict[str, Any], given: dict[str, dict[str, Any]], axes: dict[str, Axis]) -> Blocks:
    widths = [name for name, keys in given.items() if "width" in keys]
    ways = ["width"] * bool(widths) + [name for name in ("boxes", "quadtree") if name in parts]
    if len(ways) != 1 or (widths and len(widths) < len(given)):
        raise InvalidInput(
            f"blocks must be fixed in one way: a width on every axis, [[boxes]] or [[quadtree]], got "
            f"{' and '.join(ways) or 'none'}{' on some axes' if widths and len(widths) < len(given) else ''}. Keep one."
        )
    if widths:
        return _grid({name: keys["width"] for name, keys in given.items()}, axes)
    listed = parts[ways[0]]
    if not isinstance(listed, list) or not listed:
        raise InvalidInput(f"[[{ways[0]}]] must be written with double brackets, got {shown(listed)}. Add them.")
    if ways[0] == "boxes":
        return Boxes(tuple(_box(read_keys("[[boxes]]", BOXES, part)["box"], axes) for part in listed))
    return Quadtree(tuple(axis.cells for axis in axes.values()), tuple(_region(part, axes) for part in listed))


def _grid(widths: Mapping[str, Any], axes: dict[str, Axis]) -> Grid:
    cells = []
    for name, width in widths.items():
        axis = axes[name]
        count = Fraction(exact("width", width)) / Fraction(exact("resolution", axis.width))
        if count < 1 or count.denominator != 1 or axis.cells % int(count):
            raise InvalidInput(
                f"column {name!r}: width must be a whole number of resolutions, and to - from a whole number of "
                f"widths, got width {width}, resolution {axis.width}, from {axis.start}, to {axis.stop}. Adapt one."
            )
        cells.append(int(count))
    along = [axis.cells // size for axis, size in zip(axes.values(), cells, strict=True)]
    return Grid(tuple(cells), tuple(along))


def _box(ends: Mapping[str, Sequence[Any]], axes: dict[str, Axis]) -> Box:
    if set(ends) != set(axes):
        raise InvalidInput(
            f"a box must have two ends on every axis ({', '.join(axes)}), got {', '.join(ends)}. Add what is missing."
        )
    box = tuple((axis.place("a box", ends[name][0]), axis.place("a box", ends[name][1])) for name, axis in axes.items())
    if any(low >= high for low, high in box):
        raise InvalidInput("a box must end above where it begins, and one does not. Swap its ends.")
    return box


def _region(part: Any, axes: dict[str, Axis]) -> tuple[Box, int]:
    keys = read_keys("[[quadtree]]", QUADTREE, part)
    if not 1 <= keys["depth"] <= DEEPEST:
        raise InvalidInput(f"depth in [[quadtree]] must be between 1 and {DEEPEST}, got {keys['depth']}. Change it.")
    return _box(keys["box"], axes), keys["depth"]
