"""The notation of CSV files: rewritten in SQL, exact numbers, and refusals of what says nothing."""

import itertools
import re

import duckdb
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.reading import day, number
from crowdblend.policies.csv_reading import CsvReading, _pattern
from tests.cases import for_each

_SPACES = " \t\n\v\f\r"
_TEXTS = [
    *("", " ", "0", "1", "-1", "+1", "1.5", "1,5", "1.234", "1,234", "1.234,5", "1,234.5", "12.34", "1.2345", "1..5"),
    *("1 234", "1\u00a0234", "1\u2009234,5", "1\u202f234", " 1 234 ", "1 23", "1'234", "1\u2019234", "1e3", "1,5e3"),
    *("?", "abc", "1.234.567,25", "12.345.67", ".5", ",5", "5,", "5.", "NaN", "inf", "0x10", "1_000", "+-5", "\t7,5\n"),
    *("5.2.2024", "05.02.2024", "31.02.2024", "2024-02-05", "2/5/2024", "20240205", "2024205", "5.2.24"),
    "5.2.2024 12:30",
    *(" 5.2.2024 ", "5.13.2024", "٥.2.2024", "５.2.2024"),
]
_NUMBERS = [
    CsvReading(decimal=d, thousands=t) for d, t in itertools.product(".,", [None, ".", ",", "'", " "]) if d != t
]
_DATES = [CsvReading(date_format=f) for f in ("%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%Y-%m-%d", "%d.%m.%Y %H:%M")]


def number_text(reading: CsvReading, text: str | None) -> str | None:
    """What SQL has to give, written out: a number with a point and no separators."""
    if text is None or not reading.changes_numbers:
        return text
    if reading.thousands is not None:
        trimmed = text.strip(_SPACES)
        if re.search(f"[{reading._separators}]", trimmed):
            if not re.fullmatch(reading._grouped_pattern, trimmed):
                return "?" + text
            text = re.sub(f"[{reading._separators}]", "", trimmed)
    return text.translate({ord(","): ".", ord("."): ","}) if reading.decimal == "," else text


def day_text(reading: CsvReading, text: str | None) -> str | None:
    """What SQL has to give, written out: YYYY-MM-DD."""
    if text is None or reading.date_format is None or not text.strip(_SPACES):
        return text
    pattern, order = _pattern(reading.date_format)
    found = re.fullmatch(pattern, text.strip(_SPACES))
    if found is None:
        return "?" + text
    year, month, day = (found[order.index(one) + 1] for one in "Ymd")
    return f"{year}-{month:0>2}-{day:0>2}"


def rewritten(reading: CsvReading, texts: list[str | None]) -> list[tuple[str | None, str | None]]:
    query = f"SELECT {reading.number_sql('t')}, {reading.day_sql('t')} FROM (SELECT unnest(?::VARCHAR[]) AS t)"
    return duckdb.execute(query, [texts]).fetchall()


@for_each("reading", [*_NUMBERS, *_DATES, CsvReading(decimal=",", thousands=".", date_format="%d.%m.%Y")])
def test_sql_rewrites_as_written_out(reading):
    texts = [*_TEXTS, None]
    assert rewritten(reading, texts) == [(number_text(reading, text), day_text(reading, text)) for text in texts]


@for_each(
    ("options", "text", "means"),
    [
        ({"decimal": ","}, "0,1", 0.1),
        ({"decimal": ","}, "1.5", None),
        ({"decimal": ","}, "1.234,5", None),
        ({"decimal": ",", "thousands": "."}, "1.234,5", 1234.5),
        ({"decimal": ",", "thousands": "."}, "1.5", None),
        ({"thousands": ","}, "1,234,567.25", 1234567.25),
        ({"thousands": ","}, "1,5", None),
        ({"decimal": ",", "thousands": " "}, "9\u202f007\u202f199\u202f254\u202f740\u202f993", 9007199254740992.0),
        ({"thousands": "'"}, "1\u2019000", 1000.0),
        ({"decimal": ","}, "1,7976931348623159e308", None),
    ],
)
def test_numbers_mean_the_nearest_double_or_nothing(options, text, means):
    assert number(rewritten(CsvReading(**options), [text])[0][0]) == means


def test_dates_mean_a_day_or_nothing():
    reading = CsvReading(date_format="%d.%m.%Y")
    assert str(day(rewritten(reading, ["29.2.2024"])[0][1])) == "2024-02-29"
    for text in ("29.2.2023", "2024-02-29", "1.2.24", "x", "1.2.2024 10:00"):
        assert day(rewritten(reading, [text])[0][1]) is None
    assert rewritten(reading, [""])[0][1] == "", "a blank stays one"


@for_each(
    ("options", "code"),
    [
        ({"delimiter": ";;"}, "delimiter"),
        ({"decimal": ";"}, "decimal"),
        ({"thousands": "x"}, "thousands"),
        ({"decimal": ",", "thousands": ","}, "thousands"),
        ({"thousands": "."}, "thousands"),
        ({"encoding": "rot13"}, "encoding"),
        ({"encoding": "no-such"}, "encoding"),
        ({"encoding": "base64"}, "encoding"),
        ({"date_format": "%d.%m.%y"}, "date-format"),
        ({"date_format": "%d.%m"}, "date-format"),
        ({"date_format": "%d.%d.%m.%Y"}, "date-format"),
        ({"date_format": "%A %d.%m.%Y"}, "date-format"),
        ({"date_format": "100%"}, "date-format"),
        ({"date_format": "%Y-%m-%dT%H:%M:%SZ"}, "date-format"),
        ({"date_format": "%d.%m.%Y %H:%M +0100"}, "date-format"),
        ({"date_format": "%Y-%m-%d %H:%M:%S.%f UTC"}, "date-format"),
    ],
)
def test_notations_that_say_nothing_are_refused(options, code):
    with pytest.raises(InvalidInput) as caught:
        CsvReading(**options)
    assert caught.value.code == f"policy.{code}"
    assert caught.value.remedy
