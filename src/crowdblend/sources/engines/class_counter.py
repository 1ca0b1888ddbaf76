"""Counts of classes, in memory proportional to the classes and not to the rows.

A class is a packed code: one or more 64-bit numbers. Few possible classes are counted in an array; else the codes are
collected, and sorted and counted whenever many have come together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.code_rows import begins, runs
from crowdblend.sources.engines.array_memory import ArrayMemory, HeldMemory

Item = TypeVar("Item", bound=np.generic)
PackedCodes = tuple[NDArray[np.int64], ...]
Counts = NDArray[np.int64]

_FEW = 1 << 22
_MANY = 1 << 26
# Bytes of a block of a growing array: so much goes back to the operating system as soon as it is free.
_BLOCK = 1 << 25
# Numbers for which there is room at first.
_LEAST = 1 << 10


class GrowingArray(Generic[Item]):
    """Numbers that come in pieces; they are joined when they are looked at as one."""

    def __init__(self, kind: type[Item], memory: ArrayMemory | None = None) -> None:
        self._kind, self._held = np.dtype(kind), HeldMemory(memory or ArrayMemory())
        self._blocks: list[NDArray[Item]] = []
        self._used, self._room = 0, 0

    def __len__(self) -> int:
        return self._used

    def extend(self, values: NDArray[Any]) -> None:
        """Put values at the end, cut off to the bits of this kind."""
        self._held.resize((self._used + len(values)) * self._kind.itemsize)
        while len(values):
            if self._used == self._room:  # as much again, up to a whole block
                size = max(_LEAST, min(self._used, _BLOCK // self._kind.itemsize))
                self._blocks.append(np.empty(size, self._kind))
                self._room += size
            into = self._blocks[-1][self._used - self._room :][: len(values)]
            into[:] = values[: len(into)]
            self._used, values = self._used + len(into), values[len(into) :]

    def pieces(self, size: int) -> Iterator[NDArray[Item]]:
        """Yield what is held in pieces of at most this size, in order."""
        start = 0
        for block in self._blocks:
            held = block[: self._used - start]
            yield from (held[at : at + size] for at in range(0, len(held), size))
            start += len(block)

    def view(self) -> NDArray[Item]:
        """Return what is held in one piece, good until the next change."""
        if len(self._blocks) != 1:
            whole, end = np.empty(self._used, dtype=self._kind), self._used
            while self._blocks:  # a block is let go of when it is copied, so there is hardly ever more than one copy
                block = self._blocks.pop()
                self._room -= len(block)
                whole[self._room : end] = block[: end - self._room]
                end = self._room
            self._blocks, self._room = [whole], self._used
        return self._blocks[0][: self._used]

    def sorted_items(self) -> NDArray[Item]:
        """Return what is held, put in order."""
        whole = self.view()
        whole.sort()
        return whole

    def clear(self) -> None:
        """Forget everything."""
        self._blocks, self._used, self._room = [], 0, 0
        self._held.resize(0)


class ClassCounter:
    """Counts of classes whose packed codes are `width` numbers wide; `classes` is how many there can be, if known."""

    def __init__(self, width: int, classes: int | None, memory: ArrayMemory | None = None) -> None:
        self._memory = memory or ArrayMemory()
        self._held = HeldMemory(self._memory)
        self._few: Counts | None = None
        if width == 1 and classes is not None and 8 * classes <= self._memory.at_most(8 * _FEW, 4):
            self._held.resize(8 * classes)
            self._few = np.zeros(classes, dtype=np.int64)
        self._most = self._memory.at_most(_MANY * width, 32) // width
        self._new: tuple[GrowingArray[np.int64], ...] = tuple(
            GrowingArray(np.int64, self._memory) for _ in range(width)
        )
        self._known: tuple[PackedCodes, Counts] = (
            tuple(np.empty(0, np.int64) for _ in range(width)),
            np.empty(0, np.int64),
        )

    def add(self, codes: PackedCodes) -> None:
        """Count some more rows."""
        if self._few is not None:
            np.add.at(self._few, codes[0], 1)  # bincount would go over all classes each time
            return
        for column, values in zip(self._new, codes, strict=True):
            column.extend(values)
        if len(self._new[0]) > max(self._most, 2 * len(self._known[1])):
            self._settle()

    def counts(self) -> tuple[PackedCodes, Counts]:
        """Return the classes that occur, in order, and how often."""
        if self._few is not None:
            occurring = np.flatnonzero(self._few)
            return (occurring,), self._few[occurring]
        self._settle()
        return self._known

    def _settle(self) -> None:
        known, counts = self._known
        # What sorting takes: an order, and the columns once more.
        self._memory.check(8 * (len(self._new) + 1) * (len(self._new[0]) + len(counts)))
        if len(self._new) == 1:
            new = runs((self._new[0].sorted_items(),))
        else:
            codes = tuple(column.view() for column in self._new)
            order = np.lexsort(codes[::-1])
            new = runs(tuple(code[order] for code in codes))
        for column in self._new:
            column.clear()
        self._known = new if not len(counts) else _merge((known, counts), new)
        self._held.resize(8 * (len(self._new) + 1) * len(self._known[1]))


def _merge(first: tuple[PackedCodes, Counts], second: tuple[PackedCodes, Counts]) -> tuple[PackedCodes, Counts]:
    codes = tuple(np.concatenate(pair) for pair in zip(first[0], second[0], strict=True))
    counts = np.concatenate([first[1], second[1]])
    order = np.lexsort(codes[::-1])
    codes = tuple(code[order] for code in codes)
    starts = np.flatnonzero(begins(codes))
    return tuple(code[starts] for code in codes), np.add.reduceat(counts[order], starts)
