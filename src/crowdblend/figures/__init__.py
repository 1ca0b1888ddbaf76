"""Charts: Vega-Lite specifications as plain dictionaries, and the files they are drawn to."""

from crowdblend.figures.chart import Axis, line_chart
from crowdblend.figures.files import SUFFIXES, save

__all__ = ["SUFFIXES", "Axis", "line_chart", "save"]
