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
texts: CBC-MAC with AES-256 of an encoding in which no text is a prefix of another, about n²·ℓ²/2^128 for texts of up to
ℓ blocks of 16 bytes (2^-60 for 8 billion of up to 31 bytes; see `mac`). Both have an own subkey, and the spelling
decides which is used, so nobody has two marks. Marks are never published, so nobody can look for texts that share one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.mac import Mac
from crowdblend.trusted.randomness.source import subkey
from crowdblend.trusted.randomness.texts import Texts, texts_joined, whole_numbers

MARK_BITS = 128
# Enough people for the cipher to run at full speed, few enough for the caches and for memory that need not be asked
# of the operating system anew each time.
CHUNK = 1 << 14
_ONES = np.uint64((1 << 64) - 1)
LEAST, MOST = -(1 << 127), (1 << 127) - 1

Person = bytes | str | int
Persons = Sequence[Person] | NDArray[np.generic] | Texts


def coins(key: bytes, persons: Persons, rate: float | Fraction) -> NDArray[np.bool_]:
    """Return the persons who are in the sample.

    >>> coins(bytes(32), [12, "12", b"12", "012"], 0.5).tolist()
    [True, True, True, True]
    """
    threshold = _threshold(rate)
    kept = np.empty(len(persons), dtype=np.bool_)
    marker = _Marker(key)
    for start in range(0, len(persons), CHUNK):
        kept[start : start + CHUNK] = _under(marker.marks(persons[start : start + CHUNK]), threshold)
    return kept


