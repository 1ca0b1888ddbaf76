import random

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB

from crowdblend.errors import InvalidInput
from crowdblend.trusted.randomness import coins, marks
from crowdblend.trusted.randomness.coin import CHUNK, _threshold, _under, draw
from crowdblend.trusted.randomness.source import subkey
from crowdblend.trusted.randomness.texts import texts_joined
from tests.cases import for_each

from .goodness import fits_share
from .slow_mac import mac

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def mark(person, key=KEY):
    low, high = marks(key, [person])[0].tolist()
    return low | high << 64


@for_each("number", [0, 1, 12, -12, 2**63 - 1, -(2**63), 2**64 - 1, 2**127 - 1, -(2**127)])
def test_a_number_is_marked_with_aes(number):
    cipher = Cipher(AES256(subkey(KEY, b"person", b"number")), ECB()).encryptor()
    expected = cipher.update(number.to_bytes(16, "little", signed=True))
    assert mark(number) == mark(str(number)) == mark(b"%d" % number) == int.from_bytes(expected, "little")


ODD = ["", "P1", "012", "+1", "-0", "-", "--1", "1-", "1.0", " 1", "1\n", "é", "١٢", str(2**127), "9" * 39, "9" * 60]


@for_each("text", [*ODD, "9" * 40, "-" + "9" * 39, str(-(2**127) - 1), "0" * 8, "a\0", "a", "1\0", "x" * 999])
def test_any_other_text_is_marked_with_a_mac(text):
    assert mark(text) == mark(text.encode()) == mac(text.encode(), subkey(KEY, b"person", b"text"))


def test_long_numbers_among_others():
    people: list[str | int] = [
        "P1",
        10**18 - 1,
        10**18,
        str(2**127),
        str(-(2**127)),
        str(10**38 - 1),
        "5",
        -(10**18),
        "x" * 300,
    ]
    assert (marks(KEY, people) == np.concatenate([marks(KEY, [person]) for person in people])).all()


def test_columns_are_as_lists():
    people = [str(n) for n in (*range(-50, 50), 10**17, 2**64, 10**38)] + [*ODD, "Ω" * 300, "P00012345-X"] * 3
    data = [person.encode() for person in people]
    column = texts_joined(b"".join(data), data)
    assert (marks(KEY, column) == marks(KEY, people)).all()
    assert (coins(KEY, column, 0.3) == coins(KEY, data, 0.3)).all()


def test_a_huge_number_is_its_spelling():
    assert mark(10**50) == mark(str(10**50))


@for_each("dtype", ["i1", "i2", "i4", "i8", ">i8", "u1", "u2", "u4", "u8", "S3", "U3", "O"])
def test_the_type_of_an_array_does_not_matter(dtype):
    numbers = [0, 5, 100, 127]
    assert (marks(KEY, np.array(numbers).astype(dtype)) == marks(KEY, numbers)).all()


def test_signed_and_unsigned_edges():
    assert (marks(KEY, np.array([-1, -(2**63)])) == marks(KEY, ["-1", str(-(2**63))])).all()
    assert (marks(KEY, np.array([2**64 - 1, 2**63], dtype="u8")) == marks(KEY, [str(2**64 - 1), str(2**63)])).all()


def test_order_repetition_and_company_do_not_matter():
    people = [*range(2000), *(f"P{i}" for i in range(2000))]
    alone = dict(zip(people, coins(KEY, people, 0.3).tolist(), strict=True))
    shuffled = random.Random(1).choices(people, k=5000)
    assert coins(KEY, shuffled, 0.3).tolist() == [alone[person] for person in shuffled]


def test_chunks_do_not_matter():
    people = np.arange(2 * CHUNK + 7)
    whole = coins(KEY, people, 0.3)
    assert (whole[CHUNK - 5 : CHUNK + 5] == coins(KEY, people[CHUNK - 5 : CHUNK + 5], 0.3)).all()
    assert (marks(KEY, people)[-3:] == marks(KEY, people[-3:])).all()


