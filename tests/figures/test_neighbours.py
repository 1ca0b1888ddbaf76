"""A node and its neighbours: every box once, lines that meet at the middle, and nothing to draw refused."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import draw_svg, neighbours

HEADINGS = ("finer", "", "coarser")


def test_boxes_keep_their_order_and_lines_meet_at_the_middle():
    spec = neighbours(("chosen", 50.0), [("a", 10.0), ("b", 40.4)], [("c", 90.0)], headings=HEADINGS)
    middle, *others = spec["data"]["values"]
    assert [box["name"] for box in others] == ["a", "b", "c"]
    assert [box["shown"] for box in (middle, *others)] == ["50", "10", "40", "90"]
    assert [box["far"] for box in others] == [middle["left"], middle["left"], middle["right"]]
    assert others[0]["y"] < middle["y"] == others[2]["y"] < others[1]["y"]
    assert [box["dark"] for box in others] == [False, False, True]


def test_equal_and_negative_numbers_are_drawn():
    for value in (0.0, -12.5):
        drawn = draw_svg(neighbours(("chosen", value), [], [("a", value)], headings=HEADINGS))
        assert drawn.count("<text") == 6


def test_a_node_alone_is_refused():
    with pytest.raises(InvalidInput, match="neighbour"):
        neighbours(("chosen", 1.0), [], [], headings=HEADINGS)
