"""The lattice of recodings: per column a ladder of ever coarser levels, and every combination of levels is a node.

Nothing here depends on the data: levels, their classes and what each class loses are fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    much the column matters. Levels nest, unless `nested` is False: then every level is in the order of the finest
    classes, as weeks and months are in that of days, and the first level may merge some of them.

    >>> ladder = Ladder("place", (np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)))
    >>> ladder.levels, [ladder.loss(level).tolist() for level in range(3)]
    (3, [[0.0, 0.0, 0.0], [0.5, 0.0], [1.0]])
    """

    name: str
    maps: tuple[NDArray[np.integer], ...]
    leaves: NDArray[np.integer] | None = None
    weight: float = 1.0
    nested: bool = True

    def __post_init__(self) -> None:
        if not self.maps or not len(self.maps[0]):
            raise self._refusal("levels", "must offer at least one level with a class, got none. Add one.")
        if not (math.isfinite(self.weight) and 0 <= self.weight <= 1000):
            raise self._refusal("weight", f"needs a weight between 0 and 1000, got {self.weight:g}. Use 1 for all.")
        if not self.nested:
            if any(len(level) != len(self.maps[0]) or (np.diff(level) < 0).any() for level in self.maps):
                raise self._refusal("nesting", "has a level out of the order of its finest classes. Leave it out.")
            return
        if not np.array_equal(self.maps[0], np.arange(len(self.maps[0]))):
            raise self._refusal("levels", "must keep every class at its first level. List the finest first.")
        for level, (finer, coarser) in enumerate(zip(self.maps, self.maps[1:], strict=False), 1):
            if len(coarser) != len(finer) or not _is_coarsening(finer, coarser):
                what = f"splits a class of level {level - 1} at level {level}; levels must nest. "
                raise self._refusal("nesting", what + "Leave out the level that cuts across.")

    def _refusal(self, code: str, what: str) -> InvalidInput:
        where = f"column {self.name!r}"
        return InvalidInput(f"C{where[1:]} {what}", where=where, code=f"selection.{code}")

    @cached_property
    def merges(self) -> tuple[bool, ...]:
        """For every level, whether it merges classes of the one before; the first, finest classes."""
        if self.nested:
            return (True,) * self.levels
        before = (np.arange(len(self.maps[0])), *self.maps)
        return tuple(_is_coarsening(*pair) for pair in zip(before, self.maps, strict=False))

    @property
    def levels(self) -> int:
        """The number of levels to choose from."""
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

    def kept_parts(self, level: int) -> NDArray[np.int64]:
        """Return the parts that each class of a level keeps, between 0 and `most`."""
        return np.rint(self.most * (1 - self.loss(level))).astype(np.int64)

    def base(self, levels: Sequence[int]) -> int | None:
        """The level whose classes all of these levels merge: the first of them; None where only the finest will do."""
        first = self.maps[levels[0]]
        fine = self.nested or all(_is_coarsening(first, self.maps[level]) for level in levels)
        return levels[0] if fine else None

    def offering(self, levels: Sequence[int]) -> Ladder:
        """Return the ladder of some of the levels, finest first, over the classes of their base."""
        base = self.base(levels)
        if len(levels) == self.levels or base is None:
            return self if len(levels) == self.levels else replace(self, maps=tuple(self.maps[at] for at in levels))
        finest = self.maps[base]
        size = int(finest.max()) + 1
        leaves = np.ones(len(finest), np.int64) if self.leaves is None else self.leaves
        maps = [np.arange(size)]
        for level in levels[1:]:
            coarser = np.zeros(size, np.int64)
            coarser[finest] = self.maps[level]
            maps.append(coarser)
        merged = np.bincount(finest, weights=leaves, minlength=size).astype(np.int64)
        return Ladder(self.name, tuple(maps), merged, self.weight, self.nested)

    @cached_property
    def ranks(self) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...], tuple[NDArray[np.int64], ...]]:
        """Ranks of the finest classes under which every level is a rising function of the rank.

        Levels that nest are a forest, and its leaves read in order have every class in one piece. Returned are
        the rank of each code, and by level the class of each rank and the parts that each class keeps.
        """
        order = np.lexsort(self.maps) if self.nested else np.arange(len(self.maps[0]))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        steps, kept = [], []
        for level, classes in enumerate(self.maps):
            along = classes[order]
            begins = np.concatenate([[True], along[1:] != along[:-1]])
            steps.append(np.cumsum(begins) - 1)
            kept.append(self.kept_parts(level)[along[begins]])
        return ranks, tuple(steps), tuple(kept)


@dataclass(frozen=True)
class Lattice:
    """Every combination of the columns' levels."""

    ladders: tuple[Ladder, ...]

    def __post_init__(self) -> None:
        if not self.ladders or self.size < 2:
            message = "A choice must have at least two recodings to choose from, got fewer. Offer a column more levels."
            raise InvalidInput(message, where="columns", code="selection.levels")
        if not self.most:
            raise InvalidInput(
                "The weights of the columns must not all be 0. Use 1 for all.", where="columns", code="selection.weight"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(ladder.levels for ladder in self.ladders)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    @property
    def most(self) -> int:
        """The parts that a class which loses nothing in any column keeps."""
        return sum(ladder.most for ladder in self.ladders)

    def node(self, place: int) -> Node:
        """Return the levels of the node at a place in the list of all nodes."""
        return tuple(int(level) for level in np.unravel_index(place, self.shape))

    def recode(self, codes: NDArray[np.int32], node: Sequence[int | None]) -> NDArray[np.int32]:
        """Rows of finest codes as rows of the node's codes; a level None leaves the finest."""
        columns = [
            codes[:, i] if level is None else ladder.maps[level][codes[:, i]]
            for i, (ladder, level) in enumerate(zip(self.ladders, node, strict=True))
        ]
        return np.stack(columns, axis=1).astype(np.int32)


def _is_coarsening(finer: NDArray[np.integer], coarser: NDArray[np.integer]) -> bool:
    """Return whether classes that are one at the finer level are one at the coarser level."""
    one = np.zeros(int(finer.max()) + 1, coarser.dtype)
    one[finer] = coarser  # the coarser class of some member; of every member, if they are one
    return bool(np.array_equal(one[finer], coarser))
