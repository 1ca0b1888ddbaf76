"""Policies: what the steward decides, checked before a row is touched."""

from importlib import import_module
from typing import Any

# Where each name lives: nothing is loaded before it is asked for.
_PLACES = (
    "about.About",
    "choosing.Choosing",
    "columns.Column",
    "load.load_policy",
    "load.parse_policy",
    "policy.Policy",
    "sampling.Sampling",
    "schema.policy_schema",
    "source.DataSource",
    "starter.init_policy",
)
_MODULES = {name: module for module, name in (place.split(".") for place in _PLACES)}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
