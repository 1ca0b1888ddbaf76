"""Policies: what the steward decides, checked before a row is touched."""

from importlib import import_module
from typing import Any

# The names of each module: nothing is loaded before it is asked for.
_NAMES = {
    "about": ("About",),
    "choosing": ("Choosing",),
    "columns": ("Column",),
    "graph": ("Graph", "GraphStatistic", "Links"),
    "load": ("load_policy", "parse_policy"),
    "microdata": ("Microdata",),
    "outlier_table": ("OutlierTable",),
    "points": ("NamedBox", "Points", "QuadtreeRegion"),
    "policy": ("Policy",),
    "sampling": ("ExactSample", "Sampling"),
    "schema": ("policy_schema",),
    "source": ("DataSource",),
    "starter": ("init_policy",),
    "statistic": ("Statistic",),
    "statistics": ("Statistics",),
    "synopsis": ("Synopsis",),
    "table": ("NamedTable", "Table"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
