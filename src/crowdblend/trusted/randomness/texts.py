"""Texts in one array of bytes, as columnar formats hold them, and the whole numbers among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]
Blocks = NDArray[np.uint64]  # rows of two words: 16 bytes

# Bytes around the texts, so that words that reach beyond a text can be read.
_MARGIN = 48
_SHORT = 18  # digits that fit 64 bits whatever they are
_LONGEST = 39  # digits of the largest number of 128 bits
_DIGITS = np.uint64(0x3030303030303030)
_BEYOND_NINE = np.uint64(0x4646464646464646)
_TOP_BITS = np.uint64(0x8080808080808080)
# By n: the last n of a word's 8 bytes.
_LAST_BYTES = np.array([(2**64 - 1) & ~(2 ** (64 - 8 * n) - 1) for n in range(9)], dtype=np.uint64)


@dataclass(frozen=True)
class Texts:
    """Texts as UTF-8 bytes in one array with a margin on both sides: where each begins, and its length.

    `no_numbers` says that none of them spells a whole number, where that was found out before. `length` is that of all
    of them, where they have one and lie side by side: then nothing has to be gathered.
    """

    held: NDArray[np.uint8]
    starts: Integers
    lengths: Integers
    no_numbers: bool = False
    length: int | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, some: slice | Mask | Integers) -> Texts:
        if isinstance(some, slice):
            return Texts(self.held, self.starts[some], self.lengths[some], self.no_numbers, self.length)
        rows = np.flatnonzero(some) if some.dtype == np.bool_ else some
        return Texts(self.held, self.starts.take(rows), self.lengths.take(rows), self.no_numbers)

    def bytes_at(self, places: Integers) -> NDArray[np.uint8]:
        """Return a byte at each place."""
        return self.held.take(places)

    def words_at(self, places: Integers) -> NDArray[np.uint64]:
        """Return the 8 bytes from each place on, the first one lowest."""
        items, steps = self._items(8), np.diff(places)
        if len(steps) and steps[0] > 0 and (steps == steps[0]).all():  # texts of one length: no gather at all
            items = items[places[0] : places[-1] + 1 : steps[0]].copy()
        else:
            items = items[places]
        return items.view("<u8").astype(np.uint64, copy=False)

    @cached_property
    def first_bytes(self) -> NDArray[np.uint8]:
        """The first byte of each text."""
        return self._items_from(0, 1).view(np.uint8)

    def words_from(self, begin: int) -> NDArray[np.uint64]:
        """Return 8 bytes of each text from one of its bytes on, the first one lowest; they may reach beyond it."""
        return self._items_from(begin, 8).view("<u8").astype(np.uint64, copy=False)

    def blocks_from(self, begin: int) -> Blocks:
        """Return 16 bytes of each text from one of its bytes on, as two words."""
        return self._items_from(begin, 16).view("<u8").astype(np.uint64, copy=False).reshape(-1, 2)

    def _items_from(self, begin: int, size: int) -> NDArray[Any]:
        if not self.length or not len(self):
            return self._items(size)[self.starts + begin]
        first = int(self.starts[0]) + begin
        return self._items(size)[first : first + self.length * (len(self) - 1) + 1 : self.length].copy()

    def _items(self, size: int) -> NDArray[Any]:
        """Return an item for each byte, which begins there: one gather reads them all, and they need no alignment."""
        shape, kind = (len(self.held) - size + 1,), np.dtype((np.void, size))
        return np.ndarray(shape, dtype=kind, buffer=self.held, strides=(1,))

    def spell(self, row: int) -> bytes:
        """Return one text."""
        start = int(self.starts[row])
        return self.held[start : start + int(self.lengths[row])].tobytes()


def texts_between(offsets: NDArray[np.generic], data: NDArray[np.uint8]) -> Texts:
    """Return the texts between successive offsets into the data, as Arrow holds them."""
    edges = offsets.astype(np.int64)
    first, last = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
    held = np.empty(last - first + 2 * _MARGIN, dtype=np.uint8)
    held[:_MARGIN], held[_MARGIN : _MARGIN + last - first], held[-_MARGIN:] = 0, data[first:last], 0
    lengths = np.diff(edges)
    length = int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else None
    return Texts(held, edges[:-1] + (_MARGIN - first), lengths, length=length)


def texts_joined(text_bytes: bytes, parts: Sequence[bytes] | Sequence[str]) -> Texts:
    """Return the parts that were joined, of which a string is ASCII, so its length is that of its bytes."""
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=offsets[1:])
    return texts_between(offsets, np.frombuffer(text_bytes, dtype=np.uint8))


@dataclass(frozen=True)
class WholeNumbers:
    """The texts that spell a whole number without leading zeros or plus sign, by row: short ones with their values."""

    short: Mask
    values: Integers  # of the short ones
    longer: Integers  # the rows of those with 19 to 39 digits

    def others(self, texts: Texts) -> Texts:
        """Return the texts that spell no short one."""
        left = texts if not len(self.values) else texts[~self.short]
        return left if len(self.longer) else replace(left, no_numbers=True)


def whole_numbers(texts: Texts) -> WholeNumbers:
    """Find the whole numbers, eight digits at a time."""
    short = np.zeros(len(texts), dtype=np.bool_)
    # A minus sign, a digit, or one of the two characters between them.
    rows = np.flatnonzero(texts.first_bytes - np.uint8(ord("-")) <= ord("9") - ord("-"))
    rows = rows[_may_be_numbers(texts[rows])]
    some = texts[rows]
    negative = some.first_bytes == ord("-")
    ends, digits = some.starts + some.lengths, some.lengths - negative
    values = np.zeros(len(rows), dtype=np.uint64)
    for read in range(0, int(digits.max(initial=0)), 8):
        ours = _LAST_BYTES.take((digits - read).clip(0, 8))
        words = (texts.words_at(ends - (read + 8)) & ours) | (_DIGITS & ~ours)
        fine = ((words + _BEYOND_NINE) | (words - _DIGITS)) & _TOP_BITS == 0
        if not fine.all():
            rows, negative, ends, digits = rows[fine], negative[fine], ends[fine], digits[fine]
            values, words = values[fine], words[fine]
        if read < _SHORT:
            values += _value(words) * np.uint64(10**read)
    is_short = digits <= _SHORT
    short[rows[is_short]] = True
    signed = values[is_short].astype(np.int64)
    return WholeNumbers(short, np.where(negative[is_short], -signed, signed), rows[~is_short])


def _may_be_numbers(texts: Texts) -> Mask:
    """Return the texts that begin like a whole number and are not too long for one."""
    first = texts.bytes_at(texts.starts)
    negative = first == ord("-")
    leading = texts.bytes_at(texts.starts + negative) if negative.any() else first
    digits = texts.lengths - negative
    begins = (leading - np.uint8(ord("1")) < 9) & (digits > 0) & (digits <= _LONGEST)
    found: Mask = begins | ((first == ord("0")) & (texts.lengths == 1))
    return found


def _value(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the values of eight digits each: of pairs of neighbours, then of all four pairs in two products."""
    pairs = words - _DIGITS
    pairs = pairs * np.uint64(10) + (pairs >> np.uint64(8))
    every_other = np.uint64(0x000000FF000000FF)
    odd = (pairs & every_other) * np.uint64(100 + (1_000_000 << 32))
    even = ((pairs >> np.uint64(16)) & every_other) * np.uint64(1 + (10_000 << 32))
    value: NDArray[np.uint64] = (odd + even) >> np.uint64(32)
    return value
