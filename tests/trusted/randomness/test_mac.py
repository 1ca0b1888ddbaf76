import random
import tracemalloc
from itertools import pairwise, product

import numpy as np

from crowdblend.trusted.randomness.mac import Mac
from crowdblend.trusted.randomness.texts import texts_between, texts_joined
from tests.cases import for_each

from .slow_mac import chained, encoded, mac

KEY = bytes(range(32))


def column(texts):
    return texts_joined(b"".join(texts), texts)


def values(texts, key=KEY):
    return [low | high << 64 for low, high in Mac(key).of_texts(column(texts)).tolist()]


def some(seed, lengths):
    rng = random.Random(seed)
    return [rng.randbytes(length) for length in lengths]


def test_every_length_agrees_with_the_definition():
    texts = some(1, [*range(101), *range(240, 290), 1000, 4096, 70_000])
    assert values(texts) == [mac(text, KEY) for text in texts]
    for text in texts:
        assert values([text]) == values([text, text])[:1] == [mac(text, KEY)]


@for_each("text", ["é", "Ω" * 8, "名前", "🙂" * 20, "e\u0301", "a\0b", "\0", "\0" * 20, ""])
def test_unicode_and_zero_bytes(text):
    assert values([text.encode()]) == [mac(text.encode(), KEY)]


def test_order_and_company_do_not_matter():
    texts = some(2, random.Random(3).choices(range(300), k=2000))
    alone = dict(zip(texts, values(texts), strict=True))
    random.Random(4).shuffle(texts)
    assert values(texts) == [alone[text] for text in texts]
    part = column(texts)[np.arange(len(texts)) % 7 == 3]
    assert [low | high << 64 for low, high in Mac(KEY).of_texts(part).tolist()] == [alone[text] for text in texts[3::7]]


def test_a_neighbour_never_reaches_in():
    # The same bytes cut elsewhere: what follows a text in memory must not count.
    data = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz" * 3, dtype=np.uint8)
    for cuts in ([0, 1, 3], [0, 2, 3], [5, 15, 45], [5, 16, 45], [0, 0, 78]):
        found = Mac(KEY).of_texts(texts_between(np.array(cuts, dtype=np.int32), data))
        texts = [data[a:b].tobytes() for a, b in pairwise(cuts)]
        assert [low | high << 64 for low, high in found.tolist()] == [mac(text, KEY) for text in texts]


def test_no_encoding_is_a_prefix_of_another():
    short = [bytes(letters) for length in range(4) for letters in product(b"\0a\xff", repeat=length)]
    long = [
        fill * length for fill in (b"\0", b"a", b"\xff") for length in (*range(4, 60), *range(250, 275), 510, 65535)
    ]
    # A text that looks like a later block, or like the length, of another one.
    long += [encoded(text) for text in (b"a" * 15, b"a" * 16, b"a" * 300)]
    messages = sorted({encoded(text) for text in (*short, *long)})
    assert len(messages) == len({*short, *long})
    assert not any(after.startswith(before) for before, after in pairwise(messages))


def test_different_texts_have_different_values():
    texts = [b"%d-%d" % (i, j) for i in range(300) for j in range(300)] + [b"\0" * n for n in range(300)]
    assert len({*values(texts)}) == len(texts)


def test_keys_matter():
    assert values([b"P1"]) != values([b"P1"], bytes(32))


@for_each("width", [1, 2, 3, 4, 7])
def test_rows_agree_with_the_definition(width):
    words = np.random.default_rng(1).integers(0, 2**64, (50, width), dtype=np.uint64)
    found = [low | high << 64 for low, high in Mac(KEY).of_rows(words).tolist()]
    messages = [b"".join(word.to_bytes(8, "little") for word in row) for row in words.tolist()]
    assert found == [chained(message + bytes(-len(message) % 16), KEY) for message in messages]


def test_nobody():
    assert Mac(KEY).of_texts(column([])).shape == (0, 2)
    assert Mac(KEY).of_rows(np.empty((0, 3), dtype=np.uint64)).shape == (0, 2)


def test_the_values_never_change():
    # A sealed key must give the same sample in every later version.
    assert [hex(value) for value in values([b"", b"P12", b"P" * 31, b"P" * 300])] == [
        "0x80772edd6a9af3a9d09f492ab60090f2",
        "0x79407823a1523cf5ab8612bdfc0eaad7",
        "0x398a9c0e6b610cfc98d7e74ff3a4e47f",
        "0xee2c78c0551bb2039df3343b97639f14",
    ]


def test_long_texts_take_no_memory():
    texts = column([b"x" * 20_000_000, b"y" * 5])
    tracemalloc.start()
    Mac(KEY).of_texts(texts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
