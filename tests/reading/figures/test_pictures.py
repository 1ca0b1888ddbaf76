"""Pictures of reports: every label once, in order, with its number, where its numbers say; blanks stay blank."""

from itertools import pairwise

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.bars import RangeChart, bar_chart, interval_chart
from crowdblend.reading.figures.drawing import SHADES
from crowdblend.reading.figures.maps import PointMap
from crowdblend.reading.figures.quantity import Known, Measure, Quantity, compact
from crowdblend.reading.figures.recodings import class_ruler
from crowdblend.reading.figures.scales import round_numbers
from crowdblend.reading.figures.tiles import MOST_NUMBERED_COLUMNS, TileChart
from tests.cases import for_each
from tests.reading.figures.pictures import Picture

COUNTS = Quantity("published people", Measure.COUNT)
INTERVALS = Quantity("people of the population", Measure.INTERVAL)
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
        shapes = Picture.parse(RangeChart(INTERVALS, {label: Known(9, 10, 20)}).svg(narrow=True)).shapes
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


def counted(totals: dict[tuple[str, str], int], rows: list[str], columns: list[str]) -> TileChart:
    """A chart of published numbers."""
    return TileChart(COUNTS, {pair: Known(count) for pair, count in totals.items()}, rows, columns)


def test_a_chart_of_tiles_leaves_unknown_pairs_blank():
    drawn = counted({("x", "u"): 5, ("y", "v"): 7, ("z", "v"): 1}, ["x", "y"], ["u", "v"]).svg()
    first, second = tiles(drawn)
    assert float(first["x"]) < float(second["x"])
    assert float(first["y"]) < float(second["y"])
    assert (first["fill"], second["fill"]) == (SHADES[0], SHADES[-1])
    assert Picture.parse(drawn).texts() == ["x", "y", "u", "v", "5", "7"]
    assert Picture.parse(drawn).inside()


def test_wide_charts_of_tiles_have_a_legend_instead_of_numbers():
    columns = [str(at) for at in range(MOST_NUMBERED_COLUMNS + 1)]
    chart = counted({("x", column): 5000 for column in columns}, ["x"], columns)
    assert Picture.parse(chart.svg()).texts() == ["x", *columns, "people", "5,000"]
    assert Picture.parse(chart.svg()).inside()
    assert "A tile has" not in chart.caption


def test_shades_follow_the_logarithm_where_numbers_differ_greatly_and_the_caption_says_so():
    def chart(*counts: int) -> TileChart:
        return counted({("x", str(at)): count for at, count in enumerate(counts)}, ["x"], ["0", "1", "2"])

    def middle(*counts: int) -> str:
        return tiles(chart(*counts).svg())[1]["fill"]

    assert middle(1, 1000, 10**6) == middle(0, 500, 1000)
    assert middle(10, 11, 20) != middle(10, 15, 20)
    assert "logarithmic" in chart(1, 1000, 10**6).caption
    assert "logarithmic" not in chart(10, 15, 20).caption


def test_a_chart_of_no_tiles_is_refused():
    with pytest.raises(InvalidInput, match="at least one pair"):
        counted({}, ["x"], ["u"])


def test_all_marks_show_one_quantity_the_best_that_all_numbers_have():
    """An estimate beside two ends, or beside a lower end, is shown as what the others are."""
    estimated, ends, least, unknown = Known(9, 10, 20, 14.0), Known(9, 10, 30), Known(9, 10), Known(9)
    cases = {
        Measure.ESTIMATE: [estimated, estimated],
        Measure.INTERVAL: [estimated, ends],
        Measure.LEAST: [estimated, ends, least],
        Measure.COUNT: [estimated, ends, least, unknown],
    }
    texts = {
        Measure.ESTIMATE: ("14",),
        Measure.INTERVAL: ("10–", "20"),
        Measure.LEAST: ("10",),
        Measure.COUNT: ("9",),
    }
    for measure, numbers in cases.items():
        shared = Quantity.shared_by(numbers, published="published people", estimated="people")
        assert shared.measure is measure
        assert shared.texts(estimated) == texts[measure]
        assert shared.counted == ("published people" if measure is Measure.COUNT else "people")


def test_only_tiles_with_missing_cells_are_hatched():
    numbers = {("x", "u"): Known(9, 10, 20, 14.0), ("x", "v"): Known(9, 10, 300)}
    chart = TileChart(INTERVALS, numbers, ["x"], ["u", "v"])
    _, first, second = (float(tile["x"]) for tile in Picture.parse(chart.svg()).of("rect"))
    (hatching,) = Picture.parse(chart.svg()).of("path")
    begins = float(hatching["d"].removeprefix("M").split(" ", 1)[0])
    assert first < second <= begins
    assert "hatched" in chart.caption


