"""Charts that stand alone: what is drawn, in which order, with which ticks, and as which file."""

import itertools
import math

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.reading.figures.charts import Axis, Line, LineChart, Share, ShareChart, save
from crowdblend.reading.figures.drawing import PALETTE, Drawing, text_width
from crowdblend.reading.figures.scales import Scale, draw_ticks, log_ticks
from tests.cases import for_each
from tests.reading.figures.pictures import Picture

X, Y = Axis("ε"), Axis("δ", log=True)
SHARES = [Share("first", 0.5, 0.25, 0.75), Share("second", 1e-6, 0.0)]


def line(name: str, bound: str | None = None) -> Line:
    return Line(name, [(x, 10.0**-x) for x in (1, 5, 9)], bound)


def chart(*lines: Line, y: Axis = Y, **more: object) -> LineChart:
    return LineChart(lines, X, y, "Title", "Below", **more)


def shares(*given: Share) -> ShareChart:
    return ShareChart(given, ("there", "not there"), "Who?", "a question", mark="at most")


CHART = chart(line("β = 0.1", "exact"), line("β = 0.1", "published"))


def test_series_keep_their_order_and_have_their_own_colours():
    picture = Picture.parse(chart(line("k = 5"), line("k = 20"), line("k = 10")).svg())
    assert [text for text in picture.texts() if text.startswith("k")] == ["k = 5", "k = 20", "k = 10"]
    signs, lines = picture.of("polyline")[:3], picture.of("polyline")[3:]
    assert len({path["stroke"] for path in lines}) == 3
    assert [path["stroke"] for path in signs] == [path["stroke"] for path in lines]


def test_whole_things_are_counted_without_fractions():
    for last, ticks in ((2, {"1", "2"}), (4, {"1", "2", "3", "4"}), (40, {"0", "10", "20", "30", "40"})):
        stairs = LineChart([Line("ε", [(1, 0.1), (last, 0.2)])], Axis("releases", whole=True), Y, "Title", steps=True)
        across = {text for text in Picture.parse(stairs.svg()).texts() if text.replace(".", "").isdigit()}
        assert across - {"0.1", "0.2"} == ticks


def test_headings_and_axes_are_named():
    assert {"Title", "Below", "ε", "δ"} <= set(Picture.parse(chart(line("a")).svg()).texts())
    assert "Below" not in Picture.parse(LineChart([line("a")], X, Y, "Title").svg()).texts()


def test_exact_is_solid_and_published_dashed():
    picture = Picture.parse(CHART.svg())
    assert ["stroke-dasharray" in path for path in picture.of("polyline")] == [False, True, False, True]
    assert {"exact", "published"} <= set(picture.texts())
    assert "stroke-dasharray" not in chart(line("a")).svg()


def test_points_lie_where_their_numbers_say():
    points = Picture.parse(chart(line("a")).svg()).paths()[0]
    assert points[1] == pytest.approx([sum(pair) / 2 for pair in zip(points[0], points[2], strict=True)], abs=0.02)
    assert points[0][0] < points[2][0]
    assert points[0][1] < points[2][1], "smaller is lower"


@for_each("value", [None, 0.0, -1.0, math.inf, math.nan])
def test_values_without_a_place_on_the_axis_are_left_out(value):
    assert chart(Line("a", [*line("a").points, (2, value)])).svg() == chart(line("a")).svg()


def test_zero_and_negative_values_stay_on_linear_axes():
    assert len(chart(Line("a", [(0, -1.0), (1, 0.0)]), y=Axis("δ")).visible_lines[0][1]) == 2


def test_nothing_to_draw_is_refused():
    with pytest.raises(InvalidInput, match="no point with finite ε and δ"):
        chart(Line("a", [(1, 0.0)]))


def test_more_series_than_colours_are_refused():
    lines = [line(f"k = {k}") for k in range(len(PALETTE) + 1)]
    assert chart(*lines[:-1]).svg()
    with pytest.raises(InvalidInput, match="at most 8 series, got 9"):
        chart(*lines)


