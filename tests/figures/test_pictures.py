"""Pictures of reports: every label once, in order, with its number, where its numbers say; blanks stay blank."""

from itertools import pairwise

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures.bars import Range, bar_chart, interval_chart, range_chart
from crowdblend.figures.drawing import SHADES
from crowdblend.figures.maps import MOST_NUMBERED_COLUMNS, compact, heatmap, point_map
from crowdblend.figures.recodings import class_ruler
from crowdblend.figures.scales import round_numbers
from tests.cases import for_each
from tests.figures.pictures import Picture

HEADINGS = ("finer", "", "coarser")


def test_bars_keep_their_order_and_show_their_numbers():
    picture = Picture.parse(bar_chart([("b", 1200), ("a <i>", 600), ("c", 0)]))
    assert picture.texts() == ["b", "1,200", "a <i>", "600", "c", "0"]
    widths = [float(bar["width"]) for bar in picture.of("rect")]
    assert widths[0] == pytest.approx(2 * widths[1])
    assert widths[2] == 0
    assert picture.inside()


def test_bars_below_zero_go_to_the_left():
    up, down = Picture.parse(bar_chart([("a", 30), ("b", -10)])).of("rect")
    assert float(down["x"]) + float(down["width"]) == pytest.approx(float(up["x"]), abs=0.02)
    assert float(up["width"]) == pytest.approx(3 * float(down["width"]), abs=0.05)


def test_on_a_narrow_page_a_note_that_is_too_long_has_a_line_of_its_own():
    for label, beside in (("a", True), ("a" * 60, False)):
        shapes = Picture.parse(range_chart([Range(label, 10, 20, 15, "10 to 20")], narrow=True)).shapes
        heights = [at["y"] for name, at, text in shapes if text in (label, "10 to 20")]
        assert len(heights) == 2
        assert (heights[0] == heights[1]) is beside


def test_the_classes_of_a_ruler_lie_in_it_one_after_the_other():
    picture = Picture.parse(class_ruler([0, 10, 20], bottom=True, top=True))
    assert picture.inside()
    places = sorted((float(block["x"]), float(block["width"])) for block in picture.of("rect"))
    assert all(x + width <= other + 1 for (x, width), (other, _) in pairwise(places))
    assert sum(width for _, width in places) > 0.9 * picture.width


@for_each("totals", [[("a", 0)], [("a", -1)], [("a", 10**18), ("b", 1)]])
def test_unusual_counts_are_drawn_inside(totals):
    assert Picture.parse(bar_chart(totals)).inside()


@pytest.mark.parametrize("totals", [[], [("a", 1), ("a", 2)]])
def test_no_label_or_one_twice_is_refused(totals):
    with pytest.raises(InvalidInput, match="label"):
        bar_chart(totals)


def tiles(svg: str) -> list[dict[str, str]]:
    """Without the ground below the tiles."""
    return [tile for tile in Picture.parse(svg).of("rect") if tile.get("stroke") == "white"]


def test_a_heatmap_leaves_unknown_pairs_blank():
    drawn = heatmap([("x", "u", 5), ("y", "v", 7), ("z", "v", 1)], rows=["x", "y"], columns=["u", "v"])
    first, second = tiles(drawn)
    assert float(first["x"]) < float(second["x"])
    assert float(first["y"]) < float(second["y"])
    assert (first["fill"], second["fill"]) == (SHADES[0], SHADES[-1])
    assert Picture.parse(drawn).texts() == ["x", "y", "u", "v", "5", "7"]
    assert Picture.parse(drawn).inside()


def test_wide_heatmaps_have_a_legend_instead_of_numbers():
    columns = [str(at) for at in range(MOST_NUMBERED_COLUMNS + 1)]
    picture = Picture.parse(heatmap([("x", column, 5000) for column in columns], rows=["x"], columns=columns))
    assert picture.texts() == ["x", *columns, "people", "5,000"]
    assert picture.inside()


def test_shades_follow_the_logarithm_where_numbers_differ_greatly():
    def middle(*counts: int) -> str:
        totals = [("x", str(at), count) for at, count in enumerate(counts)]
        return tiles(heatmap(totals, rows=["x"], columns=["0", "1", "2"]))[1]["fill"]

    assert middle(1, 1000, 10**6) == middle(0, 500, 1000)
    assert middle(10, 11, 20) != middle(10, 15, 20)


def test_an_empty_heatmap_is_refused():
    with pytest.raises(InvalidInput, match="at least one pair"):
        heatmap([], rows=["x"], columns=["u"])


@for_each("count", [0, -1, 9_999, 10_000, 999_999, 1_000_000, 10**15, -(10**6)])
def test_compact_numbers_fit_a_tile(count):
    assert len(compact(count)) <= 6


def test_a_map_that_is_twice_as_high_as_wide_fills_a_phone():
    def size(top: int) -> tuple[float, float]:
        bounds = (0, 0, 4, top)
        picture = Picture.parse(point_map([((0, 0, 1, 1), 5)], [], names=("x", "y"), bounds=bounds, narrow=True))
        assert picture.inside()
        return float(picture.of("rect")[0]["width"]), float(picture.of("rect")[0]["height"])

    assert size(8) == (size(4)[0], 2 * size(4)[0])
    assert size(20)[1] <= 2 * size(4)[0]  # a strip is no longer than that


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


@for_each("bounds", [(0, 0, 1000, 1), (-1e9, 1e-9, 1e9, 2e-9), (5, 0, 6, 1000)])
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


@for_each(("low", "high"), [(0, 1), (-3e-7, 2e-7), (0, 1e18), (123456, 123457), (-1, 0)])
def test_round_numbers_are_few_and_between(low, high):
    ticks = round_numbers(low, high)
    assert 3 <= len(ticks) <= 8
    assert low <= ticks[0] < ticks[-1] <= high
