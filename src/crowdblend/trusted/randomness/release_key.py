"""The secret of one release, which hands out every label once, and the secret of one draw.

Two numbers that are drawn from the same keyed stream are the same number: noise that is used twice cancels out, and a
choice that shares its stream with the scores shown around it gives itself away. So a stream is never derived from a key
and a label directly. A release has one `ReleaseKey`, and asking it twice for the same label is refused.

What is needed again is passed on as the value that was handed out: the coin decides about the same people in every pass
over the rows, and the two parts of a sample are the two sides of one coin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness.source import KeyedSource, check_key, subkey

_THINNING = b"release, thinning of the finest classes"
_PART = b"choosing part of the finest classes"
_PLACES = b"which rows are drawn"
DRAW_LABELS = (_THINNING, _PART, _PLACES)


@dataclass(frozen=True)
class DrawKey:
    """The key of a sample, 32 secret bytes; `ReleaseKey.coin` hands it out once.

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
        """Return the source of how many people of each class are drawn."""
        return KeyedSource(self.persons, _THINNING)

    def part(self) -> KeyedSource:
        """Return the source of how many people of each class are in the part that chooses."""
        return KeyedSource(self.persons, _PART)

    def places(self) -> KeyedSource:
        """Return the source of which rows are drawn."""
        return KeyedSource(self.persons, _PLACES)


class ReleaseKey:
    """The randomness of a release, derived from 32 secret bytes.

    >>> key = ReleaseKey(bytes(32))
    >>> key.source(b"noise of the first table").bytes(4) == key.source(b"noise of the second table").bytes(4)
    False
    >>> key.source(b"noise of the first table")
    Traceback (most recent call last):
    crowdblend.errors.InvalidInput: stream 'noise of the first table' of this key is already in use. Take another label.
    """

    def __init__(self, secret: bytes) -> None:
        check_key(secret)
        self._secret = secret
        self._handed_out: set[tuple[str, bytes]] = set()

    def source(self, label: bytes) -> KeyedSource:
        """Return the stream of a label: independent of the streams of all other labels, and handed out once."""
        self._hand_out("stream", label)
        return KeyedSource(self._secret, label)

    def coin(self, label: bytes | None = None) -> DrawKey:
        """Return the key of a draw: a coin that is flipped for every person, the same one in every pass over the rows.

        Coins of different labels are independent. The one without a label draws the sample; it has the secret of the
        release itself, so the streams of a draw are handed out with it.
        """
        self._hand_out("coin", b"of the sample" if label is None else label)
        if label is not None:
            return DrawKey(subkey(self._secret, b"release", label))
        for stream in DRAW_LABELS:
            self._hand_out("stream", stream)
        return DrawKey(self._secret)

    def part(self, label: bytes) -> ReleaseKey:
        """A key for one part of the release, such as a stratum: independent of this one and of all other parts'."""
        self._hand_out("part", label)
        return ReleaseKey(subkey(self._secret, b"part of release", label))

    def name(self) -> str:
        """Return a public name of the release: 128 bits, independent of all streams, from which no key is found.

        >>> ReleaseKey(bytes(32)).name() == ReleaseKey(bytes(32)).name() != ReleaseKey(bytes([1] * 32)).name()
        True
        """
        self._hand_out("name", b"of the release")
        return subkey(self._secret, b"public name", b"of a release")[:16].hex()

    def _hand_out(self, what: str, label: bytes) -> None:
        if (what, label) in self._handed_out:
            message = f"{what} {label.decode()!r} of this key is already in use. Take another label."
            raise InvalidInput(message, where=f"{what} {label.decode()!r}", code="key.label-in-use")
        self._handed_out.add((what, label))

    def __reduce__(self) -> NoReturn:
        raise InvalidInput(
            "The key of a release must not be copied; pass it on, or make a new one.", where="key", code="key.copied"
        )

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce__()
