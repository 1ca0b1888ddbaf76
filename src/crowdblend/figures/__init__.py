"""Figures as SVG text: counts, ranges, maps and recodings for reports, lines and chances to stand alone."""

from crowdblend.figures.bars import Range, bar_chart, interval_chart, range_chart
from crowdblend.figures.charts import Axis, Chart, Line, LineChart, Share, ShareChart
from crowdblend.figures.files import save, write_whole
from crowdblend.figures.maps import heatmap, point_map
from crowdblend.figures.recodings import class_ruler, neighbours

__all__ = [
    "Axis",
    "Chart",
    "Line",
    "LineChart",
    "Range",
    "Share",
    "ShareChart",
    "bar_chart",
    "class_ruler",
    "heatmap",
    "interval_chart",
    "neighbours",
    "point_map",
    "range_chart",
    "save",
    "write_whole",
]
