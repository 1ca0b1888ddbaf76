"""Figures: counts, intervals, maps and neighbours as SVG text; lines and shares as Vega-Lite, drawn to files."""

from crowdblend.figures.chart import Axis, line_chart
from crowdblend.figures.counts import bar_chart, heatmap
from crowdblend.figures.files import SUFFIXES, draw_svg, save, write_whole
from crowdblend.figures.intervals import interval_chart
from crowdblend.figures.maps import point_map
from crowdblend.figures.neighbours import neighbours
from crowdblend.figures.ranges import Range, range_chart
from crowdblend.figures.shares import Share, share_chart

__all__ = [
    "SUFFIXES",
    "Axis",
    "Range",
    "Share",
    "bar_chart",
    "draw_svg",
    "heatmap",
    "interval_chart",
    "line_chart",
    "neighbours",
    "point_map",
    "range_chart",
    "save",
    "share_chart",
    "write_whole",
]