def test_times_run_from_left_to_right():
    numbers = {f"2020-{month:02d}": Known(month, month, 2 * month) for month in range(1, 13)}
    for narrow in (False, True):
        picture = Picture.parse(RangeChart(INTERVALS, numbers, upright=True).svg(narrow=narrow))
        labels = [float(at["x"]) for name, at, text in picture.shapes if name == "text" and text in numbers]
        assert labels == sorted(labels)
        assert len(labels) > 1
        strong = picture.of("rect")[1::2]
        assert [float(bar["height"]) for bar in strong] == sorted(float(bar["height"]) for bar in strong)
        assert float(strong[11]["height"]) == pytest.approx(12 * float(strong[0]["height"]), rel=0.01)
        assert picture.inside()


@for_each(
    ("count", "low", "high"), [(12_345, "12.3k", "12.4k"), (999_999, "999k", "1.00M"), (1_000_001, "1.00M", "1.01M")]
)
def test_ends_of_an_interval_are_rounded_outward(count, low, high):
    assert (compact(count, down=True), compact(count, up=True)) == (low, high)


@for_each("count", [0, -1, 9_999, 10_000, 999_999, 1_000_000, 10**15, -(10**6)])
def test_compact_numbers_fit_a_tile(count):
    assert len(compact(count)) <= 6


def point_map(bounds, tiles=(), blocks=(), names=("x", "y"), noise=(0.0, 0.0)) -> PointMap:
    return PointMap(tiles, blocks, names, bounds, noise, 0.95)


def test_a_map_that_is_twice_as_high_as_wide_fills_a_phone():
    def size(top: int) -> tuple[float, float]:
        picture = Picture.parse(point_map((0, 0, 4, top), [((0, 0, 1, 1), 5)]).svg(narrow=True))
        assert picture.inside()
        return float(picture.of("rect")[0]["width"]), float(picture.of("rect")[0]["height"])

    assert size(8) == (size(4)[0], 2 * size(4)[0])
    assert size(20)[1] <= 2 * size(4)[0]  # a strip is no longer than that


def test_tiles_lie_in_their_block_and_north_is_up():
    bins = [((0, 0, 1, 1), 5), ((3, 3, 4, 4), 50)]
    picture = Picture.parse(point_map((0, 0, 4, 4), bins, [(0, 0, 2, 2)], ("x", "y < z")).svg())
    ground, few, many, block, *_ = picture.of("rect")
    assert float(few["y"]) > float(many["y"])
    assert float(few["x"]) < float(many["x"])
    assert few["fill"] != many["fill"]
    assert block["fill"] == "none"
    assert float(block["width"]) == pytest.approx(float(ground["width"]) / 2)
    assert {"x", "y < z", "points", "in a tile", "5", "50"} <= set(picture.texts())
    assert picture.inside()


def test_tiles_of_different_sizes_are_shaded_by_area():
    """Four times the points on four times the area is as dense."""
    drawn = point_map((0, 0, 4, 2), [((0, 0, 1, 1), 10), ((1, 0, 3, 2), 40), ((3, 0, 4, 1), 20)])
    one, four, dense = (tile["fill"] for tile in Picture.parse(drawn.svg()).of("rect")[1:4])
    assert one == four != dense
    assert drawn.shades == "points in an area of 1 × 1"


def test_the_scale_bar_and_the_noise_have_the_lengths_that_they_name():
    """Half of the sphere's degree of longitude at 60 degrees north; noise by the axis."""
    drawn = point_map((0, 59.5, 2, 60.5), names=("lon", "lat"), noise=(0.5, 0.1))
    picture = Picture.parse(drawn.svg())
    wide = float(picture.of("rect")[0]["width"])
    lengths = [float(line["x2"]) - float(line["x1"]) for line in picture.of("line") if line["y1"] == line["y2"]]
    (said,) = (text for text in picture.texts() if text.endswith(" km"))
    degrees = float(said.removesuffix(" km")) / (111.32 / 2)
    assert lengths == pytest.approx([wide * degrees / 2, wide * 0.5 / 2, wide * 0.2 / 2], rel=0.01)


@for_each("bounds", [(0, 0, 1000, 1), (-1e9, 1e-9, 1e9, 2e-9), (5, 0, 6, 1000)])
def test_any_bounds_are_drawn(bounds):
    assert Picture.parse(point_map(bounds).svg()).inside()


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
