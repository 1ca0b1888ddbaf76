import copy
import pickle

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import DrawKey, KeyedSource, ReleaseKey
from crowdblend.trusted.randomness.release_key import DRAW_LABELS
from crowdblend.trusted.randomness.source import subkey
from tests.cases import for_each

SECRET = bytes(range(32))


def test_streams_and_coins_are_those_of_the_secret_and_the_label():
    key = ReleaseKey(SECRET)
    assert key.source(b"noise").bytes(40) == KeyedSource(SECRET, b"noise").bytes(40)
    assert key.coin() == DrawKey(SECRET)
    assert key.coin(b"part") == DrawKey(subkey(SECRET, b"release", b"part"))


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


def test_the_streams_of_a_draw_are_handed_out_with_its_key():
    drawn_first, streamed_first = ReleaseKey(SECRET), ReleaseKey(SECRET)
    draw = drawn_first.coin()
    streams = dict(zip(DRAW_LABELS, (draw.thinning(), draw.part(), draw.places()), strict=False))
    for label, drawn in streams.items():
        assert drawn.bytes(40) == KeyedSource(SECRET, label).bytes(40)
        with pytest.raises(InvalidInput) as refused:
            drawn_first.source(label)
        assert refused.value.code == "key.label-in-use"
    streamed_first.source(DRAW_LABELS[0])
    with pytest.raises(InvalidInput) as refused:
        streamed_first.coin()
    assert refused.value.code == "key.label-in-use"
    drawn_first.coin(b"another draw").places()


def test_a_label_may_name_a_stream_and_a_coin():
    key = ReleaseKey(SECRET)
    assert key.coin(b"one").persons != key.source(b"one").bytes(32)


@for_each("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_are_refused(duplicate):
    with pytest.raises(InvalidInput, match="must not be copied"):
        duplicate(ReleaseKey(SECRET))


@for_each("secret", [b"", b"secret!!", bytes(31), bytes(33), "x" * 32, bytearray(32)])
def test_wrong_secrets_are_refused_at_once_without_being_shown(secret):
    with pytest.raises(InvalidInput, match="32 bytes") as refusal:
        ReleaseKey(secret)
    assert "secret" not in str(refusal.value)
