"""The numbers that the ledger decides by, against exact ones, and each check of what it keeps."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.ledger.chain import commitment, next_record
from crowdblend.ledger.conflicts import KnownRelease, distinct_entries, same_sample
from crowdblend.ledger.entry import Entry
from crowdblend.ledger.history import History, check_keys, read_identities
from crowdblend.ledger.identity import MOST, Anchor, Identity, Sketch, fingerprint, identity_of, sketch
from crowdblend.ledger.overlap import (
    FALSE_ALARM,
    NEARLY,
    _closer_than_independent,
    nearly_equal,
    tail,
    tells_apart,
    too_much_in_common,
)
from crowdblend.ledger.store import Location
from tests.cases import for_each
from tests.ledger.databases import DATABASES, place
from tests.ledger.spendings import shared, spending
from tests.ledger.test_overlap import SECRET, hashed, of, rows

# tail and quantile


def exact_tail(n: int, rate: Fraction, least: int) -> Fraction:
    each = (math.comb(n, hits) * rate**hits * (1 - rate) ** (n - hits) for hits in range(max(0, least), n + 1))
    return sum(each, Fraction(0))


@for_each("rate", [Fraction(1, 64), Fraction(1, 4), Fraction(1, 2), Fraction(15, 16)])
@for_each("n", [1, 2, 7, 90])
def test_the_tail_is_the_exact_one_and_monotone(n: int, rate: Fraction) -> None:
    found = [tail(n, float(rate), least) for least in range(-1, n + 1)]
    for least, value in enumerate(found, -1):
        assert value == pytest.approx(float(exact_tail(n, rate, least)), rel=1e-10)
    assert found[:2] == [1.0, 1.0]
    rounding = 1 + 1e-12
    assert all(later <= value * rounding for value, later in itertools.pairwise(found))
    assert all(tail(n, float(rate), least) <= tail(n + 1, float(rate), least) * rounding for least in range(n + 1))
    assert all(tail(n, 1.0, least) == 1.0 for least in range(n + 1))


@for_each(("n", "rate"), [(40, Fraction(1, 16)), (200, Fraction(1, 4)), (120, Fraction(1, 2))], daily=2)
def test_the_quantile_is_that_of_one_in_a_billion(n: int, rate: Fraction) -> None:
    """The largest number in common that is allowed, by exact arithmetic; in both directions."""
    assert FALSE_ALARM == 1e-9
    billionth = Fraction(1, 10**9)
    least = next(number for number in range(n + 1) if exact_tail(n, rate, number) < billionth)
    for common, refused in ((least - 1, False), (least, True)):
        other = [*range(common), *range(n, 3 * n)]
        both = of(range(n)), of(other)
        assert too_much_in_common(*both, (1.0, float(rate))) is refused
        assert too_much_in_common(*both[::-1], (float(rate), 1.0)) is refused


# rows


def expected_difference(both: int, rates: tuple[Fraction, Fraction]) -> float:
    """What _closer_than_independent documents, for one row that is `both` times in two tables together."""
    total = sum(rates)
    spread = float(sum(rate * (1 - rate) for rate in rates) / total) if total else 1.0
    shift = float(abs(rates[0] - rates[1]) / total) if total else 0.0
    return max(min(both * spread, math.sqrt(both * spread)), both * shift)


@for_each(
    "rates",
    [
        (Fraction(0), Fraction(0)),
        (Fraction(1, 2), Fraction(1, 2)),
        (Fraction(1, 8), Fraction(1, 4)),
        (Fraction(1), Fraction(1, 4)),
        (Fraction(1, 64), Fraction(1, 64)),
    ],
    daily=3,
)
def test_a_copy_differs_by_less_than_a_tenth(rates: tuple[Fraction, Fraction]) -> None:
    """At the limit itself: with d rows fewer of many, it is a copy exactly while d ≤ a tenth of what is expected."""
    given = float(rates[0]), float(rates[1])
    for number in (1, 40, 400):
        first = dict.fromkeys(range(50), number)
        for missing in range(0, 50 * number, max(1, number // 4)):
            second = {mark: number - missing // 50 - (mark < missing % 50) for mark in first}
            second = {mark: count for mark, count in second.items() if count}
            expected = sum(expected_difference(number + second.get(mark, 0), rates) for mark in first)
            if not math.isclose(missing, expected / 10, rel_tol=1e-9):
                assert _closer_than_independent(first, second, given) is (missing <= expected / 10)
            if missing > expected:
                break


def test_nearly_equal_begins_at_nine_of_ten() -> None:
    assert NEARLY == 0.9
    for missing, equal in ((100, True), (101, False)):
        assert nearly_equal(of(range(1000)), of(range(1000 - missing))) is equal
        assert nearly_equal(of(range(1000 - missing)), of(range(1000))) is equal
    assert not nearly_equal(of(range(20)), of(range(20, 40)))
    assert not nearly_equal(of([]), of([]))
    assert nearly_equal(of([1]), of([1]))


def test_equal_rows_are_a_copy_whatever_their_number() -> None:
    assert nearly_equal(rows({1: 5}), rows({1: 5}))
    assert too_much_in_common(rows({1: 5}), rows({1: 5}), (0.5, 0.5))
    assert not too_much_in_common(rows({1: 5}), rows({2: 5}), (0.5, 0.5))


def test_which_rows_tell_apart() -> None:
    unlike = dict.fromkeys(range(30), 1)
    assert tells_apart(rows(unlike), rows(unlike))
    assert not tells_apart(rows(unlike), rows(dict.fromkeys(range(29), 1)))
    assert tells_apart(rows(unlike), rows({**unlike, 0: 16}))
    assert not tells_apart(rows({**unlike, 0: 17}), rows(unlike))


# sketches


@for_each("share", [0.05, 0.5, 0.95], daily=2)
def test_the_overlap_of_sketches_estimates_that_of_the_people(share: float) -> None:
    """Of about m marks a Binomial(m, share) number is in both; six standard deviations: false alarms below 2e-8."""
    number = 10 * MOST
    first, second = of(range(number)), of(range(round(number * (1 - share)), 2 * number))
    level = max(first.level, second.level)
    mine, other = first.at(level), second.at(level)
    assert len(mine) > MOST / 8
    deviation = math.sqrt(share * (1 - share) / len(mine))
    assert abs(len(mine.keys() & other.keys()) / len(mine) - share) < 6 * deviation


def test_people_count_once_and_rows_as_often_as_they_occur() -> None:
    hashes = [(hashed(1), hashed(1), 3), (hashed(2), hashed(2), 2**40)]
    people = sketch("person", Anchor(("a",), ("a",)), 0, hashes, SECRET)
    assert {mark.often for mark in people.marks.values()} == {1}
    assert {mark.often for mark in people.to_stored().sketch().marks.values()} == {1}
    several = sketch("rows", Anchor(("a",), ("a",)), 0, hashes, SECRET)
    assert {mark.often for mark in several.marks.values()} == {3, 2**32 - 1}


def test_a_sketch_ends_at_the_last_level() -> None:
    equal = [(0, number, 1) for number in range(MOST + 1)]
    found = sketch("rows", Anchor(("a",), ("a",)), 0, equal, SECRET)
    assert (found.level, len(found.marks)) == (64, MOST + 1)
    full = sketch("rows", Anchor(("a",), ("a",)), 0, [(2**63, number, 1) for number in range(MOST)], SECRET)
    assert (full.level, len(full.marks)) == (0, MOST)


@for_each("names", [(), (1,), ("a", None)])
def test_an_anchor_has_columns(names: tuple) -> None:
    with pytest.raises(InvalidInput):
        Anchor(names, ("a",))
    with pytest.raises(InvalidInput):
        Anchor(("a",), names)


@for_each(("kind", "level", "read"), [("rows", 64, True), ("rows", 65, False), ("rows", -1, False),
                                                     ("rows", True, False), ("numbering", 0, False)])  # fmt: skip
def test_which_sketches_are_read(kind: str, level: int, read: bool) -> None:
    document = {"kind": kind, "columns": ["a"], "by": ["a"], "level": level, "marks": "", "span": None}
    text = json.dumps({"source": "source:x", "hashing": "duckdb 1", "sketches": [document]})
    if read:
        assert identity_of(text).sketches == (Sketch("rows", Anchor(("a",), ("a",)), level, {}),)
    else:
        with pytest.raises(InvalidInput):
            identity_of(text)


# the same sample


def test_without_rates_only_nearly_all_people_make_one_sample() -> None:
    identities = [
        Identity(f"source:{name}", "h", (of(some),)) for name, some in (("a", range(400)), ("b", range(200, 600)))
    ]
    for rates, same in (((0.1, 0.1), True), ((None, 0.1), False), ((0.1, None), False), ((None, None), False)):
        known = [
            KnownRelease(replace(shared(f"s{at}", f"p{at}"), source=identity.source, rate=rate), identity)
            for at, (identity, rate) in enumerate(zip(identities, rates, strict=True))
        ]
        assert same_sample(*known) is same
        copy = replace(known[0], spending=replace(known[0].spending, sample="s2", population="p2", source="source:c"))
        assert same_sample(known[0], copy)


def test_people_whose_rows_are_alike_are_no_copy() -> None:
    """Rows decide beside people only where they tell apart; beside a table without persons always."""
    alike = rows(dict.fromkeys(range(20), 100))
    first, second = of(range(2000)), of(range(5000, 7000))
    anchored = [KnownRelease(replace(shared(f"s{at}", f"p{at}"), rate=0.1), Identity(f"source:{at}", "h", sketches))
                for at, sketches in enumerate([(first, alike), (second, alike), (alike,)])]  # fmt: skip
    assert not same_sample(anchored[0], anchored[1])
    assert same_sample(anchored[0], anchored[2])


# what is kept


@pytest.fixture(params=DATABASES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return place(request.param, tmp_path)


def test_a_key_and_a_secret_are_there_once(where: str) -> None:
    ledger = Ledger.create(where)
    ledger.begin(spending(), key=bytes(32), seal=True)
    for statement in ("INSERT INTO @keys VALUES (1, 'x')", "INSERT INTO @secrets VALUES ('sketches', 'x')"):
        with ledger._records.open().transaction(writing=True) as opened, pytest.raises(Exception, match=r"(?i)unique"):
            opened.execute(statement)
    ledger.check()


def test_a_ledger_is_created_once(where: str) -> None:
    Ledger.create(where).begin(spending())
    with pytest.raises(InvalidInput):
        Ledger.create(where)
    assert len(Ledger.open(where).entries()) == 1


def test_identities_are_kept_and_read(where: str) -> None:
    ledger = Ledger.create(where)
    identity = Identity("source:x", "h", (of(range(5)),))
    ledger.begin(spending(), identity=identity)
    with ledger._records.reading() as (transaction, _):
        assert list(transaction.identities()) == [(fingerprint(identity.to_json()), identity.to_json())]
    assert (ledger.fingerprint_request().columns, ledger.fingerprint_request().rows) == (("id",), ())


def entry(**named) -> Entry:
    return Entry(
        **{"id": 1, "created": "now", "spending": spending(), "key": "destroyed", "software": "x", "by": "ann", **named}
    )


def test_entries_are_one_only_where_they_agree_in_all_that_is_compared() -> None:
    one = entry(spending=shared())
    assert distinct_entries([one, replace(one, id=2)], shared()) == [one]
    for change in ({"rate": 0.5}, {"source": "ef" * 32}, {"fresh": True}, {"population": "others"}):
        other = replace(one, id=2, spending=replace(one.spending, **change))
        assert distinct_entries([one, other], shared()) == [one, other], change
    assert len(distinct_entries([one, replace(one, id=2, identity="ab" * 32)], shared())) == 2


def test_identities_are_those_that_were_committed_to() -> None:
    text = Identity("source:x", "h", ()).to_json()
    digest = fingerprint(text)
    stated = entry(identity=digest)
    assert dict(read_identities([stated, replace(stated, id=2)], [(digest, text)])) == {digest: identity_of(text)}
    assert dict(read_identities([entry()], [])) == {}
    for entries, texts in (
        ([stated], [(digest, text.replace("x", "y"))]),
        ([stated], []),
        ([entry()], [(digest, text)]),
        ([], [(digest, text)]),
        ([entry(identity=fingerprint("{}"))], [(fingerprint("{}"), "{}")]),
    ):
        with pytest.raises(DoesNotVerify):
            dict(read_identities(entries, texts))


@for_each(
    ("status", "key", "held", "sound"),
    [
        ("finished", "destroyed", True, False),
        ("finished", "sealed", True, True),
        ("finished", "sealed", False, False),
        ("finished", "destroyed", False, True),
        ("unfinished", "destroyed", True, True),
        ("unfinished", "destroyed", False, False),
    ],
)
def test_which_keys_are_there(status: str, key: str, held: bool, sound: bool) -> None:
    stated = entry(status=status, key=key, key_commitment=commitment(bytes(32)))
    keys = {1: bytes(32)} if held else {}
    if sound:
        check_keys({1: stated}, keys)
    else:
        with pytest.raises(DoesNotVerify):
            check_keys({1: stated}, keys)


def test_a_ledger_is_made_by_its_first_record_alone(where: str) -> None:
    ledger = Ledger.create(where)
    with ledger._records.reading() as (transaction, _):
        (first,) = transaction.records()
    history = History()
    history.follow([first])
    assert history.secret is not None
    again = first.body
    for last, body in ((first, again), (None, again.replace("ledger 1", "ledger 99"))):
        with pytest.raises(DoesNotVerify, match="Use the crowdblend that wrote it"):
            History(last=last).follow([next_record(last, body)])


@for_each(("name", "longest"), [("population", 1000), ("sample", 1000), ("kind", 1000), ("folder", 4096)])
def test_the_longest_name(name: str, longest: int) -> None:
    assert len(getattr(replace(spending(), **{name: "x" * longest}), name)) == longest
    with pytest.raises(InvalidInput):
        replace(spending(), **{name: "x" * (longest + 1)})


# where it is


@for_each(
    ("url", "words"),
    [
        ("postgresql://ann:secret@db/x", "postgresql://ann:…@db/x"),
        ("postgresql://db/x?user=ann&password=secret&a=b", "postgresql://db/x?user=ann&password=…&a=b"),
        ("postgresql://ann:secret@db/x?password=secret", "postgresql://ann:…@db/x?password=…"),
        ("postgresql://db/x", "postgresql://db/x"),
    ],
)
def test_a_location_is_shown_without_its_password(url: str, words: str) -> None:
    assert Location(url=url).words() == words
    assert Location(path=Path("a/b")).words() == "a/b"


@for_each("wrong", [5, 1.5, True, b"ledger.sqlite", ["a"], object()])
def test_what_names_no_place_is_refused(wrong: object) -> None:
    for call in (Ledger.open, Ledger.create):
        with pytest.raises(InvalidInput) as refused:
            call(wrong)
        assert (refused.value.code, refused.value.where) == ("ledger-location", "ledger")
