"""Maps and intervals: what is drawn lies where its numbers say."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import interval_chart, point_map
from crowdblend.figures.scales import round_numbers
from tests.figures.pictures import Picture


def test_bins_lie_in_their_block_and_north_is_up():
    bins = [((0, 0, 1, 1), 5), ((3, 3, 4, 4), 50)]
    picture = Picture.parse(point_map(bins, [(0, 0, 2, 2)], names=("x", "y < z"), bounds=(0, 0, 4, 4)))
    ground, few, many, block, *_ = picture.of("rect")
    assert float(few["y"]) > float(many["y"])
    assert float(few["x"]) < float(many["x"])
    assert few["fill"] != many["fill"]
    assert block["fill"] == "none"
    assert float(block["width"]) == pytest.approx(float(ground["width"]) / 2)
    assert {"x", "y < z", "points", "50"} <= set(picture.texts())
    assert picture.inside()


@pytest.mark.parametrize("bounds", [(0, 0, 1000, 1), (-1e9, 1e-9, 1e9, 2e-9), (5, 0, 6, 1000)])
def test_any_bounds_are_drawn(bounds):
    assert Picture.parse(point_map([], [], names=("x", "y"), bounds=bounds)).inside()


def test_intervals_hold_their_values_in_the_order_given():
    picture = Picture.parse(interval_chart([("b", 5.0, 1.0, 9.0), ("a", 2.0, 0.0, 6.0)]))
    assert [text for text in picture.texts() if text.isalpha()] == ["b", "a"]
    lines = [line for line in picture.of("line") if line["y1"] == line["y2"]]
    for line, dot in zip(lines, picture.of("circle"), strict=True):
        assert float(line["x1"]) < float(dot["cx"]) < float(line["x2"])
    assert picture.inside()


@pytest.mark.parametrize("rows", [[], [("a", 1.0, 0.0, 2.0), ("a", 1.0, 0.0, 2.0)]])
def test_no_interval_or_a_label_twice_is_refused(rows):
    with pytest.raises(InvalidInput, match="label"):
        interval_chart(rows)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-7, 2e-7), (0, 1e18), (123456, 123457), (-1, 0)])
def test_round_numbers_are_few_and_between(low, high):
    ticks = round_numbers(low, high)
    assert 3 <= len(ticks) <= 8
    assert low <= ticks[0] < ticks[-1] <= high
