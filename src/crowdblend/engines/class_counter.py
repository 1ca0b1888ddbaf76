"""How often each class occurs, in memory proportional to the classes and not to the rows.

A class is one or more 64-bit words. Few possible classes are counted in an array; else the words are collected, and
sorted and counted whenever many have come together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.duckdb.database import refuse_memory

Word = TypeVar("Word", bound=np.generic)
Words = tuple[NDArray[np.int64], ...]
Counts = NDArray[np.int64]

_FEW = 1 << 22
_MANY = 1 << 26
# Values of the first block of a growing array, and bytes of the largest: with fewer, freed memory may be kept.
_LEAST = 1 << 10
_BLOCK = 1 << 25


class Growing(Generic[Word]):
    """An array that grows at its end.

    It lies in blocks until it is looked at. Unlike one piece that is made larger and larger, they are memory that the
    operating system gives in large pages and takes back one by one while they are joined, so there is hardly ever more
    than one copy.
    """

    def __init__(self, kind: type[Word], room: int | None = None) -> None:
        self._kind = np.dtype(kind)
        self._blocks: list[NDArray[Word]] = []
        self._free = 0  # in the last block
        self._used = 0
        self._room = room

    def __len__(self) -> int:
        return self._used

    def extend(self, values: NDArray[Word]) -> None:
        """Put values at the end."""
        refuse_beyond(self._room, (self._used + len(values)) * self._kind.itemsize)
        placed = 0
        while placed < len(values):
            if not self._free:
                self._add_block()
            block, some = self._blocks[-1], values[placed : placed + self._free]
            block[len(block) - self._free :][: len(some)] = some
            self._free -= len(some)
            self._used += len(some)
            placed += len(some)

    def view(self) -> NDArray[Word]:
        """What is held in one piece, good until the next change."""
        if len(self._blocks) != 1:
            whole, placed = np.empty(self._used, dtype=self._kind), 0
            for values in self.emptied():
                whole[placed : placed + len(values)] = values
                placed += len(values)
            self._blocks, self._used = [whole], placed
        return self._blocks[0][: self._used]

    def emptied(self) -> Iterator[NDArray[Word]]:
        """What is held, block by block; a block is forgotten when the next one comes."""
        blocks = self._blocks
        if self._free:
            blocks[-1] = blocks[-1][: -self._free]
        self.clear()
        blocks.reverse()
        while blocks:
            yield blocks.pop()

    def sorted(self) -> NDArray[Word]:
        """What is held, put in order."""
        whole = self.view()
        whole.sort()
        return whole

    def clear(self) -> None:
        """Forget everything."""
        self._blocks, self._free, self._used = [], 0, 0

    def _add_block(self) -> None:
        """As much again as there is, up to a size."""
        self._free = min(max(self._used, _LEAST), _BLOCK // self._kind.itemsize)
        self._blocks.append(np.empty(self._free, dtype=self._kind))


def refuse_beyond(room: int | None, needed: int) -> None:
    """Refuse to hold more than the steward allows."""
    if room is not None and needed > room:
        refuse_memory()


class Tally:
    """Counts of classes. `classes` is how many there can be, when that is known and they are one word."""

    def __init__(self, words: int, classes: int | None, room: int | None = None) -> None:
        self._few: Counts | None = None
        self._waiting: list[NDArray[np.int64]] = []
        if words == 1 and classes is not None and classes <= _FEW:
            self._few = np.zeros(classes, dtype=np.int64)
        self._new: tuple[Growing[np.int64], ...] = tuple(Growing(np.int64, room) for _ in range(words))
        self._known: tuple[Words, Counts] = (tuple(np.empty(0, np.int64) for _ in range(words)), np.empty(0, np.int64))

    def add(self, words: Words) -> None:
        """Count some more rows."""
        if self._few is not None:
            # Counting goes over all classes, so it waits until there are about as many rows.
            self._waiting.append(words[0])
            if sum(map(len, self._waiting)) >= len(self._few):
                self._count_waiting(self._few)
            return
        for column, values in zip(self._new, words, strict=True):
            column.extend(values)
        if len(self._new[0]) > max(_MANY, 2 * len(self._known[1])):
            self._settle()

    def counted(self) -> tuple[Words, Counts]:
        """The classes that occur, in order, and how often."""
        if self._few is not None:
            self._count_waiting(self._few)
            occurring = np.flatnonzero(self._few)
            return (occurring,), self._few[occurring]
        self._settle()
        return self._known

    def _count_waiting(self, few: Counts) -> None:
        if self._waiting:
            few += np.bincount(np.concatenate(self._waiting), minlength=len(few))
            self._waiting.clear()

    def _settle(self) -> None:
        known, counts = self._known
        if len(self._new) == 1:
            new = _lengths((self._new[0].sorted(),))
        else:
            words = tuple(column.view() for column in self._new)
            order = np.lexsort(words[::-1])
            new = _lengths(tuple(word[order] for word in words))
        for column in self._new:
            column.clear()
        self._known = new if not len(counts) else _merged((known, counts), new)


def _lengths(words: Words) -> tuple[Words, Counts]:
    """The runs of equal classes in sorted rows."""
    starts = np.flatnonzero(begins(words))
    return tuple(word[starts] for word in words), np.diff(starts, append=len(words[0]))


def _merged(first: tuple[Words, Counts], second: tuple[Words, Counts]) -> tuple[Words, Counts]:
    words = tuple(np.concatenate(pair) for pair in zip(first[0], second[0], strict=True))
    counts = np.concatenate([first[1], second[1]])
    order = np.lexsort(words[::-1])
    words = tuple(word[order] for word in words)
    starts = np.flatnonzero(begins(words))
    return tuple(word[starts] for word in words), np.add.reduceat(counts[order], starts)


def begins(words: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Where, in sorted rows, a value begins that the row before does not have."""
    new = np.zeros(len(words[0]), dtype=np.bool_)
    new[:1] = True
    for word in words:
        new[1:] |= word[1:] != word[:-1]
    return new
