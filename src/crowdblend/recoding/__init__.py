"""Data-independent generalizations: every class is declared before a row is read."""

from crowdblend.recoding.bounded import Bounded
from crowdblend.recoding.breaks import Breaks
from crowdblend.recoding.classes import Closed, Computed, Lookup, Open, Recoding
from crowdblend.recoding.dates import DateRange, Dates
from crowdblend.recoding.hierarchies import Hierarchies, read_hierarchy
from crowdblend.recoding.intervals import Intervals
from crowdblend.recoding.prefixes import Prefixes
from crowdblend.recoding.values import Values

__all__ = [
    "Bounded",
    "Breaks",
    "Closed",
    "Computed",
    "DateRange",
    "Dates",
    "Hierarchies",
    "Intervals",
    "Lookup",
    "Open",
    "Prefixes",
    "Recoding",
    "Values",
    "read_hierarchy",
]
