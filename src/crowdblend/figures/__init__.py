"""Charts: Vega-Lite specifications as plain dictionaries, and the files they are drawn to."""

from crowdblend.figures.chart import Axis, line_chart
from crowdblend.figures.counts import bar_chart, heatmap
from crowdblend.figures.files import SUFFIXES, can_draw, draw_svg, save, write_whole
from crowdblend.figures.neighbours import neighbours
from crowdblend.figures.shares import Share, share_chart

__all__ = [
    "SUFFIXES",
    "Axis",
    "Share",
    "bar_chart",
    "can_draw",
    "draw_svg",
    "heatmap",
    "line_chart",
    "neighbours",
    "save",
    "share_chart",
    "write_whole",
]
