"""The secret of one draw, which has one stream for each purpose and no other."""

from __future__ import annotations

from dataclasses import dataclass, field

from crowdblend.randomness.keys import check_key
from crowdblend.randomness.source import KeyedSource

_THINNING = b"release, thinning of the finest classes"
_PART = b"choosing part of the finest classes"
_PLACES = b"which rows are drawn"
DRAW_LABELS = (_THINNING, _PART, _PLACES)


@dataclass(frozen=True)
class DrawKey:
    """Who is in a sample, decided by 32 secret bytes; `ReleaseKey.coin` hands it out once.

    Where persons have names, coins and marks of the secret `persons` decide. Where rows are people, one of three
    streams does. The same draw can be made again: every call begins the stream anew.

    >>> key = DrawKey(bytes(32))
    >>> key.places().bytes(8) == key.places().bytes(8), key.places().bytes(8) == key.thinning().bytes(8)
    (True, False)
    """

    persons: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_key(self.persons)

    def thinning(self) -> KeyedSource:
        """How many people of each class are drawn."""
        return KeyedSource(self.persons, _THINNING)

    def part(self) -> KeyedSource:
        """How many people of each class are in the part that chooses."""
        return KeyedSource(self.persons, _PART)

    def places(self) -> KeyedSource:
        """Which rows are drawn."""
        return KeyedSource(self.persons, _PLACES)
