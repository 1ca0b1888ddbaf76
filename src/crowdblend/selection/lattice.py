"""The lattice of recodings: per column a ladder of ever coarser levels, and every combination of levels is a node.

Nothing here depends on the data: levels, their classes and what each class loses are fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput

Node = tuple[int, ...]

# What a class keeps of a column is a whole number of this many parts.
PARTS = 1000


@dataclass(frozen=True)
class Ladder:
    """The levels of one column, finest first: `maps[i][code]` is the class at level i of a class of the first level.

    `leaves` says how many of the column's values each finest class stands for (one each by default), `weight` how
    much the column matters.

    >>> ladder = Ladder("place", (np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)))
    >>> ladder.levels, [ladder.loss(level).tolist() for level in range(3)]
    (3, [[0.0, 0.0, 0.0], [0.5, 0.0], [1.0]])
    """

    name: str
    maps: tuple[NDArray[np.integer], ...]
    leaves: NDArray[np.integer] | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.maps or not len(self.maps[0]):
            raise InvalidInput(
                f"column {self.name!r} must offer at least one level with a class, got none. Add one.",
                where=f"column {self.name!r}",
                code="selection.levels",
            )
        if not (math.isfinite(self.weight) and 0 <= self.weight <= 1000):
            raise InvalidInput(
                f"the weight of column {self.name!r} must be between 0 and 1000, got {self.weight:g}. Use 1 for all.",
                where=f"column {self.name!r}",
                code="selection.weight",
            )
        if not np.array_equal(self.maps[0], np.arange(len(self.maps[0]))):
            raise InvalidInput(
                f"the first level of column {self.name!r} must keep every class. List the finest first.",
                where=f"column {self.name!r}",
                code="selection.levels",
            )
        for level, (finer, coarser) in enumerate(zip(self.maps, self.maps[1:], strict=False), 1):
            if len(coarser) != len(finer) or not _is_coarsening(finer, coarser):
                raise InvalidInput(
                    f"Level {level} of column {self.name!r} splits a class of level {level - 1}; levels must nest. "
                    "Leave out the level that cuts across.",
                    where=f"column {self.name!r}",
                    code="selection.nesting",
                )

    @property
    def levels(self) -> int:
        """How many levels there are to choose from."""
        return len(self.maps)

    @property
    def most(self) -> int:
        """The parts that a class which loses nothing keeps."""
        return round(self.weight * PARTS)

    def loss(self, level: int) -> NDArray[np.float64]:
        """ARX's loss of each class of a level: (m − 1)/(M − 1) for a class of m of the column's M values."""
        leaves = np.ones(len(self.maps[0]), np.int64) if self.leaves is None else self.leaves
        merged = np.bincount(self.maps[level], weights=leaves)
        return (np.maximum(merged, 1) - 1) / max(int(leaves.sum()) - 1, 1)

    def kept(self, level: int) -> NDArray[np.int64]:
        """The parts that each class of a level keeps, between 0 and `most`."""
        return np.rint(self.most * (1 - self.loss(level))).astype(np.int64)

    def offering(self, levels: Sequence[int]) -> Ladder:
        """The ladder of some of the levels, finest first, over the classes of the first of them."""
        if len(levels) == self.levels:
            return self
        finest = self.maps[levels[0]]
        size = int(finest.max()) + 1
        leaves = np.ones(len(finest), np.int64) if self.leaves is None else self.leaves
        maps = [np.arange(size)]
        for level in levels[1:]:
            coarser = np.zeros(size, np.int64)
            coarser[finest] = self.maps[level]
            maps.append(coarser)
        merged = np.bincount(finest, weights=leaves, minlength=size).astype(np.int64)
        return Ladder(self.name, tuple(maps), merged, self.weight)

    @cached_property
    def ordered(self) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...], tuple[NDArray[np.int64], ...]]:
        """Ranks of the finest classes under which every level is a rising function of the rank.

        Levels nest, so they are a forest, and its leaves read in order have every class in one piece. Returned are
        the rank of each code, and by level the class of each rank and the parts that each class keeps.
        """
        order = np.lexsort(self.maps)
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        steps, kept = [], []
        for level, classes in enumerate(self.maps):
            along = classes[order]
            begins = np.concatenate([[True], along[1:] != along[:-1]])
            steps.append(np.cumsum(begins) - 1)
            kept.append(self.kept(level)[along[begins]])
        return ranks, tuple(steps), tuple(kept)


@dataclass(frozen=True)
class Lattice:
    """Every combination of the columns' levels."""

    ladders: tuple[Ladder, ...]

    def __post_init__(self) -> None:
        if not self.ladders or self.size < 2:
            raise InvalidInput(
                "a choice must have at least two recodings to choose from, got fewer. Offer a column more levels.",
                where="columns",
                code="selection.levels",
            )
        if not self.most:
            raise InvalidInput(
                "the weights of the columns must not all be 0. Use 1 for all.", where="columns", code="selection.weight"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has."""
        return tuple(ladder.levels for ladder in self.ladders)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return math.prod(self.shape)

    @property
    def most(self) -> int:
        """The parts that a class which loses nothing in any column keeps."""
        return sum(ladder.most for ladder in self.ladders)

    def node(self, place: int) -> Node:
        """The levels of the node at a place in the list of all nodes."""
        return tuple(int(level) for level in np.unravel_index(place, self.shape))

    def recoded(self, codes: NDArray[np.int32], node: Sequence[int]) -> NDArray[np.int32]:
        """Rows of finest codes as rows of the node's codes."""
        columns = [
            ladder.maps[level][codes[:, i]] for i, (ladder, level) in enumerate(zip(self.ladders, node, strict=True))
        ]
        return np.stack(columns, axis=1).astype(np.int32)


def _is_coarsening(finer: NDArray[np.integer], coarser: NDArray[np.integer]) -> bool:
    """Whether classes that are one at the finer level are one at the coarser level."""
    one = np.zeros(int(finer.max()) + 1, coarser.dtype)
    one[finer] = coarser  # the coarser class of some member; of every member, if they are one
    return bool(np.array_equal(one[finer], coarser))
