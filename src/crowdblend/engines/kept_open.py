"""An engine whose sources stay open, for reading the same few people many times.

Starting a database takes longer than reading a few thousand people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from crowdblend.engines.engine import Engine, Progress, Source
from crowdblend.policies.source import DataSource, Resources

if TYPE_CHECKING:
    from crowdblend.calculus import Assumption


class KeptOpen:
    """The sources of another engine, each opened once and closed when this one is left."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._stack = engine, ExitStack()
        self._opened: list[tuple[tuple[DataSource, tuple[str, ...], Resources, Progress | None], Source]] = []

    @property
    def name(self) -> str:
        """The name of the other engine in commands."""
        return self._engine.name

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions of the other engine."""
        return self._engine.assumptions

    @contextmanager
    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Progress | None = None
    ) -> Iterator[Source]:
        """Yield the source, the one that is open already if it is the same."""
        asked = (data, tuple(columns), resources, progress)
        for known, source in self._opened:
            if known[0] is data and known[1:] == asked[1:]:
                yield source
                return
        source = self._stack.enter_context(self._engine.open(data, columns, resources, progress))
        self._opened.append((asked, source))
        yield source

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        """Refuse a source as the other engine does."""
        self._engine.check(data, columns, resources)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
