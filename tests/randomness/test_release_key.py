import copy
import pickle

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.randomness import KeyedSource, ReleaseKey
from crowdblend.randomness.keys import subkey

SECRET = bytes(range(32))


def test_streams_and_coins_are_those_of_the_secret_and_the_label():
    key = ReleaseKey(SECRET)
    assert key.source(b"noise").bytes(40) == KeyedSource(SECRET, b"noise").bytes(40)
    assert key.coin() == SECRET
    assert key.coin(b"part") == subkey(SECRET, b"release", b"part")


def test_a_stream_is_handed_out_once():
    key = ReleaseKey(SECRET)
    key.source(b"noise")
    with pytest.raises(InvalidInput, match="stream 'noise'"):
        key.source(b"noise")
    key.source(b"other noise")


@pytest.mark.parametrize("label", [None, b"part"])
def test_a_coin_is_handed_out_once(label):
    key = ReleaseKey(SECRET)
    key.coin(label)
    with pytest.raises(InvalidInput, match="coin"):
        key.coin(label)


def test_a_label_may_name_a_stream_and_a_coin():
    key = ReleaseKey(SECRET)
    assert key.coin(b"one") != key.source(b"one").bytes(32)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_are_refused(duplicate):
    with pytest.raises(InvalidInput, match="must not be copied"):
        duplicate(ReleaseKey(SECRET))


@pytest.mark.parametrize("secret", [b"", b"secret!!", bytes(31), bytes(33), "x" * 32, bytearray(32)])
def test_wrong_secrets_are_refused_at_once_without_being_shown(secret):
    with pytest.raises(InvalidInput, match="32 bytes") as refusal:
        ReleaseKey(secret)
    assert "secret" not in str(refusal.value)
