"""Neighbouring classes of an ordered column joined to wider ones: a level of the tree that ranges are counted by."""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from crowdblend.frozen import dataclass
from crowdblend.recoding.classes import ComputedRecoding
from crowdblend.recoding.domain import Domain


@dataclass(frozen=True)
class WiderClasses(ComputedRecoding):
    """Classes of `times` neighbouring classes each; the last one may have fewer.

    >>> from crowdblend.recoding.intervals import Intervals
    >>> tens = Intervals(0, 50, 10)
    >>> wide = WiderClasses(tens, 2)
    >>> wide.labels, wide.code("39")
    (('[0, 10) to [10, 20)', '[20, 30) to [30, 40)', '[40, 50)'), 1)
    """

    finest: ComputedRecoding
    times: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", self.finest.reads)
        super().__post_init__()

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The first and the last label of every class."""
        names = self.finest.own_labels
        parts = [names[start : start + self.times] for start in range(0, len(names), self.times)]
        return tuple(part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts)

    def declaration(self) -> Domain:
        """Return the declaration of the finest classes, and how many of them a class has."""
        return replace(self.finest.declaration(), join=self.times)

    def own_code(self, value: str) -> int | None:
        """Return the position of the class that holds the value's finest one."""
        code = self.finest.own_code(value)
        return None if code is None else code // self.times

    def own_sql(self, column: str, typed: bool) -> str:
        """The same in SQL."""
        return f"(CAST({self.finest.own_sql(column, typed)} AS INTEGER) // {self.times})"

    def own_whole_sql(self, column: str) -> str | None:
        """The same for whole numbers."""
        own = self.finest.own_whole_sql(column)
        return None if own is None else f"(CAST({own} AS INTEGER) // {self.times})"
