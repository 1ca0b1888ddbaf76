"""When two sources have too much in common: the bound is that of the theorem, and independent samples keep to it."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.ledger.identity import MOST, Anchor, Identity, Kind, Sketch, identity_of, sketch, zeros
from crowdblend.ledger.number_places import MOST as MOST_PLACE
from crowdblend.ledger.number_places import numbers_at, place_of
from crowdblend.ledger.overlap import agree_by_chance, comparable, nearly_equal, too_much_in_common
from tests.cases import for_each

ID = Anchor(("id",), ("id",))
SECRET = bytes(range(32))


def hashed(value: int) -> int:
    """A public hash of 64 bits, as the engine has one."""
    mixed = (value + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return mixed ^ mixed >> 31


def of(people: Iterable[int], kind: Kind = "person", anchor: Anchor = ID, secret: bytes = SECRET) -> Sketch:
    ids = list(people)
    numbers = {hashed(one): one for one in ids}
    return sketch(kind, anchor, 0, [(hashed(one), hashed(one), 1) for one in ids], secret, numbers)


@for_each("rates", [(0.1, 0.1), (0.5, 0.5), (0.9, 0.3), (1.0, 0.4)], daily=2)
def test_independent_samples_keep_to_the_bound(rates: tuple[float, float]) -> None:
    """Ten pairs of independent samples; the chance that any of them is refused is below 4e-8."""
    chance = random.Random(3)
    for _ in range(10):
        drawn = [[one for one in range(1500) if chance.random() < rate] for rate in rates]
        assert not too_much_in_common(of(drawn[0]), of(drawn[1]), rates)
        assert not too_much_in_common(of(drawn[1]), of(drawn[0]), rates[::-1])


@for_each("rate", [0.01, 0.1, 0.5, 0.9, 0.97])
def test_a_copy_without_one_person_is_the_same_sample(rate: float) -> None:
    for rates in ((rate, rate), (1.0, rate), (rate, 1.0)):
        assert too_much_in_common(of(range(2000)), of(range(1, 2000)), rates)


def test_a_part_of_a_sample_is_the_same_sample() -> None:
    assert too_much_in_common(of(range(2000)), of(range(1000)), (0.1, 0.1))
    assert too_much_in_common(of(range(2000)), of(range(500)), (0.5, 0.5))


def test_equal_tables_are_the_same_however_small() -> None:
    assert too_much_in_common(of(range(3)), of(range(3)), (0.9, 0.9))
    assert not too_much_in_common(of(range(3)), of(range(1, 3)), (0.9, 0.9))
    assert not too_much_in_common(of([]), of([]), (0.9, 0.9))


def test_sketches_of_different_levels_are_compared_at_the_higher() -> None:
    few, many = of(range(MOST // 2)), of(range(20 * MOST))
    assert few.level == 0 < many.level
    assert len(many.marks) <= MOST
    assert not nearly_equal(few, many)
    assert nearly_equal(many, of(range(100, 20 * MOST)))
    # everybody of the small table is in the large one
    assert too_much_in_common(few, many, (1.0, 0.5))
    assert not too_much_in_common(few, many, (0.5, 1.0))


def test_a_sketch_holds_everybody_below_its_level_and_nobody_else() -> None:
    found = of(range(10 * MOST))
    expected = {one for one in range(10 * MOST) if zeros(hashed(one)) >= found.level}
    assert found.marks.keys() == of(expected).marks.keys()
    assert MOST / 4 < len(found.marks) <= MOST


@for_each("ids", [(3, 50, 7), (50, 3, 7), (7, 50, 3), (50, 7, 3)])
def test_a_sketch_spans_its_ids_in_whatever_order_they_come(ids: tuple[int, ...]) -> None:
    assert of(ids).span == (3, 50)
    assert of((*ids, -9)).span == (3, 50)


def test_nobody_is_found_without_the_secret() -> None:
    """Marks under another secret have nothing in common, and are no public hashes."""
    people = range(1000)
    assert not of(people).marks.keys() & of(people, secret=bytes(32)).marks.keys()
    assert not of(people).marks.keys() & {hashed(one) for one in people}
    assert not of(people).marks.keys() & of(people, kind="rows").marks.keys()


def rows(counts: dict[int, int]) -> Sketch:
    hashes = [(hashed(row), hashed(row), count) for row, count in counts.items()]
    return sketch("rows", Anchor(("a", "b"), ("a", "b")), 0, hashes, SECRET)


def test_rows_that_many_people_share_are_no_copy() -> None:
    """Two samples of 40,000 people with 40 different rows: alike, and not the same (false alarms below 1e-9)."""
    chance = random.Random(11)

    def drawn() -> Sketch:
        return rows({row: sum(chance.random() < 0.5 for _ in range(1000)) for row in range(40)})

    first, second = drawn(), drawn()
    assert not nearly_equal(first, second, (0.5, 0.5))
    assert not too_much_in_common(first, second, (0.5, 0.5))
    copied = dict.fromkeys(range(40), 500)
    assert too_much_in_common(rows(copied), rows({**copied, 3: 499}), (0.5, 0.5))


def test_a_small_table_is_not_taken_for_a_part_of_a_large_one() -> None:
    """1,000 and 20,000 people with 40,000 different rows: a third of the small table's rows are in both by chance."""
    chance = random.Random(3)
    small, large = (rows(Counter(chance.randrange(40_000) for _ in range(number))) for number in (1_000, 20_000))
    for rates in ((0.01, 0.01), (0.001, 0.001)):
        assert not too_much_in_common(small, large, rates)
        assert not too_much_in_common(large, small, rates)


