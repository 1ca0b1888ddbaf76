"""Policies: what the steward decides, checked before a row is touched."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdblend.policies.about import About
    from crowdblend.policies.choosing import Choosing
    from crowdblend.policies.columns import Column
    from crowdblend.policies.graph import Graph, GraphStatistic, Links
    from crowdblend.policies.load import load_policy, parse_policy
    from crowdblend.policies.microdata import Microdata
    from crowdblend.policies.outlier_table import OutlierTable
    from crowdblend.policies.points import NamedBox, Points, QuadtreeRegion
    from crowdblend.policies.policy import Policy, Resources
    from crowdblend.policies.sampling import ExactSample, Sampling
    from crowdblend.policies.schema import policy_schema
    from crowdblend.policies.source import DataSource
    from crowdblend.policies.starter import init_policy
    from crowdblend.policies.statistic import Statistic
    from crowdblend.policies.statistics import Statistics
    from crowdblend.policies.synopsis import Synopsis
    from crowdblend.policies.table import NamedTable, Table

# Where each name lives: nothing is loaded before it is asked for.
_MODULES = {
    "About": "about",
    "Choosing": "choosing",
    "Column": "columns",
    "DataSource": "source",
    "ExactSample": "sampling",
    "Graph": "graph",
    "GraphStatistic": "graph",
    "Links": "graph",
    "Microdata": "microdata",
    "NamedBox": "points",
    "NamedTable": "table",
    "OutlierTable": "outlier_table",
    "Points": "points",
    "Policy": "policy",
    "QuadtreeRegion": "points",
    "Resources": "policy",
    "Sampling": "sampling",
    "Statistic": "statistic",
    "Statistics": "statistics",
    "Synopsis": "synopsis",
    "Table": "table",
    "init_policy": "starter",
    "load_policy": "load",
    "parse_policy": "load",
    "policy_schema": "schema",
}

__all__ = [
    "About",
    "Choosing",
    "Column",
    "DataSource",
    "ExactSample",
    "Graph",
    "GraphStatistic",
    "Links",
    "Microdata",
    "NamedBox",
    "NamedTable",
    "OutlierTable",
    "Points",
    "Policy",
    "QuadtreeRegion",
    "Resources",
    "Sampling",
    "Statistic",
    "Statistics",
    "Synopsis",
    "Table",
    "init_policy",
    "load_policy",
    "parse_policy",
    "policy_schema",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
