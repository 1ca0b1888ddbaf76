"""Figures: counts, intervals and maps as SVG text; lines and shares as Vega-Lite, drawn to files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdblend.figures.chart import Axis, line_chart
    from crowdblend.figures.counts import bar_chart, heatmap
    from crowdblend.figures.files import SUFFIXES, draw_svg, save, write_whole
    from crowdblend.figures.intervals import interval_chart
    from crowdblend.figures.maps import point_map
    from crowdblend.figures.ranges import Range, range_chart
    from crowdblend.figures.shares import Share, share_chart

# Where each name lives: nothing is loaded before it is asked for.
_MODULES = {
    "SUFFIXES": "files",
    "Axis": "chart",
    "Range": "ranges",
    "Share": "shares",
    "bar_chart": "counts",
    "draw_svg": "files",
    "heatmap": "counts",
    "interval_chart": "intervals",
    "line_chart": "chart",
    "point_map": "maps",
    "range_chart": "ranges",
    "save": "files",
    "share_chart": "shares",
    "write_whole": "files",
}

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
    "point_map",
    "range_chart",
    "save",
    "share_chart",
    "write_whole",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
