"""A simple undirected network as sorted pairs of numbered people, and its adjacency rows.

Links are kept once, as keys low·n + high in rising order: that sorts, finds repeats and needs 8 bytes a link. Rows for
walking along links are built only when somebody walks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput

Whole = NDArray[np.int64]
Names = NDArray[np.int32]
MOST_PEOPLE = 2**31 - 1
MOST_LINKS = 2**30


@dataclass(frozen=True, eq=False)
class Network:
    """People 0, …, n − 1 and the links between them, each once, from its lower end to its higher one."""

    people: int
    low: Names
    high: Names

    @property
    def links(self) -> int:
        """How many links there are."""
        return len(self.low)

    @cached_property
    def degrees(self) -> Whole:
        """Everybody's number of links."""
        return np.bincount(self.low, minlength=self.people) + np.bincount(self.high, minlength=self.people)

    @cached_property
    def starts(self) -> Whole:
        """Where the links begin that have a person as their lower end; one more than there are people."""
        return _ends(np.bincount(self.low, minlength=self.people))

    @cached_property
    def adjacency(self) -> Adjacency:
        """Everybody's neighbours."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

        ones = np.ones(self.links, np.int8)
        up = csr_array((ones, self.high, self.starts), shape=(self.people, self.people))
        both = up + up.T.tocsr()
        return Adjacency(self.people, both.indptr, both.indices)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Everybody's neighbours, row after row."""

    people: int
    starts: NDArray[np.integer]
    names: NDArray[np.integer]

    def neighbours(self, person: int) -> NDArray[np.integer]:
        """The row of one person."""
        return self.names[self.starts[person] : self.starts[person + 1]]


def network(
    people: int, source: Whole | Names, target: Whole | Names, *, self_loops: str = "refuse", duplicates: str = "refuse"
) -> Network:
    """The network of a list of links between numbered people; loops and repeated links are refused or dropped.

    >>> links = network(4, np.array([1, 0, 2]), np.array([0, 1, 1]), duplicates="drop")
    >>> links.low.tolist(), links.high.tolist(), links.degrees.tolist()
    ([0, 1], [1, 2], [1, 2, 1, 0])
    """
    if people > MOST_PEOPLE or len(source) > MOST_LINKS:
        raise InvalidInput("A network may have at most 2^31 - 1 people and 2^30 links. Split it.")
    # n² < 2^62 fits a signed word.
    keys = np.minimum(source, target).astype(np.int64)
    keys *= people
    keys += np.maximum(source, target)
    loops = source == target
    if loops.any():
        if self_loops != "drop":
            raise InvalidInput(
                'Some links join a person with itself. Set self_loops = "drop" in [graph], or remove them.'
            )
        keys = keys[~loops]
    keys.sort()
    again = keys[1:] == keys[:-1]
    if again.any():
        if duplicates != "drop":
            raise InvalidInput(
                'Some links are listed twice, or in both directions. Set duplicates = "drop" in '
                "[graph], or remove them."
            )
        keys = keys[np.concatenate([[True], ~again])]
    low = (keys // max(people, 1)).astype(np.int32)
    keys -= low.astype(np.int64) * people
    return Network(people, low, keys.astype(np.int32))


def _ends(counts: Whole) -> Whole:
    return np.concatenate([[0], np.cumsum(counts)])
