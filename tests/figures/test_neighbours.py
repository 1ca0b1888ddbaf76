"""A node and its neighbours: every box once, lines that meet at the middle, and nothing to draw refused."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures.neighbours import neighbours
from tests.figures.pictures import Picture

HEADINGS = ("finer", "", "coarser")


def test_boxes_keep_their_order_and_lines_meet_at_the_middle():
    drawn = neighbours(("chosen", 50.0), [("a", 10.0), ("b", 40.4)], [("c", 90.0)], headings=HEADINGS)
    picture = Picture.parse(drawn)
    assert picture.texts() == ["a", "10", "b", "40", "chosen", "50", "c", "90", "finer", "coarser"]
    first, second, middle, last = picture.of("rect")
    assert float(first["y"]) < float(middle["y"]) == float(last["y"]) < float(second["y"])
    lines = picture.of("line")
    assert [line["x2"] for line in lines] == [middle["x"], middle["x"], str(int(middle["x"]) + int(middle["width"]))]
    assert {line["y2"] for line in lines} == {lines[-1]["y1"]}
    assert picture.inside()


def test_a_high_number_is_written_in_white_on_a_dark_box():
    picture = Picture.parse(neighbours(("chosen", 50.0), [("a", 10.0)], [("c", 90.0)], headings=HEADINGS))
    colors = {text: attributes["fill"] for name, attributes, text in picture.shapes if name == "text"}
    assert colors["c"] == "white" != colors["a"]


def test_equal_and_negative_numbers_are_drawn():
    for value in (0.0, -12.5):
        picture = Picture.parse(neighbours(("chosen", value), [], [("a", value)], headings=HEADINGS))
        assert len(picture.texts()) == 6


def test_a_node_alone_is_refused():
    with pytest.raises(InvalidInput, match="neighbours"):
        neighbours(("chosen", 1.0), [], [], headings=HEADINGS)
