"""Secret keys, and sources of random bits.

A source is an endless stream of fair, independent bits. How the stream is cut into calls does not matter:
`bytes(2) + bytes(3)` of one source is `bytes(5)` of its twin, and `words(n)` is `bytes(8·n)` read as little-endian
64-bit numbers. Everything random in crowdblend is a function of such a stream, in integer arithmetic.

Threads and processes. A `SystemSource` may be used from anywhere. A `KeyedSource` has a position in its stream, so
it belongs to the process that made it and the thread that first drew from it; anyone else is refused: a forked
child would repeat the parent's bits for other draws, and two threads would share them in an order nobody can
reproduce. Every worker makes its own source with its own label. The same key AND label give the same bits wherever
they are used, so a label must name exactly one use ("release 7, thinning, part 3").
"""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from typing import NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput

Words = NDArray[np.uint64]
KEY_BYTES = 32
# Fixed for ever: another salt would turn every sealed key into a different sample.
SALT = b"crowdblend randomness 1"
# Encrypting zeros gives the keystream; one buffer of them serves every source.
ZEROS = memoryview(bytes(1 << 18))
# Older releases of the cipher library want this much room behind the output.
SLACK = 15


class Source(Protocol):
    """An endless stream of fair bits."""

    @property
    def private(self) -> bool:
        """True if the bits are unpredictable. Output of any other source must say so."""

    def bytes(self, n: int) -> bytes:
        """Return the next n bytes of the stream."""

    def words(self, n: int) -> Words:
        """Return the next 8·n bytes of the stream as n little-endian words."""


class SystemSource:
    """The operating system's secure random bits; no two calls are ever the same."""

    private = True

    def bytes(self, n: int) -> bytes:
        """n random bytes."""
        return os.urandom(n)

    def words(self, n: int) -> Words:
        """n random numbers of 64 bits."""
        return np.frombuffer(os.urandom(8 * n), dtype="<u8").astype(np.uint64, copy=False)


class KeyedSource:
    """The AES-256-CTR keystream of a key and a label: the same bits on every machine.

    To anyone without the key, b blocks of 16 bytes of it differ from fair bits by an advantage of at most b²/2^129
    beyond that of breaking AES (the blocks of a permutation never repeat): 2^-67 for 32 GB.

    >>> twin, other = KeyedSource(bytes(32), b"here"), KeyedSource(bytes(32), b"there")
    >>> KeyedSource(bytes(32), b"here").bytes(8) == twin.bytes(8), twin.bytes(8) == other.bytes(8)
    (True, False)
    """

    private = True

    def __init__(self, key: bytes, label: bytes) -> None:
        cipher = Cipher(AES256(subkey(key, b"stream", label)), CTR(bytes(16)))
        self._keystream = cipher.encryptor()
        self._process = os.getpid()
        self._thread: int | None = None

    def bytes(self, n: int) -> bytes:
        """Return the next n bytes of the stream."""
        return self._draw(n).tobytes()

    def words(self, n: int) -> Words:
        """Return the next n numbers of 64 bits of the stream."""
        return self._draw(8 * n).view("<u8").astype(np.uint64, copy=False)

    def _draw(self, n: int) -> NDArray[np.uint8]:
        self._check_owner()
        drawn = np.empty(n + SLACK, dtype=np.uint8)
        room = drawn.data
        for start in range(0, n, len(ZEROS)):
            self._keystream.update_into(ZEROS[: min(len(ZEROS), n - start)], room[start:])
        return drawn[:n]

    def _check_owner(self) -> None:
        if self._thread is None:
            self._thread = threading.get_ident()
        if os.getpid() != self._process or threading.get_ident() != self._thread:
            raise InvalidInput(
                "A keyed source must stay in the process that made it and the thread that first drew from it; "
                "make one per worker, each with its own label.",
                where="source",
                code="key.shared",
            )

    def __reduce__(self) -> NoReturn:
        message = "A keyed source must not be copied; make one per worker, each with its own label."
        raise InvalidInput(message, where="source", code="key.copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce__()


class SeededSource(KeyedSource):
    """A reproducible stream for tests. Anyone can predict it, so nothing made from it is private."""

    private = False

    def __init__(self, seed: int) -> None:
        super().__init__(sha256(b"crowdblend test seed %d" % seed).digest(), b"seeded")


def new_key() -> bytes:
    """Return a fresh secret of 256 bits from the operating system."""
    return os.urandom(KEY_BYTES)


def subkey(key: bytes, purpose: bytes, label: bytes) -> bytes:
    """Return the 256-bit subkey of a key for one purpose and label (HKDF with SHA-256).

    Subkeys of different (purpose, label) pairs are independent to anyone who does not hold the key. A purpose is a
    constant of this package without a zero byte, so the zero byte after it keeps the pairs apart.
    """
    check_key(key)
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=SALT, info=purpose + b"\0" + label).derive(key)


def check_key(key: bytes) -> None:
    """Refuse a key of another length, without showing it."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InvalidInput(f"A key must be {KEY_BYTES} bytes; make one with new_key().", where="key", code="key.length")
