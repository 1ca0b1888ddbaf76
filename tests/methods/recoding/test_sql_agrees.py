"""The SQL of every recoding gives exactly the answer of its Python definition, for nasty values too."""

import math
from datetime import date
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.methods.recoding.classes import ClosedRecoding, ComputedRecoding, Lookup, Open, Recoding, WiderClasses
from crowdblend.methods.recoding.dates import PERIODS, DateRange, Dates
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.reading import day, has_zone, zone_sql
from crowdblend.methods.recoding.values import Prefixes, Values
from tests.cases import for_each

from .test_whole_numbers import WHOLE as WHOLE_CLASSES

NASTY = [
    None, "", " ", "\t\n\v\f\r ", "\xa0", "0", "-0", "+0", "-0.0", "007", "1e2", "1E+2", "1e", "e2",
    ".", ".5", "5.", "+.5e1",
    " 5", "5 ", "\t5\n", "5\xa0", "+ 5", "+-5", "-+5", "--5", "1_000", "1_0", "_1", "1__0", "1e1_0",
    "1,5", "1,000",
    "0x10", "1d", "1f", "١٢", "１２", "٣", "²", "½", "nan", "NaN", "-nan", "inf", "-inf", "Infinity",
    "1e308", "-1e308",
    "1e309", "-1e309", "1e-400", "1e99999999999999", "1e-99999999999999", "9" * 400, "0" * 400 + "1",
    "1." + "0" * 500 + "1",
    "true", "false", "TRUE", "null", "NULL", "10", "9.999999999999999", "9.9999999999999999999",
    "10.000000000000002", "9.5", "17.999", "64.5", "-0.5", "-10.5", "100.5",
    "100", "99.99999999999999", "100.00000000000001", "0.1", "0.2", "0.3",
    repr(0.1 + 0.2), "0.30000000000000001", "-1e-20",
    "-1e-300", "5e-324", "9007199254740993", "18446744073709551616", "1\x00", "\x001", "a\x00b", "'",
    "''", '"', "\\", "%",
    "_", "Male", "male", " Male", "Male ", "Fe\nmale", "é", "e\u0301", "👨‍👩‍👧", "𝟙𝟚", "Other",
    "Missing", "2020-01-01",
    "2020-1-1", "2020-01-01 ", " 2020-01-01", "2020-01-01 10:00", "2020-01-01T10:00:00Z",
    "2020-01-01 10:00:00.123+02:00",
    "2020-01-01T99:99", "2020-01-01x", "2020/01/01", "20200101", "2020-02-30", "2024-02-29",
    "2023-02-29", "0000-01-01",
    "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "0044-03-15 (BC)", "epoch", "infinity",
    "2020-13-01",
    "2020-01-0١", "2019-12-30", "2021-01-03", "2020-12-31", "1899-12-31", "1900-01-01", "2019-12-31",
]  # fmt: skip

NUMERIC = [
    *(recoding for recoding, _ in WHOLE_CLASSES),
    Intervals(0, 100, 10),
    Intervals(0, 100, 10, include_stop=True),
    Intervals(-10, 10, 5, bottom=True, top=True),
    Intervals(Decimal("0.1"), Decimal("0.7"), Decimal("0.1"), top=True),
    Intervals(0.1, 0.7, 0.1, include_stop=True, other="rest"),
    Intervals(-1, 1, Decimal("0.0003125"), bottom=True, missing="none"),
    Intervals(1_000_000_000_000, 1_000_000_000_003, Decimal("0.01"), other="o", missing="m"),
    Intervals(0, 10**4, 1),
    Breaks((0, 25000, 50000, 100000)),
    Breaks((0, 0.1, 0.3, 10, 1e200), top=True, bottom=True),
    Breaks((10,), top=True, other="below or unreadable"),
    Breaks((5,), bottom=True, missing="m"),
    Breaks(tuple(range(0, 400, 3)), other="o", missing="m"),
    WiderClasses(Intervals(-10, 10, 5, bottom=True, top=True), 4, missing="m"),
    WiderClasses(Intervals(0, 10**4, 1), 16, other="o"),
]
DATED: list[Recoding] = [
    *(DateRange(p, date(1900, 1, 1), date(2020, 1, 1)) for p in PERIODS if p != "day"),
    DateRange("day", date(2019, 6, 15), date(2020, 12, 31), include_stop=True, other="o"),
    DateRange("year", date(1, 1, 1), date(9999, 12, 31), include_stop=True, missing="m"),
    DateRange("week", date(1, 1, 1), date(3, 1, 1), missing="m"),
    DateRange("week", date(9998, 1, 1), date(9999, 12, 31), include_stop=True, missing="m"),
    DateRange("quarter", date(2019, 6, 15), date(2020, 1, 2), other="o", missing="m"),
    WiderClasses(DateRange("day", date(2019, 6, 15), date(2020, 12, 31)), 7),
    *(Dates(p) for p in PERIODS),
    Dates("week", missing="it's"),
    Dates("year", other="o'"),
    Dates("month", other="o", missing="m"),
]
TEXTUAL: list[Recoding] = [
    Values(("Female", "Male", "007", "Fe\nmale", "é", "'", "1e2", "a\x00b")),
    Values(("Male", "5", "nan"), other="rest"),
    Values(("Male", "0"), missing="none"),
    Values(("Male", "10"), other="rest", missing="none"),
    *(Prefixes(n) for n in (1, 3, 10)),
    Prefixes(2, missing="(none)"),
]
EVERY = [*NUMERIC, *DATED, *TEXTUAL]


