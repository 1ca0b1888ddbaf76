"""Charts of counts: every label once, in order, with its number; blanks stay blank."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import bar_chart, heatmap
from crowdblend.figures.counts import MOST_NUMBERED_COLUMNS, compact
from crowdblend.figures.style import SHADES
from tests.figures.pictures import Picture


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


@pytest.mark.parametrize("totals", [[("a", 0)], [("a", -1)], [("a", 10**18), ("b", 1)]])
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


@pytest.mark.parametrize("count", [0, -1, 9_999, 10_000, 999_999, 1_000_000, 10**15, -(10**6)])
def test_compact_numbers_fit_a_tile(count):
    assert len(compact(count)) <= 6
