"""Facts are ids and numbers in a certificate, and sentences on a page."""

from __future__ import annotations

from datetime import date
from typing import Any

from crowdblend.recoding import Axis, Bounded, Breaks, DateRange, Dates, Hierarchies, Intervals, Prefixes, Values
from crowdblend.reports.sentences import describe_column
from crowdblend.reports.views.statistics import describe_statistic
from crowdblend.reports.views.synopsis import describe_queries
from tests.cases import for_each

LINES = (("Paris", "France"), ("Lyon", "France"), ("Kyoto", "Japan"))


@for_each(
    ("recoding", "words"),
    [
        (Values(("a", "b"), other="else"), "a, b, else"),
        (Intervals(0, 100, 10, top=True), "11 classes: [0, 10), [10, 20), … ≥ 100"),
        (Breaks((0, 5), top=True), "[0, 5), ≥ 5"),
        (Dates("quarter"), "the quarter"),
        (DateRange("year", date(1990, 1, 1), date(1992, 1, 1)), "1990, 1991"),
        (Hierarchies(LINES, 1), "France, Japan"),
        (Prefixes(3), "the first 3 characters"),
        (Axis(-8, 2, 0.5), "a coordinate from -8 to 2, rounded to 0.5, then moved by noise"),
        (
            Bounded(0, 100, 5, outside="clamp", blank=0),
            "numbers from 0 to 100, rounded to 5; values beyond were moved to the bounds, no value counted as 0",
        ),
    ],
)
def test_a_declared_domain_is_rendered(recoding: Any, words: str) -> None:
    assert describe_column(recoding.domain()) == words


def test_a_closed_domain_has_every_label() -> None:
    ages = Intervals(0, 100, 1, other="unknown", missing="none")
    domain = ages.domain()
    assert tuple(domain["labels"]) == ages.labels
    assert (domain["from"], domain["to"], domain["width"], domain["other"]) == (0, 100, 1, "unknown")
    assert "labels" not in Prefixes(3).domain()
    assert "labels" not in Intervals(0, 20_000, 1).domain(), "so many follow from the bounds and the width"
    assert "Paris" not in str(Hierarchies(LINES, 1).domain())


@for_each(
    ("stated", "words"),
    [
        ({"average": "income"}, "average of income"),
        ({"fraction": {"sex": ["Female"]}}, "share of people whose sex is Female"),
        ({"count": {"sex": ["Female"], "age": ["a", "b"]}}, "number of people whose sex is Female and age is a or b"),
        ({"histogram": "age", "where": {"sex": ["Male"]}}, "people by age, where sex is Male"),
        ({"words": "average of income"}, "average of income"),
    ],
)
def test_a_statistic_is_rendered(stated: dict[str, Any], words: str) -> None:
    assert describe_statistic(stated) == words


def test_a_class_of_queries_is_rendered() -> None:
    assert describe_queries({"queries": "conjunctions", "shape": [2, 3, 4], "order": 2}) == (
        "all conjunctions of up to 2 of 3 columns"
    )
    assert describe_queries({"queries": "half-planes", "shape": [2, 3]}) == "all half-planes on a grid of 2 by 3 cells"
    assert describe_queries("all ranges of one column of 9 values") == "all ranges of one column of 9 values"


@for_each("odd", [None, 3, [], {}, {"recoding": []}, {"labels": 7}, {"recodings": 2}, [[{}]], "text"])
def test_facts_of_any_form_are_shown(odd: Any) -> None:
    assert isinstance(describe_column(odd), str)
    assert isinstance(describe_statistic(odd), str)
    assert isinstance(describe_queries(odd), str)
