"""Places of whole numbers: about how large an id is, kept beside its mark.

Ids that are small whole numbers agree by chance. Whether two tables agree in more of them than chance gives follows
from how densely each fills the same numbers, for which a place is exact enough: an eighth of a power of two.
"""

from __future__ import annotations

_EXACT, _PARTS = 16, 8
MOST = 511
"""The largest place of a number of 64 bits is below this."""


def place_of(number: int | None) -> int | None:
    """Return the place of a whole number; None for a negative one and for what is no number.

    >>> [place_of(number) for number in (0, 15, 16, 17, 18, 2**40)]
    [0, 15, 16, 16, 17, 304]
    """
    if number is None or number < 0:
        return None
    shift = number.bit_length() - 4
    return number if number < _EXACT else _EXACT + (shift - 1) * _PARTS + (number >> shift) - _PARTS


def numbers_at(place: int) -> tuple[int, int]:
    """Return the first and the last number of a place.

    >>> numbers_at(3), numbers_at(16), numbers_at(304) == (2**40, 2**40 + 2**37 - 1)
    ((3, 3), (16, 17), True)
    """
    if place < _EXACT:
        return place, place
    shift, part = (place - _EXACT) // _PARTS + 1, (place - _EXACT) % _PARTS + _PARTS
    return part << shift, ((part + 1) << shift) - 1
