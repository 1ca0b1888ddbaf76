"""Secret keys and the independent subkeys made from them."""

from __future__ import annotations

import os

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from crowdblend.errors import InvalidInput

KEY_BYTES = 32
# Fixed for ever: another salt would turn every sealed key into a different sample.
SALT = b"crowdblend randomness 1"


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
