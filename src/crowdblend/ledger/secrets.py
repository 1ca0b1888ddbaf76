"""The secrets of a ledger: commitments to keys, which say nothing about the key, and the secret of its sketches."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from crowdblend.errors import InvalidInput

KEY_BYTES = 32


def new_secret() -> bytes:
    """The secret of a new ledger, under which the marks of people and rows are made."""
    return secrets.token_bytes(KEY_BYTES)


def commitment(key: bytes) -> str:
    """What the chain of records says of a key: enough to know it again, nothing from which to find it.

    The key has 256 random bits, so nobody can try them all, and SHA-256 has no known way back.

    >>> commitment(bytes(32)) == commitment(bytes(32)) != commitment(bytes(31) + b"1")
    True
    """
    return hashlib.sha256(b"crowdblend ledger: commitment to a key\0" + key).hexdigest()


def sample_name(key: bytes) -> str:
    """The name of the sample that a key draws: another commitment, so a key that is used twice is noticed."""
    return "drawn:" + hashlib.sha256(b"the name of a sample" + key).hexdigest()[:32]


def matches(key: bytes | None, stated: str | None) -> bool:
    """Whether a key is the one that a commitment was made from; no key matches no commitment."""
    if key is None or stated is None:
        return key is None and stated is None
    return hmac.compare_digest(commitment(key), stated)


def refuse_no_key(key: object) -> None:
    """Refuse what is no key."""
    if key is not None and (not isinstance(key, bytes) or len(key) != KEY_BYTES):
        raise InvalidInput(
            f"A key has {KEY_BYTES} bytes. Pass the key that drew the sample.", where="key", code="key.length"
        )
