"""A table in memory, column by column: the different values, and which of them each row has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.engine import ColumnType

Value: TypeAlias = str | int | float | Decimal | date | None

_TYPES: tuple[tuple[type, ColumnType], ...] = (
    (bool, ColumnType.OTHER),
    (int, ColumnType.WHOLE),
    (float, ColumnType.DOUBLE),
    (Decimal, ColumnType.DECIMAL),
    (datetime, ColumnType.TIMESTAMP),
    (date, ColumnType.DATE),
    (str, ColumnType.TEXT),
)


@dataclass(frozen=True, eq=False)
class MemoryColumn:
    """The different values of a column, and for each row the position of its value."""

    values: tuple[Value, ...]
    positions: NDArray[np.int64]

    @cached_property
    def type(self) -> ColumnType:
        """What the values are; a column without values is text."""
        kinds = {_kind_of(python) for python in {type(value) for value in self.values if value is not None}}
        if len(kinds) > 1:
            raise TypeError("the values of a column must have one type")
        kind = kinds.pop() if kinds else ColumnType.TEXT
        if kind is ColumnType.WHOLE and not all(value is None or -(2**63) <= value < 2**63 for value in self.values):  # type: ignore[operator]
            return ColumnType.OTHER
        zoned = kind is ColumnType.TIMESTAMP and any(getattr(value, "tzinfo", None) for value in self.values)
        return ColumnType.ZONED if zoned else kind

    def texts(self) -> list[str | None]:
        """The different values as the texts that they are shown as."""
        return [text_of(value) for value in self.values]


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """Columns by name, all with the same number of rows."""

    columns: Mapping[str, MemoryColumn]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())).positions)

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Value]]) -> MemoryTable:
        """A table from lists of values."""
        return cls({name: _column(values) for name, values in columns.items()})

    @classmethod
    def of_crowds(cls, names: Sequence[str], crowds: Sequence[tuple[Sequence[Value], int]]) -> MemoryTable:
        """A table of people, so many of each combination of values in turn."""
        sizes = [size for _, size in crowds]
        columns = {}
        for place, name in enumerate(names):
            each = _column([values[place] for values, _ in crowds])
            columns[name] = MemoryColumn(each.values, np.repeat(each.positions, sizes))
        return cls(columns)

    def with_persons(self, name: str) -> MemoryTable:
        """The same people, called 1, 2, 3, … in a column of this name."""
        numbers = MemoryColumn(tuple(range(1, self.rows + 1)), np.arange(self.rows))
        return MemoryTable({name: numbers, **self.columns})


def _column(values: Sequence[Value]) -> MemoryColumn:
    different: dict[tuple[type, Value], int] = {}
    # 1, 1.0 and True are equal in Python, and NaN is not equal to itself.
    keys = [(type(value), value if is_finite(value) else str(value)) for value in values]
    positions = [different.setdefault(key, len(different)) for key in keys]
    found: list[Value] = [None] * len(different)
    for value, position in zip(values, positions, strict=True):
        found[position] = value
    return MemoryColumn(tuple(found), np.array(positions, dtype=np.int64))


def is_finite(value: Value) -> bool:
    """Whether a value is no infinity and not the number that is none."""
    return not isinstance(value, float) or math.isfinite(value)


def _kind_of(python: type) -> ColumnType:
    """The type of values of a Python type."""
    return next((kind for known, kind in _TYPES if issubclass(python, known)), ColumnType.NESTED)


def text_of(value: Value) -> str | None:
    """A value as the text that it is shown as; a recoding is defined on that."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else str(float(value))
    return str(value)