def test_logarithmic_labels_are_short_powers():
    assert {"1e-9", "1e-6", "0.1"} & set(Picture.parse(chart(line("a")).svg()).texts()) == {"1e-9", "1e-6"}


def test_stairs_rise_upright():
    drawn = chart(Line("added up", [(1, 0.5), (2, 1.0), (3, 2.5)]), y=Axis("ε"), steps=True).svg()
    picture = Picture.parse(drawn)
    (path,) = picture.paths()
    assert all(x == x2 or y == y2 for (x, y), (x2, y2) in itertools.pairwise(path))
    assert len(picture.of("circle")) == 3


@for_each(
    ("low", "high"),
    [(0.03, 1.7), (1e-30, 1e-2), (1, 1), (1, 10), (9, 11), (1e-6, 1e-6), (1, 1e30), (3e-200, 2e7), (0.004, 1)],
)
def test_ticks_enclose_the_values_and_are_few(low, high):
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 11
    assert ticks == sorted(set(ticks))
    assert ticks[0] <= low * 1.02
    assert ticks[-1] >= high / 1.02


@for_each("width", [60, 200, 330, 700])
def test_no_two_numbers_of_an_axis_touch(width):
    picture = Drawing()
    draw_ticks(picture, Scale(0, 9, 0, width), [(at, f"{at},000,000") for at in range(10)], 20, top=None, edge=width)
    texts = [
        (float(at["x"]), text) for name, at, text in Picture.parse(picture.svg(width, 40)).shapes if name == "text"
    ]
    assert texts
    for (one, text), (other, following) in itertools.pairwise(texts):
        assert one + text_width(text) / 2 + 5.9 <= other - text_width(following) / 2


def test_smallest_doubles_have_positive_ticks():
    assert log_ticks(5e-324, 1.0)[0] > 0


def test_chances_have_their_bars_numbers_and_marks():
    picture = Picture.parse(shares(*SHARES).svg())
    assert {"first", "second", "there", "not there", "at most", "Who?", "0.25", "1e-06"} <= set(picture.texts())
    first, second, *rest = [float(bar["width"]) for bar in picture.of("rect")[3:]]
    assert first == pytest.approx(2 * second, abs=0.05)
    assert rest == pytest.approx([0, 0], abs=0.01)
    marks = [at for at in picture.of("line") if at["stroke-width"] == "2.5"]
    assert len(marks) == 2, "one in the legend, and one where something is allowed"
    assert "at most" not in shares(SHARES[1]).svg(), "nothing is marked where nothing is allowed"


@pytest.mark.parametrize("given", [[], [SHARES[0], SHARES[0]]])
def test_no_chance_or_a_label_twice_is_refused(given):
    with pytest.raises(InvalidInput, match="label"):
        shares(*given)


@for_each("narrow", [False, True])
@for_each("drawn", [CHART, chart(Line("one", [(1, 1e-3)])), shares(*SHARES)])
def test_all_is_drawn_inside_and_a_narrow_chart_fits_a_phone(drawn, narrow):
    picture = Picture.parse(drawn.svg(narrow=narrow))
    assert picture.inside()
    assert picture.width == (350 if narrow else 672)


def test_coordinates_have_two_decimals():
    places = " ".join(path["points"] for path in Picture.parse(CHART.svg()).of("polyline"))
    assert max(len(number.partition(".")[2]) for number in places.replace(",", " ").split()) == 2


@for_each("name", ["figure.pdf", "figure", "figure.svg.gz", ".svg", "figure.png", "figure.html"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(InvalidInput, match=r"written as \.svg"):
        save(CHART, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "figure.SVG"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="exists"):
        save(CHART, path)
    assert path.read_text() == "mine"
    save(CHART, path, force=True)
    assert path.read_text() == CHART.svg()
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="folder does not exist"):
        save(CHART, tmp_path / "none" / "figure.svg")


def test_a_failed_write_leaves_nothing(tmp_path):
    (tmp_path / "figure.svg").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"):
        save(CHART, tmp_path / "figure.svg", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]
