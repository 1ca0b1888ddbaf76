"""An engine whose sources stay open, for reading the same few people many times.

Starting a database takes longer than reading a few thousand people.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

from crowdblend.engines.engine import Engine, Progress, Source
from crowdblend.policies.source import DataSource, Resources


class KeptOpen:
    """The sources of another engine, each opened once and closed when the stack is left."""

    def __init__(self, engine: Engine, stack: ExitStack) -> None:
        self.name, self.assumptions, self.check = engine.name, engine.assumptions, engine.check
        self._engine, self._stack = engine, stack
        self._opened: list[tuple[DataSource, object, Source]] = []

    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> AbstractContextManager[Source]:
        """Return the source, the one that is open already if it is the same."""
        asked = (tuple(columns), resources, progress)
        for known, how, source in self._opened:
            if known is data and how == asked:
                return nullcontext(source)
        source = self._stack.enter_context(self._engine.open(data, columns, resources, progress))
        self._opened.append((data, asked, source))
        return nullcontext(source)
