"""Data-independent generalizations: every class is declared before a row is read."""

from crowdblend.recoding.axes import Axis
from crowdblend.recoding.blocks import Blocks, Boxes, Grid, Quadtree
from crowdblend.recoding.bounded import Bounded
from crowdblend.recoding.breaks import Breaks
from crowdblend.recoding.classes import Closed, Computed, Lookup, Open, Recoding
from crowdblend.recoding.dates import DateRange, Dates
from crowdblend.recoding.hierarchies import Hierarchies, read_hierarchy
from crowdblend.recoding.intervals import Intervals
from crowdblend.recoding.prefixes import Prefixes
from crowdblend.recoding.values import Values

__all__ = [
    "Axis",
    "Blocks",
    "Bounded",
    "Boxes",
    "Breaks",
    "Closed",
    "Computed",
    "DateRange",
    "Dates",
    "Grid",
    "Hierarchies",
    "Intervals",
    "Lookup",
    "Open",
    "Prefixes",
    "Quadtree",
    "Recoding",
    "Values",
    "read_hierarchy",
]
