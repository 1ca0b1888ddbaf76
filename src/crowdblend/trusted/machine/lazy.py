"""Modules that are imported at their first use, so that a command pays only for what it needs.

    with lazy_imports():
        import duckdb
        from crowdblend.publishing import release as publishing

Type checkers and import contracts read plain imports; at run time a name stands for a module not yet loaded. What is no
module may be imported so for annotations alone.
"""

import builtins
from _thread import allocate_lock, get_ident  # not `threading`, which may be a file of the working folder
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

# Blocks of two threads that overlapped would put each other's function back.
_ONE_BLOCK = allocate_lock()


class _LazyModule(ModuleType):
    """A stand-in that imports its module when the first attribute is read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class _LazyPackage:
    """Stand-ins for the modules of a package, which is not imported either."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> ModuleType:
        return _LazyModule(f"{self._name}.{name}")


@contextmanager
def lazy_imports() -> Iterator[None]:
    """Import nothing in this block, and give its names stand-ins; other threads import as usual meanwhile."""
    with _ONE_BLOCK:
        usual, here = builtins.__import__, get_ident()

        def stand_in(name: str, *context: Any, **names: Any) -> Any:
            if get_ident() != here:
                return usual(name, *context, **names)
            _globals, _locals, imported, _level = context
            return _LazyPackage(name) if imported else _LazyModule(name)

        builtins.__import__ = stand_in
        try:
            yield
        finally:
            builtins.__import__ = usual
