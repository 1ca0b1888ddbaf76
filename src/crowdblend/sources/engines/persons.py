"""One row per person: who is drawn, and what happens when someone who is drawn has several rows.

All rows of a person share the coin, so a second row of someone who is drawn is drawn too, and a second row of
someone who is not is irrelevant. Only the sample has to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.code_rows import begins
from crowdblend.sources.engines.array_memory import ArrayMemory, HeldMemory
from crowdblend.sources.engines.class_counter import GrowingArray, PackedCodes
from crowdblend.sources.engines.refusals import missing_person, repeated_person
from crowdblend.trusted.machine.packages import compute
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.randomness import coins, marks
from crowdblend.trusted.randomness.coin import draw
from crowdblend.trusted.randomness.mac import Mac
from crowdblend.trusted.randomness.source import subkey
from crowdblend.trusted.randomness.texts import Texts, texts_between, whole_numbers

Mask = NDArray[np.bool_]
# Rows by their number in a batch, rising.
Places = NDArray[np.intp]

# Bits of a word by which most words are told from those that may come twice.
_BEGINNING = 21
# Up to two to the power of this many words are sorted at once.
_SORTED_BITS = 22
_NO_TEXTS = texts_between(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8))


@dataclass(frozen=True)
class Persons:
    """The persons of a batch of rows: 64-bit numbers, and the texts that spell none of up to 18 digits."""

    numbers: NDArray[np.int64]
    texts: Texts
    is_number: Mask | None  # by row; None when all are numbers or all are texts
    marked: tuple[bytes, NDArray[np.uint64]] | None = field(default=None, repr=False, compare=False)
    """A key and the marks of the texts under it, where they are known already."""

    def sampled_rows(self, key: bytes, rate: float) -> tuple[Places, Persons]:
        """Return the rows in the sample, and their persons, who remember coins of texts."""
        if self.is_number is not None or not len(self.texts):
            places = np.flatnonzero(self.drawn(key, rate))
            return places, self.at(places)
        places, marked = draw(key, self.texts, rate)
        return places, replace(self.at(places), marked=(key, marked))

    def marks_of_texts(self, key: bytes) -> NDArray[np.uint64]:
        """Return the marks of the texts alone."""
        return self.marked[1] if self.marked is not None and self.marked[0] == key else marks(key, self.texts)

    def drawn(self, key: bytes, rate: float | Fraction) -> Mask:
        """Return the rows in the sample."""
        return self.by_row(coins(key, self.numbers, rate), lambda: coins(key, self.texts, rate))

    def marks(self, key: bytes) -> NDArray[np.uint64]:
        """Return the two words of every row's mark."""
        return self.by_row(marks(key, self.numbers), lambda: marks(key, self.texts))

    def at(self, places: Places) -> Persons:
        """Return the persons of some of the rows, in their order."""
        if self.is_number is None and len(self.texts):
            return Persons(self.numbers, self.texts[places], None)
        if self.is_number is None:
            return Persons(self.numbers.take(places), _NO_TEXTS, None)
        keep = np.zeros(len(self.is_number), dtype=np.bool_)
        keep[places] = True
        numbers, texts = self.numbers[keep[self.is_number]], self.texts[keep[~self.is_number]]
        return Persons(numbers, texts, self.is_number[places])

    def by_row(self, of_numbers: NDArray[Any], of_texts: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return a value of each row, out of those of the numbers and those of the texts."""
        if self.is_number is None:
            return of_texts() if len(self.texts) else of_numbers
        by_row = np.empty((len(self.is_number), *of_numbers.shape[1:]), dtype=of_numbers.dtype)
        by_row[self.is_number] = of_numbers
        by_row[~self.is_number] = of_texts()
        return by_row


def read_persons(column: pa.Array, name: str) -> Persons:
    """Return the persons of a column of 64-bit numbers or texts; 12 and "12" are one person."""
    if column.null_count:
        raise missing_person(name)
    if pa.types.is_integer(column.type):
        return Persons(column.to_numpy(), _NO_TEXTS, None)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    texts = _texts(column)
    found = whole_numbers(texts)
    if found.short.all():
        return Persons(found.values, _NO_TEXTS, None)
    # What is blank is empty or begins with a blank, so most texts need no second look.
    perhaps = np.flatnonzero((texts.lengths == 0) | (texts.first_bytes <= ord(" ")))
    if len(perhaps):
        trimmed = compute.ascii_trim_whitespace(column.take(pa.array(perhaps)))
        if compute.any(compute.equal(trimmed, "")).as_py():
            raise missing_person(name)
    return Persons(found.values, found.others(texts), found.short if len(found.values) else None)


def _texts(column: pa.Array) -> Texts:
    """Return the texts of a column, whose bytes Arrow holds in one piece."""
    if not len(column):
        return _NO_TEXTS
    _, offsets, data = column.buffers()
    wide = np.int32 if pa.types.is_string(column.type) else np.int64
    edges = np.frombuffer(offsets, dtype=wide)[column.offset : column.offset + len(column) + 1]
    return texts_between(edges, np.frombuffer(data or b"", dtype=np.uint8))


class DuplicateCheck:
    """Refuses a second row of anyone in the sample, exactly; about how many rows there are may be known."""

    def __init__(self, key: bytes, name: str, memory: ArrayMemory, rows: int = 0) -> None:
        self._key, self._name = key, name
        self._numbers = Repetition(memory, rows)
        self._texts: GrowingArray[np.uint64] = GrowingArray(np.uint64, memory)

    def add(self, persons: Persons) -> None:
        """Add rows of the sample."""
        self._numbers.add(persons.numbers)
        if len(persons.texts):
            self._texts.extend(persons.marks_of_texts(self._key)[:, 0])

    def check(self, again: Callable[[], Iterable[Persons]]) -> None:
        """Refuse if anyone has two rows; `again` goes through the sample once more."""
        suspects = _repeated_words(self._texts)
        if self._numbers.found() or (len(suspects) and self._same_mark(suspects, again())):
            raise repeated_person(self._name)

    def _same_mark(self, suspects: NDArray[np.uint64], sample: Iterable[Persons]) -> bool:
        """Return whether two rows agree in both words of the mark; one word may agree by chance."""
        marked = [marks(self._key, persons.texts) for persons in sample if len(persons.texts)]
        found = np.concatenate([some[np.isin(some[:, 0], suspects)] for some in marked])
        return len(np.unique(found, axis=0)) < len(found)


def _repeated_words(words: GrowingArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the words that come again. Their upper halves are sorted in half of the time, and few agree by chance.

    Of many words, those with the same beginning are sorted together, so that the copy is a small part of them.
    """
    begins_like_one = np.zeros(1 << _BEGINNING, np.bool_)
    bits = max(0, (len(words) >> _SORTED_BITS).bit_length())
    for part in range(1 << bits):
        halves: GrowingArray[np.uint32] = GrowingArray(np.uint32)
        for piece in words.pieces(_PIECE):
            halves.extend(_upper_halves(piece, part, bits))
        upper = halves.sorted_items()
        begins_like_one[upper[1:][upper[1:] == upper[:-1]] >> np.uint32(32 - _BEGINNING)] = True
    few = [piece[begins_like_one.take(piece >> np.uint64(64 - _BEGINNING))] for piece in words.pieces(_PIECE)]
    ordered = np.sort(np.concatenate([np.empty(0, np.uint64), *few]))
    repeated: NDArray[np.uint64] = ordered[1:][ordered[1:] == ordered[:-1]]
    return repeated


def _upper_halves(words: NDArray[np.uint64], part: int, bits: int) -> NDArray[np.uint32]:
    """Return the upper halves of the words that begin with these bits."""
    upper: NDArray[np.uint32] = (words >> np.uint64(32)).astype(np.uint32)
    return upper if bits == 0 else upper[upper >> np.uint32(32 - bits) == part]


class RandomRowPerPerson:
    """Keeps one random row of everybody in the sample.

    Among a person's rows of different classes each is equally likely, and which one it is depends on the key, the
    person and these rows and on nothing else: neither on the order of the rows nor on other people.
    """

    def __init__(self, key: bytes, width: int, memory: ArrayMemory) -> None:
        self._ticket = Mac(subkey(key, b"person", b"row"))
        self._marks: tuple[GrowingArray[np.uint64], ...] = tuple(GrowingArray(np.uint64, memory) for _ in range(2))
        self._codes: tuple[GrowingArray[np.int64], ...] = tuple(GrowingArray(np.int64, memory) for _ in range(width))
        self._memory = memory

    def add(self, marks: NDArray[np.uint64], codes: PackedCodes) -> None:
        """Add rows of the sample: the two words of their persons' marks, and their classes."""
        for mark, word in zip(self._marks, marks.T, strict=True):
            mark.extend(word)
        for column, values in zip(self._codes, codes, strict=True):
            column.extend(values)

    def several(
        self,
        content: Callable[[PackedCodes], NDArray[np.uint64]],
        most: int,
        crowds: Callable[[PackedCodes], PackedCodes] | None = None,
    ) -> tuple[PackedCodes, NDArray[np.uint64], int]:
        """The classes of at most this many random rows of everybody, their persons' marks, and the number of people.

        All sets of `most` rows of a person are equally likely: rows of one class have tickets of their own, by their
        number among them. With `crowds`, one random row of those of one person and crowd is left before, so that a
        crowd counts people.
        """
        low, high = (column.view() for column in self._marks)
        codes = tuple(column.view() for column in self._codes)
        self._memory.check(8 * len(low) * (4 + len(codes)))
        order = np.lexsort((*codes[::-1], low, high))
        if crowds is not None:
            order = self._one_of_each(order, low, high, codes, content, crowds)
        low, high, codes = low[order], high[order], tuple(code[order] for code in codes)
        run = np.cumsum(begins((low, high))) - 1
        crowded = np.flatnonzero(np.bincount(run, minlength=1)[run] > most)
        some = tuple(code[crowded] for code in codes)
        said = content(some)
        ticket = self._ticket.of_rows(
            np.column_stack([low[crowded], high[crowded], said, _numbers((run[crowded], *some)).astype(np.uint64)])
        )
        best = np.lexsort((ticket[:, 0], ticket[:, 1], run[crowded]))
        keep = np.ones(len(run), dtype=np.bool_)
        keep[crowded[best[_numbers((run[crowded][best],)) >= most]]] = False
        marks = np.column_stack([low[keep], high[keep]])
        return tuple(code[keep] for code in codes), marks, int(run[-1]) + 1 if len(run) else 0

    def _one_of_each(
        self,
        order: NDArray[np.intp],
        low: NDArray[np.uint64],
        high: NDArray[np.uint64],
        codes: PackedCodes,
        content: Callable[[PackedCodes], NDArray[np.uint64]],
        crowds: Callable[[PackedCodes], PackedCodes],
    ) -> NDArray[np.intp]:
        """Return the first of the rows of one person and class, and a random one of those of one crowd."""
        order = order[begins((high[order], low[order], *(code[order] for code in codes)))]
        low, high, codes = low[order], high[order], tuple(code[order] for code in codes)
        within = crowds(codes)
        if within is codes:
            return order
        ticket = self._ticket.of_rows(np.column_stack([low, high, content(codes), np.zeros(len(low), np.uint64)]))
        best = np.lexsort((ticket[:, 0], ticket[:, 1], *within[::-1], low, high))
        return order[np.sort(best[begins((high[best], low[best], *(one[best] for one in within)))])]

    def choose_rows(
        self, content: Callable[[PackedCodes], NDArray[np.uint64]]
    ) -> tuple[PackedCodes, NDArray[np.uint64]]:
        """The classes of the rows that are kept, and the marks of their persons; `content` is what a class says."""
        low, high = (column.view() for column in self._marks)
        codes = tuple(column.view() for column in self._codes)
        self._memory.check(8 * len(low) * (2 + len(codes)))
        order = np.lexsort((low, high))
        new = begins((low[order], high[order]))
        run = np.cumsum(new) - 1
        shared = np.bincount(run)[run] > 1
        several, alone = order[shared], order[~shared]
        of_several = tuple(code[several] for code in codes)
        said = content(of_several)
        # Of person and content: rows of the same width, as the function wants.
        ticket = self._ticket.of_rows(np.column_stack([low[several], high[several], said]))
        best = np.lexsort((*said.T[::-1], ticket[:, 0], ticket[:, 1], run[shared]))
        first = best[begins((run[shared][best],))]
        kept = np.concatenate([alone, several[first]])
        return tuple(code[kept] for code in codes), np.column_stack([low[kept], high[kept]])

    @property
    def rows(self) -> int:
        """The number of rows added."""
        return len(self._marks[0])


def _numbers(sorted_values: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """0, 1, 2, … within every run of equal rows."""
    starts = np.flatnonzero(begins(sorted_values))
    lengths = np.diff(starts, append=len(sorted_values[0]))
    return np.arange(len(sorted_values[0])) - np.repeat(starts, lengths)


Numbers = NDArray[np.int64]

# A bit for every number within this distance: 32 MB, of many numbers up to 256 MB as long as each has a byte; and only
# the touched part is really there.
_WINDOW, _WIDEST = 1 << 28, 1 << 31
# Numbers gone through at once, where what is made of them should stay in the caches.
_PIECE = 1 << 17


class Repetition:
    """A search for repeated numbers, of which there are about `size`."""

    def __init__(self, memory: ArrayMemory, size: int = 0) -> None:
        window = max(_WINDOW, min(_WIDEST, 8 * size))
        self._memory, self._window = memory, 8 * memory.at_most(window // 8, 4)
        self._near: _Near | None = None
        self._listed = _SparseNumbers(memory)
        self._certain = False

    def add(self, numbers: Numbers) -> None:
        """Add numbers."""
        if not len(numbers) or self._certain:
            return
        low, high = int(numbers.min()), int(numbers.max())
        if self._near is None and not len(self._listed) and high - low < self._window:
            # Most tables number their people from one.
            middle = max((low + high) // 2 - self._window // 2, -(1 << 63))
            self._near = _Near(0 if low >= 0 and high < self._window else middle, self._window, self._memory)
        if self._near is not None and self._near.reaches(low, high):
            self._near.add(numbers, low, high)
            return
        if self._near is not None:  # list what is near each other, because something comes that is not
            self._certain = self._near.repeated()  # the list has each of them once
            for some in self._near.numbers():
                self._listed.add(some, int(some[0]), int(some[-1]))
            self._near = None
        self._listed.add(numbers, low, high)

    def found(self) -> bool:
        """Return whether a number came twice."""
        return self._certain or (self._listed if self._near is None else self._near).repeated()


class _SparseNumbers:
    """Numbers however far apart: their lower 32 bits while these tell them apart, else the whole numbers.

    Half as much is sorted in half of the time. Numbers from m to m + 2^32 − 1 differ in their lower 32 bits; with bits
    l, the number is m + ((l − m) mod 2^32), so nothing is lost when a number comes from further away after all.
    """

    def __init__(self, memory: ArrayMemory) -> None:
        self._lower: GrowingArray[np.uint32] | None = GrowingArray(np.uint32, memory)
        self._whole: GrowingArray[np.int64] = GrowingArray(np.int64, memory)
        self._least, self._most = (1 << 63) - 1, -(1 << 63)

    def __len__(self) -> int:
        return len(self._whole if self._lower is None else self._lower)

    def add(self, numbers: Numbers, low: int, high: int) -> None:
        """Add numbers from low to high."""
        least, most = min(low, self._least), max(high, self._most)
        if self._lower is not None and most - least < 1 << 32:
            self._lower.extend(numbers)
        else:
            if self._lower is not None:
                known = self._lower.view()
                for start in range(0, len(known), _PIECE):
                    above = known[start : start + _PIECE] - np.uint32(self._least & (1 << 32) - 1)
                    self._whole.extend(above.astype(np.int64) + self._least)
                self._lower = None
            self._whole.extend(numbers)
        self._least, self._most = least, most

    def repeated(self) -> bool:
        """Return whether two are the same."""
        ordered: NDArray[Any] = self._whole.sorted_items() if self._lower is None else self._lower.sorted_items()
        pieces = (ordered[start : start + _PIECE + 1] for start in range(0, len(ordered), _PIECE))
        return any(bool((piece[1:] == piece[:-1]).any()) for piece in pieces)


class _Near:
    """Numbers from the first one of a window to its last, a bit for each.

    A number's bit is added to its byte. A sum of powers of two has as many bits as summands if these differ, and fewer
    if two are alike, also when a carry is lost. So a number came twice if and only if bits are fewer than numbers.
    """

    def __init__(self, first: int, window: int, memory: ArrayMemory) -> None:
        self._first, self._window, self._numbers = first, window, 0
        self._least, self._most = first + window, first
        self._held = HeldMemory(memory)
        self._held.resize(window // 8)
        self._bits = np.zeros(window // 8 + 1, dtype=np.uint8)

    def reaches(self, low: int, high: int) -> bool:
        return self._first <= low and high < self._first + self._window

    def add(self, numbers: Numbers, low: int, high: int) -> None:
        places = numbers - self._first
        bits = np.left_shift(np.uint8(1), places.astype(np.uint8) & np.uint8(7))
        places >>= 3
        np.add.at(self._bits, places, bits)
        self._numbers += len(numbers)
        self._least, self._most = min(low, self._least), max(high, self._most)

    def numbers(self) -> Iterator[Numbers]:
        """Yield every number once, in order, if none came twice."""
        for start, piece in self._pieces():
            places = np.flatnonzero(np.unpackbits(piece, bitorder="little"))
            if len(places):
                yield places + (self._first + 8 * start)

    def repeated(self) -> bool:
        return sum(int(np.bitwise_count(piece).sum()) for _, piece in self._pieces()) < self._numbers

    def _pieces(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield the bytes from the least number to the largest, and where they begin: going through all is slow."""
        stop = (self._most - self._first) // 8 + 1
        for start in range((self._least - self._first) // 8, stop, _PIECE):
            yield start, self._bits[start : min(start + _PIECE, stop)]
