"""Ids by which a source is recognized, sifted from the batches that are read anyway.

A sketch needs the few ids whose hash is small. To find them, the database would decode and hash every id once more;
here they are found among those that the coin has at hand, by the database's own function in NumPy. The database then
hashes what is left and drops what it would not have kept. Where it has another function, or may take an id for a
number or a date that is spelled in another way, nothing is sifted, and it reads the ids itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdblend.ledger.identity import Anchor
from crowdblend.sources.engines.arrow_numbers import arrow_numbers
from crowdblend.sources.engines.persons import Mask, Persons
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.randomness.texts import Texts, texts_joined

Hashed = NDArray[np.uint64]

_SEED, _BY_LENGTH = 0xE17A1465, 0xC6A4A7935BD1E995
_FACTOR, _HALF = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
# Zeros with which a hash may have to begin: they are in its upper half.
HIGHEST = 32
# By n: the first n of a word's 8 bytes.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
# Ids hashed at once, which stay in the caches; longer ones are left to the database.
_PIECE = 1 << 14
_LONGEST = 255
# Texts that begin with a smaller character may be numbers, dates or times; those of the form of a UUID are none.
FIRST_LETTER, UUID = ":", "________-____-____-____-____________"


class IdSieve:
    """The ids of one column whose hash begins with `level` zeros."""

    def __init__(self, anchor: Anchor, level: int) -> None:
        self.anchor, self.level, self.complete = anchor, level, False
        self._kept: list[pa.Array] | None = []

    def add(self, ids: pa.Array, persons: Persons) -> None:
        """Sift some ids, given as persons too."""
        numbers, texts = persons.numbers, persons.texts
        if len(texts) and (_perhaps_numbers(texts) or texts.lengths.max() > _LONGEST):
            self._kept = None
        if self._kept is not None and not self.complete:
            small = persons.by_row(
                self._small(len(numbers), lambda some: hash_numbers(numbers[some])),
                lambda: self._small(len(texts), lambda some: hash_texts(texts[some])),
            )
            self._kept.append(_take(ids, np.flatnonzero(small)))

    def ids(self) -> pa.Table | None:
        """Return the ids that are left, in a column `id`; None unless all have been looked at."""
        return pa.table({"id": pa.chunked_array(self._kept)}) if self._kept and self.complete else None

    def _small(self, rows: int, hashes_of: Callable[[slice], Hashed]) -> Mask:
        small, bound = np.empty(rows, dtype=np.bool_), np.uint64(1 << (64 - self.level))
        for start in range(0, rows, _PIECE):
            np.less(hashes_of(slice(start, start + _PIECE)), bound, out=small[start : start + _PIECE])
        return small


def _take(ids: pa.Array, places: NDArray[np.intp]) -> pa.Array:
    """Return the few ids at these places: Arrow's functions, which would do it, take a tenth of a second to load."""
    if pa.types.is_integer(ids.type):
        return arrow_numbers(ids.to_numpy().take(places))
    return pa.array([ids[place].as_py() for place in places.tolist()], ids.type)


def _perhaps_numbers(texts: Texts) -> bool:
    some = texts[texts.first_bytes < ord(FIRST_LETTER)]
    if (some.lengths != len(UUID)).any():
        return True
    dashes = (place for place, character in enumerate(UUID) if character == "-")
    return any((some.bytes_at(some.starts + place) != ord("-")).any() for place in dashes)


def hashes_alike(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the database hashes whole numbers and texts of all lengths as we do, to the upper half."""
    some = "SELECT i * 1234567890123 - 7 AS n, repeat('Identity', 5)[:i] AS t FROM range(1, 40) AS of(i)"
    found = connection.execute(f"SELECT n, t, hash(n), hash(t) FROM ({some})").fetchall()
    numbers, texts, *hashes = zip(*found, strict=True)
    ours = hash_numbers(np.array(numbers)), hash_texts(texts_joined("".join(texts).encode(), texts))
    pairs = zip(hashes, ours, strict=True)
    return all(np.array_equal(np.array(one, np.uint64) >> _HALF, other >> _HALF) for one, other in pairs)


def hash_numbers(numbers: NDArray[np.int64]) -> Hashed:
    """Return the database's hash of 64-bit numbers; its lower half is another."""
    return _upper_half(numbers.view(np.uint64))


def hash_texts(texts: Texts) -> Hashed:
    """Return the same of texts: the hash of their length, and of their bytes by words of eight."""
    if texts.length:
        return _hash_equally_long(texts, texts.length)
    hashes = np.uint64(_SEED) ^ texts.lengths.astype(np.uint64) * np.uint64(_BY_LENGTH)
    for begin in range(0, int(texts.lengths.max(initial=0)), 8):
        rows = np.flatnonzero(texts.lengths > begin)
        words = texts[rows].words_from(begin)
        words &= _FIRST_BYTES.take(texts.lengths[rows] - begin, mode="clip")
        hashes[rows] = (hashes[rows] ^ words) * _FACTOR
    return _upper_half(hashes)


def _hash_equally_long(texts: Texts, length: int) -> Hashed:
    hashes = np.asarray(np.uint64(_SEED ^ length * _BY_LENGTH % 2**64))
    for begin in range(0, length, 8):
        words = texts.words_from(begin)
        if length - begin < 8:
            words &= _FIRST_BYTES[length - begin]
        words ^= hashes
        words *= _FACTOR
        hashes = words
    return _upper_half(hashes)


def _upper_half(hashes: Hashed) -> Hashed:
    """Return the last steps of the database's hash but one, which only changes the lower half."""
    for _ in range(2):
        hashes = hashes >> _HALF ^ hashes
        hashes *= _FACTOR
    return hashes
