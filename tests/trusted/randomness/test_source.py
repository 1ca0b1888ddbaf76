import copy
import hashlib
import hmac
import os
import pickle
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import KeyedSource, SeededSource, SystemSource
from crowdblend.trusted.randomness.source import SALT, ZEROS, subkey
from tests.cases import for_each

KEY = bytes(range(32))


def hkdf_by_hand(key, info):
    extracted = hmac.new(SALT, key, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\1", hashlib.sha256).digest()


def test_a_subkey_is_hkdf():
    assert subkey(KEY, b"stream", b"label") == hkdf_by_hand(KEY, b"stream\0label")


def test_the_stream_is_aes_in_counter_mode():
    cipher = Cipher(AES256(hkdf_by_hand(KEY, b"stream\0label")), ECB()).encryptor()
    blocks = b"".join(i.to_bytes(16, "big") for i in range(5))
    assert KeyedSource(KEY, b"label").bytes(80) == cipher.update(blocks)


@for_each("pieces", [[0, 5, 3, 0, 17], [25], [1] * 25])
def test_how_the_stream_is_cut_does_not_matter(pieces):
    source = KeyedSource(KEY, b"cut")
    assert b"".join(source.bytes(n) for n in pieces) == KeyedSource(KEY, b"cut").bytes(25)


def test_long_draws_continue_the_stream():
    n = 2 * len(ZEROS) + 11
    source = KeyedSource(KEY, b"long")
    assert KeyedSource(KEY, b"long").bytes(n) == b"".join(source.bytes(k) for k in (7, len(ZEROS), n - 7 - len(ZEROS)))


def test_words_are_little_endian_bytes():
    words = KeyedSource(KEY, b"words").words(3)
    assert words.dtype == np.uint64
    assert b"".join(int(word).to_bytes(8, "little") for word in words) == KeyedSource(KEY, b"words").bytes(24)


def test_labels_and_keys_give_different_streams():
    streams = {KeyedSource(key, label).bytes(16) for key in (KEY, bytes(32)) for label in (b"", b"a", b"b", b"a\0")}
    assert len(streams) == 8


def test_labels_give_unrelated_streams():
    one, other = (KeyedSource(KEY, label).words(10_000) for label in (b"one", b"other"))
    agreeing = 640_000 - int(np.bitwise_count(one ^ other).sum())
    assert abs(agreeing - 320_000) < 6.2 * 400  # six standard deviations: one in a billion


def test_who_is_private():
    assert SystemSource().private
    assert KeyedSource(KEY, b"").private
    assert not SeededSource(1).private


def test_seeds_repeat_and_differ():
    assert SeededSource(1).bytes(8) == SeededSource(1).bytes(8) != SeededSource(2).bytes(8)


@pytest.mark.parametrize("drawn_before", [True, False])
def test_a_forked_child_is_refused(drawn_before):
    source = KeyedSource(KEY, b"fork")
    if drawn_before:
        source.bytes(1)
    child = os.fork()
    if child == 0:
        try:
            source.bytes(1)
        except InvalidInput:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_second_thread_is_refused():
    source = KeyedSource(KEY, b"thread")
    source.bytes(1)
    seen = []

    def draw():
        try:
            source.bytes(1)
        except InvalidInput as refusal:
            seen.append(str(refusal))

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    assert "own label" in seen[0]


@for_each("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_are_refused(duplicate):
    with pytest.raises(InvalidInput, match="must not be copied"):
        duplicate(KeyedSource(KEY, b"copy"))


@for_each("key", [b"", b"secret!!", bytes(33), "x" * 32])
def test_wrong_keys_are_refused_without_being_shown(key):
    with pytest.raises(InvalidInput, match="32 bytes") as refusal:
        KeyedSource(key, b"")
    assert "secret" not in str(refusal.value)
