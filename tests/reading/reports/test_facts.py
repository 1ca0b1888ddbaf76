"""Facts are ids and numbers in a certificate, and sentences on a page."""

from datetime import date
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import read_facts
from crowdblend.kinds.statistics.facts import StatisticFacts
from crowdblend.kinds.synopsis.facts import Queries
from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from crowdblend.methods.recoding.dates import DateRange, Dates
from crowdblend.methods.recoding.hierarchies import Hierarchies
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from crowdblend.methods.recoding.values import Prefixes, Values
from crowdblend.reading.reports.sentences import describe_column
from crowdblend.reading.reports.text import shorten
from tests.cases import for_each
from tests.reading.reports.releases import FACTS, OPEN

LINES = (("Paris", "France"), ("Lyon", "France"), ("Kyoto", "Japan"))


@for_each(
    ("recoding", "words"),
    [
        (Values(("a", "b"), other="else"), "a, b, else"),
        (
            Intervals(0, 100, 10, top=True),
            "11 classes: 0 to under 10, 10 to under 20, … 100 and over; in the data [0, 10), [10, 20), … ≥ 100",
        ),
        (Breaks((0, 5), top=True), "0 to under 5, 5 and over; in the data [0, 5), ≥ 5"),
        (Dates("quarter"), "the quarter"),
        (DateRange("year", date(1990, 1, 1), date(1992, 1, 1)), "1990, 1991"),
        (Hierarchies(LINES, 1), "France, Japan"),
        (Prefixes(3), "the first 3 characters"),
        (Axis(-8, 2, 0.5), "a coordinate from -8 to 2, rounded to 0.5, then moved by noise"),
        (
            BoundedRecoding(0, 100, 5, outside="clamp", blank=0),
            "numbers from 0 to 100, rounded to 5; values beyond were moved to the bounds, no value counted as 0",
        ),
    ],
)
def test_a_declared_domain_is_rendered(recoding: Any, words: str) -> None:
    assert describe_column(recoding.domain()) == words


def test_texts_of_more_than_eighty_characters_are_cut() -> None:
    assert [shorten("x" * size)[:80].count("x") for size in (80, 81)] == [80, 80]
    assert ["characters" in shorten("x" * size) for size in (80, 81)] == [False, True]


def test_a_closed_domain_has_every_label() -> None:
    ages = Intervals(0, 100, 1, other="unknown", missing="none")
    domain = ages.domain()
    assert domain.labels == ages.labels
    assert (domain.start, domain.to, domain.width, domain.other) == (0, 100, 1, "unknown")
    assert Prefixes(3).domain().labels is None
    assert Intervals(0, 20_000, 1).domain().labels is None, "so many follow from the bounds and the width"
    assert "Paris" not in str(Hierarchies(LINES, 1).domain())


@for_each(
    ("stated", "words"),
    [
        ({"average": "income"}, "average of income"),
        ({"fraction": {"sex": ["Female"]}}, "share of people whose sex is Female"),
        ({"count": {"sex": ["Female"], "age": ["a", "b"]}}, "number of people whose sex is Female and age is a or b"),
        ({"histogram": "age", "where": {"sex": ["Male"]}}, "people by age, where sex is Male"),
    ],
)
def test_a_statistic_is_rendered(stated: dict[str, Any], words: str) -> None:
    assert StatisticFacts(way="sample", noise_epsilon=1.0, **stated).statistic("it").words() == words


def test_a_class_of_queries_is_rendered() -> None:
    assert Queries(conjunctions=2).words({"a": 2, "b": 3, "c": 4}) == "all conjunctions of up to 2 of 3 columns"
    assert Queries(ranges="a").words({"a": 9}) == "all ranges of one column of 9 values"
    assert Queries(listed=({"a": "x"},)).words({"a": 9}) == "1 listed conjunctions"


@for_each("odd", [None, 3, [], {"recoding": []}, {"labels": 7}, {"recodings": 2}, [[{}]], "text"])
@for_each("place", [("table", "columns", "age"), ("statistics", "statistics", "mean"), ("synopsis", "queries")])
def test_facts_of_another_form_are_refused(odd: Any, place: tuple[str, ...]) -> None:
    kind, name, *inside = place
    facts = {"kind": kind, "software": {}, "columns": {"age": OPEN}, **FACTS[kind]}
    read_facts(facts)
    changed = {**facts[name], inside[0]: odd} if inside else odd
    with pytest.raises(DoesNotVerify):
        read_facts({**facts, name: changed})
