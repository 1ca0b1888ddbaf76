"""A source that plays a script, so that every possible stream can be tried."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class EndOfTapeError(Exception):
    """The script is over and more bits were asked for."""


class Tape:
    """Plays the given bytes and then stops."""

    private = False

    def __init__(self, script: bytes) -> None:
        self._script = script
        self.read = 0

    @classmethod
    def of_words(cls, words: Iterable[int]) -> Tape:
        return cls(b"".join(word.to_bytes(8, "little") for word in words))

    def bytes(self, n: int) -> bytes:
        if self.read + n > len(self._script):
            raise EndOfTapeError
        self.read += n
        return self._script[self.read - n : self.read]

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.frombuffer(self.bytes(8 * n), dtype="<u8").astype(np.uint64)
