import random
import re

import numpy as np

from crowdblend.trusted.randomness.texts import texts_between, texts_joined, whole_numbers
from tests.cases import for_each

NUMBER = re.compile(rb"0|-?[1-9][0-9]{0,38}")


def column(texts):
    return texts_joined(b"".join(texts), texts)


def found(texts):
    """By text: its value, "longer", or nothing."""
    numbers = whole_numbers(column(texts))
    by_row: list[object] = [None] * len(texts)
    for row, value in zip(np.flatnonzero(numbers.short), numbers.values.tolist(), strict=True):
        by_row[row] = value
    for row in numbers.longer:
        by_row[row] = "longer"
    return by_row


def expected(text):
    if not NUMBER.fullmatch(text):
        return None
    return int(text) if len(text.lstrip(b"-")) <= 18 else "longer"


def test_numbers_of_every_length():
    rng = random.Random(1)
    texts = [b"%d" % (sign * rng.randrange(10 ** (n - 1), 10**n)) for n in range(1, 45) for sign in (1, -1)]
    texts += [sign + digit * n for n in range(42) for digit in (b"0", b"1", b"9") for sign in (b"", b"-", b"+")]
    rng.shuffle(texts)
    assert found(texts) == [expected(text) for text in texts]
    assert [found([text])[0] for text in texts] == [expected(text) for text in texts]


@for_each("length", [1, 2, 7, 8, 9, 16, 17, 18, 19, 24, 39])
def test_one_wrong_byte_anywhere(length):
    texts = [
        b"1" * place + bytes([wrong]) + b"1" * (length - place - 1) for place in range(length) for wrong in range(256)
    ]
    assert found(texts) == [expected(text) for text in texts]


def test_random_bytes_near_digits():
    rng = random.Random(2)
    texts = [bytes(rng.choices(b"0123456789-/:\0\xff", k=rng.randrange(6))) for _ in range(20_000)]
    assert found(texts) == [expected(text) for text in texts]


def test_digits_next_door_do_not_count():
    data = np.frombuffer(b"1234567890" * 10, dtype=np.uint8)
    numbers = whole_numbers(texts_between(np.array([0, 3, 3, 8, 30, 31, 100]), data))
    assert numbers.short.tolist() == [True, False, True, False, True, False]
    assert numbers.values.tolist() == [123, 45678, 1]
    assert numbers.longer.tolist() == [3]


def test_parts_and_single_texts():
    texts = column([b"ab", b"", b"c\0", "é".encode()])
    assert [texts.spell(row) for row in range(len(texts))] == [b"ab", b"", b"c\0", "é".encode()]
    assert [texts[1:3].spell(row) for row in range(2)] == [b"", b"c\0"]
    assert texts[np.array([True, False, False, True])].spell(1) == "é".encode()