def draw(key: bytes, persons: Persons, rate: float | Fraction) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Return the places of the persons who are in the sample, and their marks.

    >>> places, marked = draw(bytes(32), ["a", "b", "c", "d"], 0.5)
    >>> bool((marked == marks(bytes(32), ["a", "b", "c", "d"])[places]).all())
    True
    """
    threshold, marker = _threshold(rate), _Marker(key)
    places, marked = np.empty(len(persons), np.intp), np.empty((len(persons), 2), np.uint64)
    used = 0
    for start in range(0, len(persons), CHUNK):
        some = marker.marks(persons[start : start + CHUNK])
        under = np.flatnonzero(_under(some, threshold))
        drawn = slice(used, used + len(under))
        np.add(under, start, out=places[drawn])
        some.take(under, axis=0, out=marked[drawn], mode="clip")
        used = drawn.stop
    return places[:used], marked[:used]


def marks(key: bytes, persons: Persons) -> NDArray[np.uint64]:
    """Return the 128-bit mark of each person as a row (low word, high word). Secret: it decides the sample."""
    marker = _Marker(key)
    parts = [marker.marks(persons[start : start + CHUNK]) for start in range(0, len(persons), CHUNK)]
    return np.concatenate([np.empty((0, 2), dtype=np.uint64), *parts])


def below_rate(marks: NDArray[np.uint64], rate: float | Fraction) -> NDArray[np.bool_]:
    """Return the marks below a rate, whose persons are in a sample at that rate.

    One mark decides for every rate, so that a person's coin is uniform whatever the rate of the person's stratum.

    >>> marked = marks(bytes(32), range(1000))
    >>> bool((below_rate(marked, 0.3) == coins(bytes(32), range(1000), 0.3)).all())
    True
    """
    return _under(marks, _threshold(rate))


def _threshold(rate: float | Fraction) -> int:
    """rate·2^128, which must be whole."""
    if not 0 <= rate <= 1:
        message = f"rate must be between 0 and 1, got {rate}. Pass the share of people kept."
        raise InvalidInput(message, where="rate", code="randomness.rate")
    top, bottom = rate.as_integer_ratio()
    if bottom.bit_length() > MARK_BITS + 1:
        message = f"rate must have at most {MARK_BITS} binary places, got {rate}. Take 0 or at least 1e-22."
        raise InvalidInput(message, where="rate", code="randomness.rate-too-fine")
    return (top << MARK_BITS) // bottom


def _under(marks: NDArray[np.uint64], threshold: int) -> NDArray[np.bool_]:
    if threshold >> MARK_BITS:
        return np.ones(len(marks), dtype=np.bool_)
    low, high = np.uint64(threshold & (1 << 64) - 1), np.uint64(threshold >> 64)
    high_words = np.ascontiguousarray(marks[:, 1])  # side by side they are compared several at once
    below: NDArray[np.bool_] = high_words < high
    if low:  # it decides for one mark in 2^64; rates of few binary places have none here
        equal = np.flatnonzero(high_words == high)
        below[equal] = marks[equal, 0] < low
    return below


class _Marker:
    """The two keyed functions; that of texts is made when there are some."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._of_number = Mac(subkey(key, b"person", b"number"))

    @cached_property
    def _of_text(self) -> Mac:
        return Mac(subkey(self._key, b"person", b"text"))

    def marks(self, persons: Persons) -> NDArray[np.uint64]:
        if isinstance(persons, Texts):
            return self._texts(persons)
        if _has_gaps(persons) or (isinstance(persons, np.ndarray) and persons.ndim != 1):
            message = "persons must be a list without gaps; remove people without an identifier."
            raise InvalidInput(message, where="persons", code="randomness.person")
        if isinstance(persons, np.ndarray) and persons.dtype.kind in "iu":
            return self._of_number.of_rows(_words(persons))
        return self._texts(_texts(persons.tolist() if isinstance(persons, np.ndarray) else persons))

    def _texts(self, texts: Texts) -> NDArray[np.uint64]:
        if texts.no_numbers:
            return self._of_text.of_texts(texts)
        numbers = whole_numbers(texts)
        long = {row: int(texts.spell(row)) for row in numbers.longer.tolist()}
        long = {row: number for row, number in long.items() if LEAST <= number <= MOST}
        others = ~numbers.short
        others[list(long)] = False
        if others.all():
            return self._of_text.of_texts(texts)
        marked = np.empty((len(texts), 2), dtype=np.uint64)
        marked[numbers.short] = self._of_number.of_rows(_words(numbers.values))
        blocks = b"".join([number.to_bytes(MARK_BITS // 8, "little", signed=True) for number in long.values()])
        marked[list(long)] = self._of_number.of_rows(np.frombuffer(blocks, dtype="<u8").reshape(-1, 2))
        marked[others] = self._of_text.of_texts(texts[others])
        return marked


def _has_gaps(persons: Persons) -> bool:
    """Return whether it is an array with masked entries; who has one has loaded masked arrays, which takes a while."""
    return "numpy.ma" in sys.modules and np.ma.is_masked(persons)


def _words(numbers: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return each number in two's complement as a row (low word, high word)."""
    words = np.zeros((len(numbers), 2), dtype=np.uint64)
    if numbers.dtype.kind == "u":
        words[:, 0] = numbers
        return words
    signed = np.asarray(numbers, np.int64)
    words[:, 0] = signed.view(np.uint64)
    if signed.min(initial=0) < 0:
        words[signed < 0, 1] = _ONES
    return words


def _texts(persons: Sequence[Person]) -> Texts:
    """Return the persons' texts in one array; the usual lists of one type are not gone through one by one."""
    try:
        joined = "".join(persons)  # type: ignore[arg-type]
    except TypeError:
        joined = None
    if joined is not None and joined.isascii():
        return texts_joined(joined.encode(), persons)  # type: ignore[arg-type]
    spelled = [_text(person) for person in persons]
    return texts_joined(b"".join(spelled), spelled)


def _text(person: Person) -> bytes:
    """Return a person's text in UTF-8."""
    if isinstance(person, bytes):
        return person
    if isinstance(person, str):
        try:
            return person.encode()
        except UnicodeEncodeError:
            # Not chained: the original message quotes the text.
            message = "A person's text must be valid Unicode; repair the identifiers' encoding."
            raise InvalidInput(message, where="persons", code="randomness.person") from None
    if isinstance(person, int | np.integer) and not isinstance(person, bool):
        return b"%d" % person
    message = "A person must be a whole number or a text; remove empty and fractional identifiers."
    raise InvalidInput(message, where="persons", code="randomness.person")