ZONES = [
    *NASTY, "2020-01-01Z", "2020-01-01-05:00", "2020-01-01-05", "04:30Z", "4:30 UTC", "12:30-13:30", "12:30+1",
    "10:30 Uhr", "1.1.2020 04:30:00,5 GMT", "2020-01-01T00:00:00+01:00[Europe/Berlin]", "2020-01-01 00:00 Asia/Tokyo",
    "a\n10:30Z", "10:30Z\n",
]  # fmt: skip


def test_a_time_zone_is_seen_by_both(database):
    store(database, ZONES)
    found = database.execute(f"SELECT v, coalesce({zone_sql('v')}, false) FROM raw ORDER BY n").fetchall()
    assert found == [(text, text is not None and has_zone(text)) for text in ZONES]
    assert not any(day(text) for text, zoned in found if zoned)
    assert sum(zoned for _, zoned in found) == 12


def named(recoding):
    return repr(recoding)[:60] if isinstance(recoding, Recoding) else recoding


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")  # small queries
        yield connection


def store(database, values, kind="VARCHAR"):
    """The rows that are recoded next."""
    database.execute(f"CREATE OR REPLACE TEMP TABLE raw (n INTEGER, v {kind})")
    if kind == "VARCHAR":
        database.execute("INSERT INTO raw SELECT unnest(?), unnest(?)", [list(range(len(values))), values])
    else:
        database.executemany("INSERT INTO raw VALUES (?, ?)", [list(row) for row in enumerate(values)])


def in_sql(database, recoding, typed=False):
    if isinstance(recoding, Lookup):
        database.execute("CREATE OR REPLACE TEMP TABLE codes (k VARCHAR, c INTEGER)")
        database.executemany("INSERT INTO codes VALUES (?, ?)", [list(pair) for pair in recoding.lookup.items()])
        code = f"COALESCE(c, {recoding.fallback_sql('v')})"
        query = f"SELECT {code} AS answer, n FROM raw LEFT JOIN codes ON CAST(v AS VARCHAR) = k"
    elif isinstance(recoding, Open):
        query = f"SELECT {recoding.label_sql('v', typed)} AS answer, n FROM raw"
    else:
        query = f"SELECT {recoding.sql('v', typed)} AS answer, n FROM raw"
    answers = database.execute(f"SELECT answer, typeof(answer) FROM ({query}) ORDER BY n").fetchall()
    wanted = "VARCHAR" if isinstance(recoding, Open) else "INTEGER"
    assert {kind for _, kind in answers} <= {wanted}
    found = [answer for answer, _ in answers]
    if typed and isinstance(recoding, ComputedRecoding):
        quick = database.execute(f"SELECT {recoding.quick_sql('v', whole=False)} FROM raw ORDER BY n").fetchall()
        assert [code for (code,) in quick] == found, recoding
    return found


def in_python(recoding, values):
    return [recoding.code(value) if isinstance(recoding, ClosedRecoding) else recoding.label(value) for value in values]


def assert_agree(database, recodings, values, kind="VARCHAR", texts=None):
    store(database, values, kind)
    for recoding in recodings:
        expected = in_python(recoding, values if texts is None else texts)
        found = in_sql(database, recoding, kind != "VARCHAR")
        assert [each for each in zip(values, expected, found, strict=True) if each[1] != each[2]] == [], recoding


def test_nasty_values(database):
    assert_agree(database, EVERY, NASTY)


def around(value):
    return [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]


@for_each("recoding", NUMERIC)
def test_every_end_and_the_doubles_beside_it(database, recoding):
    finest = recoding.finest if isinstance(recoding, WiderClasses) else recoding
    ends = finest._ends if isinstance(finest, Breaks) else [finest.end(i) for i in range(min(finest.size, 3000))]
    doubles = [near for end in ends for near in around(float(end))]
    assert_agree(database, [recoding], [repr(value) for value in doubles])


WHOLE = [
    *NUMERIC,
    Intervals(-128, 127, 5, include_stop=True),
    Intervals(-7, 14, 3, bottom=True, include_stop=True, missing="m"),
    Intervals(0, 10, 5, bottom=True, top=True, whole=True, other="o"),
]


