"""Fixed partitions of a grid of cells into blocks: a regular grid, named boxes, or a quadtree.

A block is known by its number. Its first cell and its size on every axis are known beforehand; a point's block depends
on its own cell and on nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput

Cells = NDArray[np.int64]
# First cell and the cell behind the last one, on every axis.
Box = tuple[tuple[int, int], ...]
MOST_BLOCKS = 2**62
MOST_LISTED = 200_000


class Blocks(ABC):
    """A partition of some of the cells; a cell may lie in no block."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of blocks."""

    @abstractmethod
    def of(self, cells: NDArray[np.int32] | Cells) -> Cells:
        """Return the block of each row of cells, −1 for none."""

    @abstractmethod
    def first(self, blocks: Cells) -> Cells:
        """Return the first cell of each block, a row each."""

    @abstractmethod
    def size(self, blocks: Cells) -> Cells:
        """Return the number of cells of each block on every axis, a row each."""

    @property
    def same_size(self) -> tuple[int, ...] | None:
        """The size of all blocks, where they have the same."""
        return None

    def list_blocks(self) -> list[Box]:
        """Return all blocks, where they are few enough to be listed."""
        numbers = np.arange(self.count)
        first, size = self.first(numbers), self.size(numbers)
        ends = zip(first.tolist(), (first + size).tolist(), strict=True)
        return [tuple(zip(low, high, strict=True)) for low, high in ends]


@dataclass(frozen=True)
class Grid(Blocks):
    """Blocks of equal size; `along` says how many there are on each axis.

    >>> grid = Grid((10, 5), (2, 4))
    >>> grid.of(np.array([[0, 0], [19, 4]])).tolist(), grid.first(np.array([4])).tolist()
    ([0, 4], [[10, 0]])
    """

    cells: tuple[int, ...]
    along: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.count > MOST_BLOCKS:
            raise InvalidInput(
                "The grid has more than 2^62 blocks. Use larger widths.", where="width", code="recoding.size"
            )

    @property
    def count(self) -> int:
        return math.prod(self.along)

    @property
    def same_size(self) -> tuple[int, ...]:
        return self.cells

    def of(self, cells: NDArray[np.int32] | Cells) -> Cells:
        numbers = np.zeros(len(cells), np.int64)
        for axis, (size, blocks) in enumerate(zip(self.cells, self.along, strict=True)):
            numbers *= blocks
            numbers += cells[:, axis] // size
        return numbers

    def first(self, blocks: Cells) -> Cells:
        places = np.empty((len(blocks), len(self.along)), np.int64)
        for axis in range(len(self.along) - 1, -1, -1):
            blocks, places[:, axis] = np.divmod(blocks, self.along[axis])
        places *= np.array(self.cells, np.int64)
        return places

    def size(self, blocks: Cells) -> Cells:
        return np.broadcast_to(np.array(self.cells, np.int64), (len(blocks), len(self.cells)))


@dataclass(frozen=True)
class Boxes(Blocks):
    """Blocks that are listed one by one and do not overlap."""

    boxes: tuple[Box, ...]

    def __post_init__(self) -> None:
        low, high = self._ends
        for number in range(1, len(self.boxes)):
            apart = (low[:number] >= high[number]) | (high[:number] <= low[number])
            if not apart.any(axis=1).all():
                raise InvalidInput("Two boxes overlap. Move their ends apart.", where="boxes", code="recoding.overlap")

    @cached_property
    def _ends(self) -> tuple[Cells, Cells]:
        ends = np.array(self.boxes, np.int64)
        return ends[:, :, 0], ends[:, :, 1]

    @property
    def count(self) -> int:
        return len(self.boxes)

    def of(self, cells: NDArray[np.int32] | Cells) -> Cells:
        numbers = np.full(len(cells), -1, np.int64)
        for number, (low, high) in enumerate(zip(*self._ends, strict=True)):
            numbers[((cells >= low) & (cells < high)).all(axis=1)] = number
        return numbers

    def first(self, blocks: Cells) -> Cells:
        return self._ends[0][blocks]

    def size(self, blocks: Cells) -> Cells:
        return (self._ends[1] - self._ends[0])[blocks]


@dataclass(frozen=True)
class Quadtree(Blocks):
    """The whole domain, halved on every axis wherever it meets a region, down to the depth of that region.

    >>> tree = Quadtree((8, 8), ((((0, 1), (0, 1)), 2),))
    >>> tree.count, tree.of(np.array([[0, 0], [1, 0], [7, 7]])).tolist()
    (7, [3, 3, 2])
    """

    cells: tuple[int, ...]
    regions: tuple[tuple[Box, int], ...]

    @cached_property
    def _nodes(self) -> tuple[Cells, Cells, Cells, Cells]:
        """First cells and sizes of all nodes, each node's first child (−1 for a leaf), and its number as a leaf."""
        boxes: list[Box] = [tuple((0, cells) for cells in self.cells)]
        depths, children = [0], []
        for node, box in enumerate(boxes):  # grows as nodes are split
            depth = depths[node]
            deeper = any(depth < deepest and _meet(box, region) for region, deepest in self.regions)
            parts = _halves(box) if deeper else [box]
            children.append(len(boxes) if len(parts) > 1 else -1)
            if len(parts) > 1:
                boxes += parts
                depths += [depth + 1] * len(parts)
            if len(boxes) > MOST_LISTED:
                message = f"A quadtree may have at most {MOST_LISTED:,} nodes. Lower the depths."
                raise InvalidInput(message, where="depth", code="recoding.size")
        ends, first_child = np.array(boxes, np.int64), np.array(children, np.int64)
        leaf = np.where(first_child < 0, np.cumsum(first_child < 0) - 1, -1)
        return ends[:, :, 0], ends[:, :, 1] - ends[:, :, 0], first_child, leaf

    @cached_property
    def _leaves(self) -> Cells:
        return np.flatnonzero(self._nodes[2] < 0)

    @property
    def count(self) -> int:
        return len(self._leaves)

    def of(self, cells: NDArray[np.int32] | Cells) -> Cells:
        first, size, child, leaf = self._nodes
        at = np.zeros(len(cells), np.int64)
        while (inner := np.flatnonzero(child[at] >= 0)).size:
            node, which = at[inner], np.zeros(len(inner), np.int64)
            for axis in range(cells.shape[1]):
                # An axis of one cell is not halved, so it adds no digit.
                halved, middle = size[node, axis] > 1, first[node, axis] + (size[node, axis] + 1) // 2
                which = np.where(halved, 2 * which + (cells[inner, axis] >= middle), which)
            at[inner] = child[node] + which
        return leaf[at]

    def first(self, blocks: Cells) -> Cells:
        return self._nodes[0][self._leaves[blocks]]

    def size(self, blocks: Cells) -> Cells:
        return self._nodes[1][self._leaves[blocks]]


def _meet(box: Box, region: Box) -> bool:
    return all(low < end and start < high for (low, high), (start, end) in zip(box, region, strict=True))


def _halves(box: Box) -> list[Box]:
    """Return the parts of a box, the first axis most significant."""
    parts: list[Box] = [()]
    for low, high in box:
        middle = low + (high - low + 1) // 2
        ends: Sequence[tuple[int, int]] = ((low, middle), (middle, high)) if high - low > 1 else ((low, high),)
        parts = [(*part, end) for part in parts for end in ends]
    return parts