@for_each("rate", [0.001, 0.1, 0.5, 1 / 3, 0.9], daily=3)
def test_shares(rate):
    assert fits_share(int(coins(KEY, np.arange(2_000_000), rate).sum()), 2_000_000, rate)
    assert fits_share(int(coins(KEY, [f"P{i}" for i in range(500_000)], rate).sum()), 500_000, rate)


def test_keys_are_independent():
    people = np.arange(1_000_000)
    both = coins(KEY, people, 0.5) & coins(OTHER, people, 0.5)
    assert fits_share(int(both.sum()), 1_000_000, 0.25)


def test_a_smaller_rate_keeps_a_part_of_the_sample():
    people = np.arange(10_000)
    assert not (coins(KEY, people, 0.1) & ~coins(KEY, people, 0.2)).any()


@for_each("rate", [0.1, 1 / 3, 2.0**-75, 2.0**-128, 1 - 2.0**-53, 0.5])
def test_the_threshold_is_exact(rate):
    top, bottom = rate.as_integer_ratio()
    threshold = _threshold(rate)
    assert threshold * bottom == top << 128
    around = [0, threshold - 1, threshold, threshold + 1, 2**128 - 1]
    rows = np.array([[value & 2**64 - 1, value >> 64] for value in around], dtype=np.uint64)
    assert _under(rows, threshold).tolist() == [value < threshold for value in around]


def test_nobody_everybody_and_no_people():
    assert not coins(KEY, np.arange(1000), 0.0).any()
    assert coins(KEY, np.arange(1000), 1.0).all()
    assert len(coins(KEY, [], 0.5)) == 0
    assert marks(KEY, []).shape == (0, 2)


def test_the_marks_never_change():
    # A sealed key must give the same sample in every later version.
    assert [hex(mark(person)) for person in (12, "P12")] == [
        "0x57a0b5de37f0937c5941d5b4b2fc4f1a",
        "0x7dd879a8edfa241db8a50979cfef7773",
    ]


@for_each("rate", [-0.1, 1.5, float("nan"), 1e-30, 5e-324])
def test_wrong_rates_are_refused(rate):
    with pytest.raises(InvalidInput, match="rate must"):
        coins(KEY, [1], rate)


@for_each("person", [None, 1.5, float("nan"), True, ("Ann",), "\ud800secret"])
def test_what_is_no_person_is_refused_without_being_shown(person):
    with pytest.raises(InvalidInput, match="person") as refusal:
        coins(KEY, ["Bob", person], 0.5)
    assert not any(word in str(refusal.value) for word in ("Ann", "Bob", "secret", "1.5"))
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


@for_each("dtype", ["f8", "bool", "M8[D]", "c16"])
def test_arrays_of_anything_else_are_refused(dtype):
    with pytest.raises(InvalidInput, match="person"):
        coins(KEY, np.zeros(2, dtype=dtype), 0.5)


@pytest.mark.parametrize("persons", [np.ma.masked_array([1, 2], mask=[False, True]), np.zeros((2, 2), dtype=np.int64)])
def test_arrays_with_gaps_or_columns_are_refused(persons):
    # Under the mask that a database hands over for NULL there is a number, which would be somebody else.
    with pytest.raises(InvalidInput, match="list without gaps"):
        coins(KEY, persons, 0.5)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64])
def test_masked_arrays_without_gaps_are_as_others(kind):
    persons = np.arange(100, dtype=kind)
    assert (coins(KEY, np.ma.masked_array(persons), 0.5) == coins(KEY, persons, 0.5)).all()


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_who_is_drawn_comes_with_marks(rate):
    persons = texts_joined(b"".join(b"P%06d" % n for n in range(2 * CHUNK + 3)), [b"P000000"] * (2 * CHUNK + 3))
    places, marked = draw(KEY, persons, rate)
    assert (places == np.flatnonzero(coins(KEY, persons, rate))).all()
    assert (marked == marks(KEY, persons)[places]).all()
