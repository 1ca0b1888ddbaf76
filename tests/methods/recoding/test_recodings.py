"""Each recoding's classes, ends and refusals."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.dates import DateRange, Dates
from crowdblend.methods.recoding.hierarchies import Hierarchies, order_hierarchy, read_hierarchy
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes, Values
from tests.cases import for_each
from tests.refusals import refuses

LINES = (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"))


def test_intervals_are_half_open():
    age = Intervals(0, 100, 10)
    assert age.size == 10
    assert (age.labels[0], age.labels[-1]) == ("[0, 10)", "[90, 100)")
    assert [age.code(text) for text in ("0", "9.99", "10", "99", "100", "-0.001")] == [0, 0, 1, 9, None, None]


def test_the_upper_end_is_included_on_request_only():
    age = Intervals(0, 100, 10, include_stop=True)
    assert age.labels[-1] == "[90, 100]"
    assert (age.code("100"), age.code("100.00000000000001")) == (9, None)


def test_midpoints_of_cells_far_beyond_the_bounds_do_not_wrap():
    """Noise knows no bounds, and 2·cell·step of these leaves 64 bits."""
    axis, cells = Axis(-(10**15), 10**15, 2 * 10**9), [-(2**40), 0, 10**6 - 1, 2**40]
    exactly = [(2 * cell + 1) * 10**9 - 10**15 for cell in cells]
    assert axis.midpoints(np.array(cells)).tolist() == pytest.approx(exactly, rel=1e-15)
    assert Axis(0, 1, 0.1).midpoints(np.array([2])).tolist() == [0.25]


@for_each(
    "axis",
    [
        Axis(0, 1000, 1),
        Axis(-35, 70, 7),
        Axis(Decimal("0.1"), Decimal("0.7"), Decimal("0.1")),
        Axis(Decimal("-8.05"), Decimal("2.2"), Decimal("0.0125")),
        Axis(10**12, 10**12 + 3, Decimal("0.01")),
    ],
)
def test_the_cells_of_many_values_are_those_of_each(axis):
    ends = np.array([axis.end(cell) for cell in range(axis.cells + 1)])
    beside = [np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf), (ends[1:] + ends[:-1]) / 2]
    values = np.concatenate([ends, *beside, [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0]])
    expected = [-1 if (cell := axis.code(repr(value))) is None else cell for value in values.tolist()]
    assert axis.codes_of(values).tolist() == expected
    inside = values[np.array(expected) >= 0]
    assert np.array_equal(axis.codes_of(inside), np.array(expected)[np.array(expected) >= 0])


def test_bottom_and_top_come_first_and_last():
    age = Intervals(0, 90, 45, bottom=True, top=True, other="unreadable", missing="none")
    assert age.labels == ("< 0", "[0, 45)", "[45, 90)", "≥ 90", "unreadable", "none")
    texts = ("-1", "0", "45", "90", "1e300", "x", "inf", "nan", "", None)
    assert [age.code(text) for text in texts] == [0, 1, 2, 3, 3, 4, 4, 4, 5, 5]


def test_ends_are_exact_decimals():
    tenths = Intervals(Decimal("0.1"), Decimal("0.7"), Decimal("0.1"))
    assert tenths.labels == ("[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.4, 0.5)", "[0.5, 0.6)", "[0.6, 0.7)")
    assert [tenths.code(f"0.{digit}") for digit in range(1, 7)] == [0, 1, 2, 3, 4, 5]
    assert tenths == Intervals(0.1, 0.7, 0.1) or tenths.labels == Intervals(0.1, 0.7, 0.1).labels


def test_labels_are_plain():
    assert Breaks((Decimal("1e5"), Decimal("2.50e5"), Decimal("300000.10"))).labels == (
        "[100000, 250000)",
        "[250000, 300000.1)",
    )
    assert Breaks((-0.0, 1)).labels == ("[0, 1)",)


def test_breaks_refuse_what_lies_beyond_unless_coded():
    income = Breaks((0, 10, 20))
    assert [income.code(text) for text in ("-1", "0", "10", "19.9", "20")] == [None, 0, 1, 1, None]
    coded = Breaks((0, 10, 20), bottom=True, top=True)
    assert coded.labels == ("< 0", "[0, 10)", "[10, 20)", "≥ 20")
    assert [coded.code(text) for text in ("-1", "0", "10", "20")] == [0, 1, 2, 3]


def test_values_are_exact():
    kind = Values(("A", "b", "007"))
    assert [kind.code(text) for text in ("A", "a", "b ", "007", "7", "", None)] == [0, None, None, 2, None, None, None]


def test_other_takes_blanks_unless_missing_is_declared():
    assert Values(("a",), other="o").label(None) == "o"
    assert Values(("a",), other="o", missing="m").label("  ") == "m"
    assert Values(("a",), missing="m").label("b") is None


def test_prefixes():
    assert [Prefixes(2).label(text) for text in ("abc", "a", "日本語", "", None)] == ["ab", "a", "日本", None, None]
    assert Prefixes(2, missing="-").label(" ") == "-"
    assert (Prefixes(2).labels, Prefixes(2).closed, Prefixes(2).size) == (None, False, None)


def test_periods():
    labels = [Dates(period).label("2021-01-03") for period in ("year", "quarter", "month", "week", "day")]
    assert labels == ["2021", "2021-Q1", "2021-01", "2020-W53", "2021-01-03"]


@for_each("period", ["year", "quarter", "month", "week", "day"])
def test_bounded_dates_list_every_period_once(period):
    when = DateRange(period, date(2019, 12, 30), date(2022, 3, 1))
    for ordinal in range(date(2019, 12, 30).toordinal(), date(2022, 3, 1).toordinal()):
        text = date.fromordinal(ordinal).isoformat()
        assert when.label(text) == Dates(period).label(text)
    assert when.code("2022-03-01") is None
    assert DateRange(period, date(2019, 12, 30), date(2022, 3, 1), include_stop=True).code("2022-03-01") is not None


@for_each("period", ["year", "quarter", "month", "week", "day"], daily=3)
def test_no_period_is_stepped_over(period):
    """Also around February, in leap years, and where a range begins or ends within a period."""
    first = date(2022, 12, 27).toordinal()
    for start in range(first, first + 70, 7):
        for length in (1, 28, 29, 64, 91, 366, 800):
            days = [date.fromordinal(start + at) for at in range(length)]
            touched = dict.fromkeys(Dates(period).label(when.isoformat()) for when in days)
            assert DateRange(period, days[0], days[-1], include_stop=True).labels == tuple(touched)


def test_levels_of_a_hierarchy():
    tree = Hierarchies(LINES, 1)
    assert (tree.labels, tree.levels, tree.lookup) == (("x", "y"), 3, {"a": 0, "b": 0, "c": 1})
    assert tree.at(0).labels == ("a", "b", "c")
    assert tree.at(2).labels == ("*",)


def read(tmp_path, content):
    (tmp_path / "h.csv").write_bytes(content)
    return read_hierarchy(tmp_path / "h.csv")


def test_hierarchy_files(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfa;x;*\r\nb;x;*\r\nc;y;*") == LINES
    assert read(tmp_path, b'"a;b";x\n\n') == (("a;b", "x"),)


@for_each("sizes", [(), (1,), (2, 3), (2, 2), (4, 2)])
def test_groups_of_neighbours_are_rising_multiples_from_two_on(sizes):
    assert order_hierarchy("abcd", (2, 4))[2] == ("c", "c – d", "a – d", "*")
    with refuses("hierarchy.nesting", "--size"):
        order_hierarchy("abcd", sizes)


@pytest.mark.parametrize("content", [b"\xff\xfe", b'"open;x\n'])
def test_unreadable_hierarchy_files(tmp_path, content):
    with pytest.raises(InvalidInput, match=r"h\.csv"):
        read(tmp_path, content)


@for_each(
    ("lines", "level", "words"),
    [
        ((), 0, "at least one value"),
        ((("a", "x"), ("b",)), 0, "same number of levels"),
        ((("a", "x"), ("a", "x")), 1, "'a' twice"),
        ((("a", ""),), 0, "blank"),
        (LINES, 3, "between 0 and 2"),
        (LINES, -1, "between 0 and 2"),
    ],
)
def test_refused_hierarchies(lines, level, words):
    with pytest.raises(InvalidInput, match=words):
        Hierarchies(lines, level)


def test_frozen_equal_and_hashable():
    assert Values(("a",)) == Values(("a",))
    assert len({Intervals(0, 10, 5), Intervals(0, 10, 5), Breaks((0, 5))}) == 2


def test_numbers_are_told_apart_to_as_many_digits_as_the_page_says():
    halves = Intervals(0, 100, 50)
    page = (Path(__file__).parents[3] / "docs" / "sources.md").read_text(encoding="utf-8")
    below, equal = re.findall(r"`(49\.9+)`", page)
    (digits,) = re.findall(r"up to ([0-9]+) digits", page)
    assert len(below.replace(".", "")) == int(digits)
    assert halves.label(below) != halves.label("50") == halves.label(equal)
    assert all(float(f"{10**15 - 1}e{power}") < float(f"1e{15 + power}") for power in range(-300, 290))
