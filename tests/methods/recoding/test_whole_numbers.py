"""Classes of whole numbers: labels that say first and last, and nothing with a fraction in them.

That SQL gives the same classes is in test_sql_agrees.py.
"""

import msgspec
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.intervals import Breaks, Intervals
from tests.cases import for_each

WHOLE = [
    (Intervals(0, 30, 10, whole=True), ("0–9", "10–19", "20–29")),
    (Intervals(0, 3, 1, whole=True), ("0", "1", "2")),
    (Intervals(-10, 10, 10, whole=True, bottom=True, top=True), ("< -10", "-10 to -1", "0–9", "≥ 10")),
    (Intervals(0, 100, 50, whole=True, include_stop=True, other="?"), ("0–49", "50–100", "?")),
    (Breaks((0, 1, 18, 65), whole=True, top=True), ("0", "1–17", "18–64", "≥ 65")),
    (Breaks((0, 18), whole=True, bottom=True, missing="none"), ("< 0", "0–17", "none")),
]


@for_each(("recoding", "labels"), WHOLE)
def test_labels(recoding, labels):
    assert recoding.labels == labels


def test_fractions_are_outside():
    assert Intervals(0, 30, 10, whole=True).code("9.5") is None
    assert Intervals(0, 30, 10).code("9.5") == 0


@pytest.mark.parametrize("make", [lambda: Intervals(0, 1, 0.5, whole=True), lambda: Breaks((0, 1.5), whole=True)])
def test_ends_are_whole(make):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.code == "recoding.whole"


def test_the_declaration_says_it_only_where_it_is_so():
    assert msgspec.to_builtins(Intervals(0, 30, 10, whole=True).declaration())["whole"] is True
    assert "whole" not in msgspec.to_builtins(Intervals(0, 30, 10).declaration())
    assert "whole" not in msgspec.to_builtins(Breaks((0, 1)).declaration())
