"""Charts of counts: every label once, in order, with its number; blanks stay blank."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import bar_chart, draw_svg, heatmap
from crowdblend.figures.counts import MOST_NUMBERED_COLUMNS, compact


def test_bars_keep_their_order_and_show_their_numbers():
    rows = bar_chart([("b", 1200), ("a", -3)], title="T")["data"]["values"]
    assert [(row["label"], row["shown"], row["end"]) for row in rows] == [("b", "1,200", 1200), ("a", "-3", 0)]


@pytest.mark.parametrize("totals", [[], [("a", 1), ("a", 2)]])
def test_no_label_or_one_twice_is_refused(totals):
    with pytest.raises(InvalidInput, match="label"):
        bar_chart(totals)


def test_a_heatmap_leaves_unknown_pairs_blank():
    spec = heatmap([("x", "u", 5), ("y", "v", 7), ("z", "v", 1)], rows=["x", "y"], columns=["u", "v"])
    assert [(row["row"], row["column"], row["count"]) for row in spec["data"]["values"]] == [
        ("x", "u", 5),
        ("y", "v", 7),
    ]
    assert len(spec["layer"]) == 2


def test_wide_heatmaps_have_a_legend_instead_of_numbers():
    columns = [str(at) for at in range(MOST_NUMBERED_COLUMNS + 1)]
    spec = heatmap([("x", column, 5) for column in columns], rows=["x"], columns=columns)
    assert len(spec["layer"]) == 1
    assert spec["layer"][0]["encoding"]["color"]["legend"]


def test_shades_follow_the_logarithm_where_numbers_differ_greatly():
    def scale(*counts):
        totals = [("x", str(at), count) for at, count in enumerate(counts)]
        spec = heatmap(totals, rows=["x"], columns=["0", "1"])
        return spec["layer"][0]["encoding"]["color"]["scale"]["type"]

    assert scale(1, 1000) == "log"
    assert scale(10, 20) == scale(-5, 1000) == "linear"


def test_an_empty_heatmap_is_refused():
    with pytest.raises(InvalidInput, match="at least one pair"):
        heatmap([], rows=["x"], columns=["u"])


def test_they_are_drawn():
    pytest.importorskip("vl_convert")
    assert "1,200" in draw_svg(bar_chart([("b", 1200)]))
    assert draw_svg(heatmap([("x", "u", 5)], rows=["x"], columns=["u"])).startswith("<svg")


@pytest.mark.parametrize("count", [0, -1, 9_999, 10_000, 999_999, 1_000_000, 10**15, -(10**6)])
def test_compact_numbers_fit_a_tile(count):
    assert len(compact(count)) <= 6
