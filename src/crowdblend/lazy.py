"""Modules that are imported at their first use, so that a command pays only for what it needs.

    if TYPE_CHECKING:
        import duckdb
    else:
        duckdb = lazy("duckdb")

Type checkers and import contracts read the plain import; at run time the name stands for a module not yet loaded.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """A stand-in that imports its module when the first attribute is read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def lazy(name: str) -> ModuleType:
    """Return a stand-in for the module `name`, imported at its first use."""
    return _LazyModule(name)
