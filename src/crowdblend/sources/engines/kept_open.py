"""An engine whose sources stay open, for reading the same people more than once.

Starting a database takes longer than reading a few thousand people, and a release looks at its source at least twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass

from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.engine import Engine, Progress, Source


@dataclass(frozen=True)
class _OpenSource:
    """A source that is open, and the columns that it is known to have."""

    data: DataSource
    resources: Resources
    source: Source
    columns: set[str]


class KeptOpen:
    """The sources of another engine, each opened once and closed when the stack is left."""

    def __init__(self, engine: Engine, stack: ExitStack, progress: Progress | None = None) -> None:
        self.name, self.assumptions, self.check = engine.name, engine.assumptions, engine.check
        self._engine, self._stack, self._progress = engine, stack, progress
        self._opened: list[_OpenSource] = []

    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, _: Progress | None = None
    ) -> AbstractContextManager[Source]:
        """Return the source, the one that is open already if it is the same; all of them report to one progress."""
        for known in self._opened:
            if known.data is data and known.resources == resources:
                if not known.columns.issuperset(columns):
                    self.check(data, columns, resources)
                    known.columns.update(columns)
                return nullcontext(known.source)
        source = self._stack.enter_context(self._engine.open(data, columns, resources, self._progress))
        self._opened.append(_OpenSource(data, resources, source, set(columns)))
        return nullcontext(source)
