"""Policies: what the steward decides, checked before a row is touched."""

from importlib import import_module
from typing import Any

# Where each name lives: nothing is loaded before it is asked for.
_PLACES = (
    "about.About",
    "choosing.Choosing",
    "columns.Column",
    "graph.Graph",
    "graph.GraphStatistic",
    "graph.Links",
    "load.load_policy",
    "load.parse_policy",
    "microdata.Microdata",
    "outlier_table.OutlierTable",
    "points.NamedBox",
    "points.Points",
    "points.QuadtreeRegion",
    "policy.Policy",
    "sampling.ExactSample",
    "sampling.Sampling",
    "schema.policy_schema",
    "source.DataSource",
    "starter.init_policy",
    "statistic.Statistic",
    "statistics.Statistics",
    "synopsis.Synopsis",
    "table.NamedTable",
    "table.Table",
)
_MODULES = {name: module for module, name in (place.split(".") for place in _PLACES)}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