def test_which_sketches_are_compared() -> None:
    other = Anchor(("ssn",), ("ssn",))
    assert comparable(of([1]), of([1], anchor=other))
    assert comparable(of([1]), of([1], kind="column"))
    assert not comparable(of([1]), of([1], kind="column", anchor=other))
    assert not comparable(of([1]), rows({1: 1}))
    assert comparable(rows({1: 1}), rows({2: 1}))


def test_an_identity_is_read_as_it_was_written() -> None:
    known = Identity("source:x", "duckdb 1", (of(range(10 * MOST)), rows({1: 2, 3: 2**40})))
    again = identity_of(known.to_json())
    assert again.to_json() == known.to_json()
    assert [one.level for one in again.sketches] == [one.level for one in known.sketches]
    assert again.sketches[0] == known.sketches[0]


def some(numbers: Iterable[int], share: float, seed: int) -> list[int]:
    chance = random.Random(seed)
    return [one for one in numbers if chance.random() < share]


def spread_out(number: int, seed: int) -> list[int]:
    """Numbers of every size up to 200 million, as the patients of many years have."""
    chance = random.Random(seed)
    return sorted({int(10 ** chance.uniform(0, 8.3)) for _ in range(number)})


AGREE = {
    "numberings": (range(1, 601), range(1, 601)),
    "numberings of different lengths": (range(1, 601), range(1, 2001)),
    "long numberings": (range(1, 60_001), range(1, 61_501)),
    "numberings that begin late": (range(100_001, 100_601), range(100_001, 100_901)),
    "samples of numberings": (some(range(1, 20_001), 0.1, 1), some(range(1, 20_001), 0.3, 2)),
    "small numbers among others": (spread_out(5_000, 3), range(1, 40_001)),
    "a part of a numbering": (some(range(1, 40_001), 0.1, 4), range(1, 40_001)),
}
SHARED = {
    "a part of a sample": (some(range(1, 20_001), 0.1, 1)[:1_000], some(range(1, 20_001), 0.1, 1)),
    "a part of a numbering with gaps": (some(some(range(40_000), 0.5, 1), 0.3, 2), some(range(40_000), 0.5, 1)),
    "a sample of few": (some(range(1, 20_001), 0.05, 5), some(range(1, 20_001), 0.05, 5)),
    "half of long numbers": (spread_out(5_000, 3)[::2], spread_out(5_000, 3)),
    "long numbers": (some(range(10**8, 10**9, 10_007), 0.1, 6), range(10**8, 10**9, 10_007)),
    "a few beside a narrow range": (range(98_400, 98_460), [*range(98_400, 98_460), *range(98_304, 10**6, 997)]),
}


@pytest.mark.parametrize(("one", "other"), AGREE.values(), ids=AGREE)
def test_small_numbers_agree_by_chance(one: Sequence[int], other: Sequence[int]) -> None:
    for first, second in ((of(one), of(other)), (of(other), of(one))):
        assert first.marks.keys() & second.marks.keys()
        assert agree_by_chance(first, second)


@pytest.mark.parametrize(("one", "other"), SHARED.values(), ids=SHARED)
def test_people_in_common_are_more_than_chance_gives(one: Sequence[int], other: Sequence[int]) -> None:
    for first, second in ((of(one), of(other)), (of(other), of(one))):
        assert first.marks.keys() & second.marks.keys()
        assert not agree_by_chance(first, second)


def test_ids_that_are_no_numbers_never_agree_by_chance() -> None:
    """A single text among them, such as a missing id, is enough."""
    texts = sketch("person", ID, 0, [(hashed(one), hashed(one), 1) for one in range(600)], SECRET)
    assert not agree_by_chance(texts, of(range(600)))
    numbers = {hashed(one): one for one in range(599)}
    mixed = sketch("person", ID, 0, [(hashed(one), hashed(one), 1) for one in range(600)], SECRET, numbers)
    assert not agree_by_chance(mixed, of(range(600)))
    assert agree_by_chance(mixed, of(range(599)))
    assert not agree_by_chance(of(range(600)), of(range(600, 1200)))


@for_each("number", [0, 1, 15, 16, 17, 31, 32, 1000, 2**20 - 1, 2**20, 2**62, 2**63 - 1])
def test_a_number_is_at_its_place(number: int) -> None:
    place = place_of(number)
    assert place is not None
    assert 0 <= place < MOST_PLACE
    first, last = numbers_at(place)
    assert first <= number <= last < first + max(1, first / 8)
    assert place == 0 or numbers_at(place - 1)[1] == first - 1
    assert place_of(-1 - number) is place_of(None) is None


@for_each(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"source":1,"hashing":"x","sketches":[]}',
        '{"source":"x","hashing":1,"sketches":[]}',
        '{"source":"x","hashing":"x","sketches":[{}]}',
        '{"source":"x","hashing":"x","sketches":[{"kind":"x","columns":["a"],"by":["a"],"level":0,"marks":"","span":null}]}',
        '{"source":"x","hashing":"x","sketches":[{"kind":"rows","columns":[],"by":["a"],"level":0,"marks":"","span":null}]}',
        '{"source":"x","hashing":"x","sketches":[{"kind":"rows","columns":["a"],"by":["a"],"level":99,"marks":"","span":null}]}',
        '{"source":"x","hashing":"x","sketches":[{"kind":"rows","columns":["a"],"by":["a"],"level":0,"marks":"AA","span":null}]}',
        '{"source":"x","hashing":"x","sketches":[{"kind":"rows","columns":["a"],"by":["a"],"level":0,"marks":"AAAA","span":null}]}',
    ],
)
def test_what_is_no_identity_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        identity_of(text)
