"""Specifications: what is drawn, in which order, with which ticks."""

import math

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import Axis, line_chart
from crowdblend.figures.chart import POWER_LABEL, log_ticks
from crowdblend.figures.style import PALETTE

X, Y = Axis("epsilon", "ε"), Axis("delta", "δ", log=True)


def rows(*series: str, **fields: str) -> list[dict]:
    return [{"epsilon": x, "delta": 10.0**-x, "k": name, **fields} for name in series for x in (1, 5, 9)]


def chart(data: list[dict], x: Axis = X, y: Axis = Y) -> dict:
    return line_chart(data, x=x, y=y, series="k", title="Title", subtitle="Below")


def test_series_keep_their_order_and_have_their_own_colours():
    scale = chart(rows("k = 5", "k = 20", "k = 10"))["encoding"]["color"]["scale"]
    assert scale["domain"] == ["k = 5", "k = 20", "k = 10"]
    assert len(set(scale["range"])) == 3


def test_headings():
    spec = chart(rows("a"))
    assert spec["title"] == {"text": "Title", "subtitle": "Below"}
    assert spec["encoding"]["x"]["title"] == "ε"
    assert "subtitle" not in line_chart(rows("a"), x=X, y=Y, series="k", title="Title")["title"]


def test_exact_is_solid_and_published_dashed():
    spec = chart(rows("a", bound="published") + rows("a", bound="exact"))
    scale = spec["encoding"]["strokeDash"]["scale"]
    dashes = dict(zip(scale["domain"], scale["range"], strict=True))
    assert dashes["exact"][1] == 0 < dashes["published"][1]


def test_without_the_field_no_line_is_dashed():
    assert "strokeDash" not in chart(rows("a"))["encoding"]


@pytest.mark.parametrize("value", [None, 0.0, -1.0, math.inf, math.nan])
def test_values_without_a_place_on_the_axis_are_left_out(value):
    spec = chart([*rows("a"), {"epsilon": 2, "delta": value, "k": "a"}])
    assert spec["data"]["values"] == rows("a")


def test_zero_and_negative_values_stay_on_linear_axes():
    data = [{"epsilon": 0, "delta": -1.0, "k": "a"}]
    assert chart(data, y=Axis("delta", "δ"))["data"]["values"] == data


def test_nothing_to_draw_is_refused():
    with pytest.raises(InvalidInput, match="at least one point"):
        chart([{"epsilon": 1, "delta": 0.0, "k": "a"}])


def test_more_series_than_colours_are_refused():
    names = [f"k = {k}" for k in range(len(PALETTE) + 1)]
    assert chart(rows(*names[:-1]))
    with pytest.raises(InvalidInput, match="at most 8 series, got 9"):
        chart(rows(*names))


def test_logarithmic_labels_are_short_powers():
    axis = chart(rows("a"))["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == POWER_LABEL
    assert 1e-6 in axis["values"]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.03, 1.7), (1e-30, 1e-2), (1, 1), (1, 10), (9, 11), (1e-6, 1e-6), (1, 1e30), (3e-200, 2e7), (0.004, 1)],
)
def test_ticks_enclose_the_values_and_are_few(low, high):
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 11
    assert ticks == sorted(set(ticks))
    assert ticks[0] <= low * 1.02
    assert ticks[-1] >= high / 1.02


def test_smallest_doubles_have_positive_ticks():
    assert log_ticks(5e-324, 1.0)[0] > 0
