"""Data-independent generalizations: every class is declared before a row is read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdblend.recoding.axes import Axis
    from crowdblend.recoding.blocks import Blocks, Boxes, Grid, Quadtree
    from crowdblend.recoding.bounded_recoding import BoundedRecoding
    from crowdblend.recoding.classes import ClosedRecoding, ComputedRecoding, Lookup, Open, Recoding
    from crowdblend.recoding.dates import DateRange, Dates
    from crowdblend.recoding.hierarchies import Hierarchies, read_hierarchy
    from crowdblend.recoding.intervals import Breaks, Intervals
    from crowdblend.recoding.values import Prefixes, Values

# Where each name lives: nothing is loaded before it is asked for.
_NAMES = {
    "axes": ("Axis",),
    "blocks": ("Blocks", "Boxes", "Grid", "Quadtree"),
    "bounded_recoding": ("BoundedRecoding",),
    "classes": ("ClosedRecoding", "ComputedRecoding", "Lookup", "Open", "Recoding"),
    "dates": ("DateRange", "Dates"),
    "hierarchies": ("Hierarchies", "read_hierarchy"),
    "intervals": ("Breaks", "Intervals"),
    "values": ("Prefixes", "Values"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Axis",
    "Blocks",
    "BoundedRecoding",
    "Boxes",
    "Breaks",
    "ClosedRecoding",
    "ComputedRecoding",
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
