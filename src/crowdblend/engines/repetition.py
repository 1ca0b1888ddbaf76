"""Whether a number comes twice among many, exactly.

    near each other ──▶ a byte for each number that may come
    otherwise       ──▶ a list that is put in order in the end

The list holds the lower 32 bits as long as they tell the numbers apart, because half as much sorts twice as fast.
Numbers from m to m + 2^32 − 1 differ in their lower 32 bits; with bits l, the number is m + ((l − m) mod 2^32). So
nothing is lost when, after all, a number comes from further away and the list must hold all 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import GrowingArray

Numbers = NDArray[np.int64]

# A byte for every number within this distance: at most 256 MB, and only the touched part is really there.
_WINDOW = 1 << 28
# Numbers gone through at once, where what is made of them should stay in the caches.
_PIECE = 1 << 17


class Repetition:
    """Whether some of the numbers seen so far are the same; `expected` is how many will come, if it is known."""

    def __init__(self, memory_limit: int | None, expected: int = 0) -> None:
        self._window = _WINDOW if memory_limit is None else min(_WINDOW, memory_limit // 4)
        self._near: _Near | None = None
        self._listed = _Listed(memory_limit, expected)
        self._certain = False

    def add(self, numbers: Numbers) -> None:
        """Some more numbers."""
        if not len(numbers) or self._certain:
            return
        low, high = int(numbers.min()), int(numbers.max())
        if self._near is None and not len(self._listed) and high - low < self._window:
            self._near = _Near(max((low + high) // 2 - self._window // 2, -(1 << 63)), self._window)
        if self._near is not None and self._near.reaches(low, high):
            self._near.add(numbers, low, high)
            return
        if self._near is not None:
            self._spread(self._near)
        self._listed.add(numbers, low, high)

    def found(self) -> bool:
        """Whether a number came twice."""
        return self._certain or (self._listed if self._near is None else self._near).repeated()

    def _spread(self, near: _Near) -> None:
        """List what is near each other, because something comes that is not."""
        self._certain = near.repeated()  # the list has each of them once
        for numbers in near.numbers():
            self._listed.add(numbers, int(numbers[0]), int(numbers[-1]))
        self._near = None


class _Near:
    """Numbers from the first one of a window to its last, a byte for each."""

    def __init__(self, first: int, window: int) -> None:
        self._first, self._rows = first, 0
        self._least, self._most = first + window, first
        self._seen = np.zeros(window, dtype=np.uint8)

    def reaches(self, low: int, high: int) -> bool:
        return self._first <= low and high < self._first + len(self._seen)

    def add(self, numbers: Numbers, low: int, high: int) -> None:
        self._seen[numbers - self._first] = 1
        self._rows += len(numbers)
        self._least, self._most = min(low, self._least), max(high, self._most)

    def numbers(self) -> Iterator[Numbers]:
        """Every number once, in order."""
        touched = self._touched()
        for start in range(0, len(touched), _PIECE):
            places = np.flatnonzero(touched[start : start + _PIECE])
            if len(places):
                yield places + (self._least + start)

    def repeated(self) -> bool:
        return int(np.count_nonzero(self._touched())) < self._rows

    def _touched(self) -> NDArray[np.uint8]:
        """From the least number to the largest: looking at the rest of the window takes longer than a small release."""
        return self._seen[self._least - self._first : self._most - self._first + 1]


class _Listed:
    """Numbers however far apart: their lower 32 bits while these tell them apart, else the whole numbers."""

    def __init__(self, memory_limit: int | None, expected: int) -> None:
        self._lower: GrowingArray[np.uint32] | None = GrowingArray(np.uint32, memory_limit, expected)
        self._whole: GrowingArray[np.int64] = GrowingArray(np.int64, memory_limit, expected)
        self._least, self._most = (1 << 63) - 1, -(1 << 63)

    def __len__(self) -> int:
        return len(self._whole if self._lower is None else self._lower)

    def add(self, numbers: Numbers, low: int, high: int) -> None:
        """Some more numbers, from low to high."""
        least, most = min(low, self._least), max(high, self._most)
        if self._lower is not None and most - least < 1 << 32:
            self._lower.extend(numbers.astype(np.uint32))  # what does not fit is cut off
        else:
            if self._lower is not None:
                self._complete(self._lower)
            self._whole.extend(numbers)
        self._least, self._most = least, most

    def repeated(self) -> bool:
        """Whether two are the same."""
        ordered = self._whole.sorted() if self._lower is None else self._lower.sorted()
        pieces = (ordered[start : start + _PIECE + 1] for start in range(0, len(ordered), _PIECE))
        return any(bool((piece[1:] == piece[:-1]).any()) for piece in pieces)

    def _complete(self, lower: GrowingArray[np.uint32]) -> None:
        """From lower bits back to numbers; the least one must still be that of the numbers listed."""
        least = np.uint32(self._least & (1 << 32) - 1)
        for bits in lower.emptied():
            for start in range(0, len(bits), _PIECE):
                self._whole.extend((bits[start : start + _PIECE] - least).astype(np.int64) + self._least)
        self._lower = None