@for_each(
    ("kind", "extremes"), [("TINYINT", (-128, 127)), ("UINTEGER", (0, 2**32 - 1)), ("BIGINT", (-(2**63), 2**63 - 1))]
)
def test_whole_numbers_in_the_quicker_way(database, kind, extremes):
    low, high = extremes
    values = sorted({value for value in (*range(-128, 128), *extremes, 2**50, -(2**50)) if low <= value <= high})
    database.execute(f"CREATE OR REPLACE TEMP TABLE whole AS SELECT unnest(?)::{kind} AS v", [values])
    for recoding in WHOLE:
        found = database.execute(f"SELECT {recoding.quick_sql('v', whole=True)} FROM whole ORDER BY v").fetchall()
        assert [code for (code,) in found] == in_python(recoding, map(str, values)), named(recoding)


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-120, 120),
    st.floats(-1.2, 1.2),
    st.integers(-(2**70), 2**70),
    st.integers(-200, 200),
    st.decimals(-2, 2, places=7, allow_nan=False),
).map(str)
texts = st.one_of(
    st.none(),
    st.sampled_from(NASTY),
    numbers,
    numbers.map(lambda text: f"  {text}\t"),
    st.text("0123456789eE+-._ \t", max_size=12),
    st.text(st.characters(codec="utf-8"), max_size=12),
)
days = st.one_of(
    st.dates().map(str),
    st.datetimes().map(str),
    st.dates(date(1890, 1, 1), date(2030, 1, 1)).map(str),
    st.text("0123456789-T: Z", max_size=16),
)


@settings(max_examples=3, deadline=None)
@given(values=st.lists(texts, min_size=80, max_size=160))
def test_any_text(database, values):
    assert_agree(database, EVERY, values)


@settings(max_examples=4, deadline=None)
@given(values=st.lists(days, min_size=100, max_size=200))
def test_any_date(database, values):
    assert_agree(database, DATED, values)


@settings(max_examples=20, deadline=None)
@given(
    start=st.decimals(-1000, 1000, places=3),
    width=st.decimals(Decimal("0.001"), 50, places=3),
    steps=st.integers(1, 400),
    bottom=st.booleans(),
    top=st.booleans(),
    picks=st.lists(st.tuples(st.integers(-1, 401), st.floats(-0.01, 0.01)), min_size=5, max_size=40),
)
def test_any_intervals(database, start, width, steps, bottom, top, picks):
    recoding = Intervals(start, start + steps * width, width, bottom=bottom, top=top)
    ends = [recoding.end(index) for index, _ in picks]
    values = [near for end in ends for near in around(end)]
    values += [end + shift for end, (_, shift) in zip(ends, picks, strict=True)]
    assert_agree(database, [recoding], [repr(value) for value in values])


def test_typed_numbers(database):
    whole = [None, -(2**63), -1, 0, 1, 9, 10, 99, 100, 101, 2**53 + 1, 2**63 - 1]
    real = [None, 0.1 + 0.2, 0.3, -0.0, 1e308, float("nan"), float("inf"), -float("inf"), 5e-324, -1e-20, 100.0, 10.0]
    for kind, values in (("BIGINT", whole), ("DOUBLE", real)):
        assert_agree(database, NUMERIC, values, kind, [None if value is None else repr(value) for value in values])


@for_each("kind", ["DATE", "TIMESTAMP"])
def test_typed_dates(database, kind):
    texts = [None, "0001-01-01", "9999-12-31", "1900-01-01", "2019-12-31", "2020-01-01", "2021-01-03", "2024-02-29"]
    assert_agree(database, DATED, texts, kind)


def test_dates_out_of_reach_are_outside(database):
    far = ["infinity", "-infinity", "10000-01-01", "0001-12-31 (BC)"]
    assert_agree(database, DATED, far, "DATE", ["x"] * len(far))


BOUNDED = [
    BoundedRecoding(0, 100, 1),
    BoundedRecoding(0, 100, 10, outside="clamp"),
    BoundedRecoding(Decimal("0.1"), Decimal("0.7"), Decimal("0.1"), blank=Decimal("0.3")),
    BoundedRecoding(-1, 1, Decimal("0.0003125"), outside="clamp", blank=0),
]


@for_each("bounded", BOUNDED)
def test_steps_between_bounds(database, bounded):
    low, high = float(bounded.start), float(bounded.stop)
    middles = [low + (high - low) * (2 * i + 1) / (2 * bounded.steps) for i in range(min(bounded.steps, 200))]
    values = [*NASTY, *(repr(near) for value in (low, high, *middles) for near in around(value))]
    values = [value for value in values if value is None or "\0" not in value]

    def steps(given, kind):
        rows = f"(SELECT unnest(CAST(? AS {kind}[])) AS v, generate_subscripts(CAST(? AS {kind}[]), 1) AS n)"
        query = f"SELECT {bounded.sql('v', kind == 'DOUBLE')} FROM {rows} ORDER BY n"
        return [answer for (answer,) in database.execute(query, [given, given]).fetchall()]

    found = steps(values, "VARCHAR")
    assert found == [bounded.code(value) for value in values]
    assert all(code is None or 0 <= code <= bounded.steps for code in found)
    doubles = [near for value in (low, high, *middles) for near in around(value)]
    typed = steps([*doubles, math.nan, math.inf, -math.inf], "DOUBLE")
    assert typed == [*(bounded.code(repr(value)) for value in doubles), None, None, None]
