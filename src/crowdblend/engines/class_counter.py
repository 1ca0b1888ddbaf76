"""How often each class occurs, in memory proportional to the classes and not to the rows.

A class is a packed code: one or more 64-bit numbers. Few possible classes are counted in an array; else the codes are
collected, and sorted and counted whenever many have come together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.refusals import refuse_beyond

Item = TypeVar("Item", bound=np.generic)
PackedCodes = tuple[NDArray[np.int64], ...]
Counts = NDArray[np.int64]

_FEW = 1 << 22
_MANY = 1 << 26
# Values of the first block of a growing array, and bytes of the largest: with fewer, freed memory may be kept.
_LEAST = 1 << 10
_BLOCK = 1 << 25


class GrowingArray(Generic[Item]):
    """An array that grows at its end.

    It lies in blocks until it is looked at. Unlike one piece that is made larger and larger, they are memory that the
    operating system gives in large pages and takes back one by one while they are joined, so there is hardly ever more
    than one copy. Where it is known how many values will come, one block is all there is.
    """

    def __init__(self, kind: type[Item], memory_limit: int | None = None, expected: int = 0) -> None:
        self._kind = np.dtype(kind)
        self._blocks: list[NDArray[Item]] = []
        self._free = 0  # in the last block
        self._used = 0
        self._memory_limit = memory_limit
        self._expected = expected

    def __len__(self) -> int:
        return self._used

    def extend(self, values: NDArray[Item]) -> None:
        """Put values at the end."""
        refuse_beyond(self._memory_limit, (self._used + len(values)) * self._kind.itemsize)
        placed = 0
        while placed < len(values):
            if not self._free:
                self._add_block()
            block, some = self._blocks[-1], values[placed : placed + self._free]
            block[len(block) - self._free :][: len(some)] = some
            self._free -= len(some)
            self._used += len(some)
            placed += len(some)

    def view(self) -> NDArray[Item]:
        """What is held in one piece, good until the next change."""
        if len(self._blocks) != 1:
            whole = np.empty(self._used, dtype=self._kind)
            end = len(whole)
            for values in self.emptied():
                whole[end - len(values) : end] = values
                end -= len(values)
            self._blocks, self._used = [whole], len(whole)
        return self._blocks[0][: self._used]

    def emptied(self) -> Iterator[NDArray[Item]]:
        """What is held, from its last part to its first; a part is forgotten when the next one comes."""
        blocks, free, most = self._blocks, self._free, _BLOCK // self._kind.itemsize
        self.clear()
        while blocks:
            block = blocks.pop()
            used, free = len(block) - free, 0
            while used > most:
                used -= most
                part = block[used : used + most].copy()
                block.resize(used, refcheck=False)  # gives the rest back
                yield part
            yield block[:used]

    def sorted(self) -> NDArray[Item]:
        """What is held, put in order."""
        whole = self.view()
        whole.sort()
        return whole

    def clear(self) -> None:
        """Forget everything."""
        self._blocks, self._free, self._used = [], 0, 0

    def _add_block(self) -> None:
        """What is expected; or as much again as there is, up to a size."""
        size = min(max(self._used, _LEAST), _BLOCK // self._kind.itemsize)
        self._free = size if self._blocks else max(size, self._expected)
        self._blocks.append(np.empty(self._free, dtype=self._kind))


class ClassCounter:
    """Counts of classes whose packed codes are `width` numbers wide; `classes` is how many there can be, if known."""

    def __init__(self, width: int, classes: int | None, memory_limit: int | None = None) -> None:
        self._few: Counts | None = None
        self._waiting: list[NDArray[np.int64]] = []
        if width == 1 and classes is not None and classes <= _FEW:
            self._few = np.zeros(classes, dtype=np.int64)
        self._new: tuple[GrowingArray[np.int64], ...] = tuple(
            GrowingArray(np.int64, memory_limit) for _ in range(width)
        )
        self._known: tuple[PackedCodes, Counts] = (
            tuple(np.empty(0, np.int64) for _ in range(width)),
            np.empty(0, np.int64),
        )

    def add(self, codes: PackedCodes) -> None:
        """Count some more rows."""
        if self._few is not None:
            # Counting goes over all classes, so it waits until there are about as many rows.
            self._waiting.append(codes[0])
            if sum(map(len, self._waiting)) >= len(self._few):
                self._count_waiting(self._few)
            return
        for column, values in zip(self._new, codes, strict=True):
            column.extend(values)
        if len(self._new[0]) > max(_MANY, 2 * len(self._known[1])):
            self._settle()

    def counts(self) -> tuple[PackedCodes, Counts]:
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
            codes = tuple(column.view() for column in self._new)
            order = np.lexsort(codes[::-1])
            new = _lengths(tuple(code[order] for code in codes))
        for column in self._new:
            column.clear()
        self._known = new if not len(counts) else _merged((known, counts), new)


def _lengths(codes: PackedCodes) -> tuple[PackedCodes, Counts]:
    """The runs of equal classes in sorted rows."""
    starts = np.flatnonzero(begins(codes))
    return tuple(code[starts] for code in codes), np.diff(starts, append=len(codes[0]))


def _merged(first: tuple[PackedCodes, Counts], second: tuple[PackedCodes, Counts]) -> tuple[PackedCodes, Counts]:
    codes = tuple(np.concatenate(pair) for pair in zip(first[0], second[0], strict=True))
    counts = np.concatenate([first[1], second[1]])
    order = np.lexsort(codes[::-1])
    codes = tuple(code[order] for code in codes)
    starts = np.flatnonzero(begins(codes))
    return tuple(code[starts] for code in codes), np.add.reduceat(counts[order], starts)


def begins(codes: tuple[NDArray[Any], ...]) -> NDArray[np.bool_]:
    """Where, in sorted rows, a value begins that the row before does not have."""
    new = np.zeros(len(codes[0]), dtype=np.bool_)
    new[:1] = True
    for code in codes:
        new[1:] |= code[1:] != code[:-1]
    return new
