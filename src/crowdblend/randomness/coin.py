"""The keyed coin that decides who is in the sample.

A person's coin depends on the key and the person and on nothing else, so a retry, another engine, another row order
or another number of workers draws the same sample.

A person is a text: what CAST(person AS VARCHAR) gives in SQL. A whole number is the same person as its decimal
spelling without leading zeros or plus sign, so 12, "12" and b"12" are one person and "012" is another. Texts are
compared as UTF-8 bytes, without trimming, case folding or Unicode normalization. NumPy's fixed-width byte arrays drop
zero bytes at the end of a text; use a list for texts that may have them.

Theorem. For an ideal keyed function, every person is kept with probability exactly `rate`, independently of the others.

Proof. The mark of a person is a keyed 128-bit value, uniform and independent between persons. `rate` is a double with
at most 128 binary places, so T = rate·2^128 is a whole number and P[mark < T] = rate. ∎

The functions stand in for the ideal one. Whole numbers of 128 bits: AES-256 of the number in two's complement, a
permutation, so n people differ from ideal by at most n²/2^129 (2^-63 for 8 billion) beyond breaking AES. All other
texts: keyed BLAKE2b. Both have an own subkey, and the spelling decides which is used, so nobody has two marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import compress
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.randomness.keys import subkey

MARK_BITS = 128
# Enough people for the cipher to run at full speed, few enough for the caches.
CHUNK = 1 << 15
WHOLE_NUMBER = re.compile(rb"0|-?[1-9][0-9]{0,38}")
LEAST, MOST = -(1 << 127), (1 << 127) - 1

Person = bytes | str | int
Persons = Sequence[Person] | NDArray[Any]


def coins(key: bytes, persons: Persons, rate: float) -> NDArray[np.bool_]:
    """Which of the persons are in the sample.

    >>> coins(bytes(32), [12, "12", b"12", "012"], 0.5).tolist()
    [True, True, True, True]
    """
    threshold = _threshold(rate)
    kept = np.empty(len(persons), dtype=np.bool_)
    marker = _Marker(key)
    for start in range(0, len(persons), CHUNK):
        kept[start : start + CHUNK] = _under(marker.marks(persons[start : start + CHUNK]), threshold)
    return kept


def marks(key: bytes, persons: Persons) -> NDArray[np.uint64]:
    """The 128-bit mark of each person as a row (low word, high word). Secret: it decides the sample."""
    marker = _Marker(key)
    parts = [marker.marks(persons[start : start + CHUNK]) for start in range(0, len(persons), CHUNK)]
    return np.concatenate([np.empty((0, 2), dtype=np.uint64), *parts])


def _threshold(rate: float) -> int:
    """rate·2^128, which must be whole."""
    if not 0 <= rate <= 1:
        raise InvalidInput(f"rate must be between 0 and 1, got {rate}. Pass the share of people kept.")
    top, bottom = rate.as_integer_ratio()
    if bottom.bit_length() > MARK_BITS + 1:
        raise InvalidInput(f"rate must have at most {MARK_BITS} binary places, got {rate}. Take 0 or at least 1e-22.")
    return (top << MARK_BITS) // bottom


def _under(marked: NDArray[np.uint64], threshold: int) -> NDArray[np.bool_]:
    if threshold >> MARK_BITS:
        return np.ones(len(marked), dtype=np.bool_)
    low, high = np.uint64(threshold & (1 << 64) - 1), np.uint64(threshold >> 64)
    below: NDArray[np.bool_] = (marked[:, 1] < high) | ((marked[:, 1] == high) & (marked[:, 0] < low))
    return below


class _Marker:
    """The two keyed functions."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(AES256(subkey(key, b"person", b"number")), ECB()).encryptor()
        self._hash = blake2b(digest_size=MARK_BITS // 8, key=subkey(key, b"person", b"text"))

    def marks(self, persons: Persons) -> NDArray[np.uint64]:
        if np.ma.is_masked(persons) or (isinstance(persons, np.ndarray) and persons.ndim != 1):
            raise InvalidInput("persons must be a list without gaps; remove people without an identifier.")
        if isinstance(persons, np.ndarray) and persons.dtype.kind in "iu":
            return self._numbers(_blocks(persons))
        return self._mixed(persons.tolist() if isinstance(persons, np.ndarray) else persons)

    def _numbers(self, blocks: bytes) -> NDArray[np.uint64]:
        return _rows(self._cipher.update(blocks))

    def _mixed(self, persons: Sequence[Person]) -> NDArray[np.uint64]:
        texts = [_text(person) for person in persons]
        is_number = np.fromiter(map(_spells_a_number, texts), dtype=np.bool_, count=len(texts))
        marked = np.empty((len(texts), 2), dtype=np.uint64)
        numbers = [int(text).to_bytes(16, "little", signed=True) for text in compress(texts, is_number)]
        marked[is_number] = self._numbers(b"".join(numbers))
        marked[~is_number] = _rows(b"".join([self._of_text(text) for text in compress(texts, ~is_number)]))
        return marked

    def _of_text(self, text: bytes) -> bytes:
        # A copy saves hashing the key again for every person.
        state = self._hash.copy()
        state.update(text)
        return state.digest()


def _rows(marked: bytes) -> NDArray[np.uint64]:
    return np.frombuffer(marked, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def _blocks(numbers: NDArray[Any]) -> bytes:
    """Each number as 16 bytes in two's complement, little-endian."""
    blocks = np.empty((len(numbers), 2), dtype="<u8")
    blocks[:, 0] = numbers.astype(np.uint64)
    blocks[:, 1] = np.where(numbers < 0, np.uint64(2**64 - 1), np.uint64(0)) if numbers.dtype.kind == "i" else 0
    return blocks.tobytes()


def _spells_a_number(text: bytes) -> bool:
    return WHOLE_NUMBER.fullmatch(text) is not None and (len(text) < 39 or LEAST <= int(text) <= MOST)


def _text(person: Person) -> bytes:
    """A person's text in UTF-8."""
    if isinstance(person, bytes):
        return person
    if isinstance(person, str):
        try:
            return person.encode()
        except UnicodeEncodeError:
            # Not chained: the original message quotes the text.
            raise InvalidInput("a person's text must be valid Unicode; repair the identifiers' encoding.") from None
    if isinstance(person, int | np.integer) and not isinstance(person, bool):
        return b"%d" % person
    raise InvalidInput("a person must be a whole number or a text; remove empty and fractional identifiers.")
