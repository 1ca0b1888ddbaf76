import os

import numpy as np

from crowdblend.trusted.randomness import SystemSource, new_key
from tests.cases import for_each


def test_a_new_key_is_what_the_operating_system_gives(monkeypatch):
    asked = []

    def urandom(n):
        asked.append(n)
        return bytes(range(7, 7 + n))

    monkeypatch.setattr(os, "urandom", urandom)
    assert new_key() == bytes(range(7, 39))
    assert asked == [32]


def test_every_bit_of_a_new_key_varies():
    """256 bits, each the same in all 64 keys with probability 2^-63: a false alarm once in 3e16 times."""
    bits = np.array([np.unpackbits(np.frombuffer(new_key(), np.uint8)) for _ in range(64)])
    assert bits.shape == (64, 256)
    assert ((bits.sum(axis=0) > 0) & (bits.sum(axis=0) < 64)).all()


@for_each("n", [0, 1, 5])
def test_the_system_source_is_the_operating_system_s(monkeypatch, n):
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    assert SystemSource().bytes(n) == bytes(range(n))
    assert SystemSource().words(n).tobytes() == bytes(range(8 * n))
