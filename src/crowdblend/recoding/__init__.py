"""Data-independent generalizations: every class is declared before a row is read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where each name lives: nothing is loaded before it is asked for.
_MODULES = {
    "Axis": "axes",
    "Blocks": "blocks",
    "Bounded": "bounded",
    "Boxes": "blocks",
    "Breaks": "breaks",
    "Closed": "classes",
    "Computed": "classes",
    "DateRange": "dates",
    "Dates": "dates",
    "Grid": "blocks",
    "Hierarchies": "hierarchies",
    "Intervals": "intervals",
    "Lookup": "classes",
    "Open": "classes",
    "Prefixes": "prefixes",
    "Quadtree": "blocks",
    "Recoding": "classes",
    "Values": "values",
    "read_hierarchy": "hierarchies",
}

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


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
