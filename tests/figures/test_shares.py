"""The chart of chances draws what it is given."""

from __future__ import annotations

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import Share, draw_svg, share_chart

SHARES = [Share("first", 0.5, 0.25, 0.75), Share("second", 1e-6, 0.0)]


def chart(shares: list[Share]) -> dict:
    return share_chart(shares, worlds=("there", "not there"), title="Who?", subtitle="a question", mark="at most")


def test_rows_and_marks() -> None:
    spec = chart(SHARES)
    rows = spec["data"]["values"]
    assert [(row["label"], row["world"], row["share"]) for row in rows] == [
        ("first", "there", 0.5),
        ("first", "not there", 0.25),
        ("second", "there", 1e-6),
        ("second", "not there", 0.0),
    ]
    assert [row.get("most") for row in rows] == [0.75, None, None, None]
    assert len(spec["layer"]) == 3
    assert len(chart(SHARES[1:])["layer"]) == 2, "nothing is marked where nothing is allowed"


def test_it_can_be_drawn() -> None:
    drawn = draw_svg(chart(SHARES))
    for text in ("first", "second", "there", "not there", "at most", "Who?", "0.25", "1e-06"):
        assert f">{text}</text>" in drawn, text


@pytest.mark.parametrize("shares", [[], [SHARES[0], SHARES[0]]])
def test_nothing_or_twice_the_same_is_refused(shares: list[Share]) -> None:
    with pytest.raises(InvalidInput):
        chart(shares)
