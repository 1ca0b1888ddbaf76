"""From values in memory to packed codes and steps: each different value is recoded once, in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import PackedCodes
from crowdblend.engines.engine import ColumnType
from crowdblend.engines.memory.table import MemoryTable
from crowdblend.engines.packing import Packing
from crowdblend.engines.refusals import nested_column, outside_bounds
from crowdblend.policies.columns import Column
from crowdblend.recoding import Bounded, Closed

Codes = NDArray[np.int64]
_NO_CLASS = -1


class Coding:
    """The packed codes of a table's rows, kept for the columns that were asked for last."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self._last: tuple[tuple[Column, ...], Packing, PackedCodes, list[Codes]] | None = None

    def packed(self, columns: Sequence[Column], places: Codes | None) -> tuple[Packing, PackedCodes]:
        """The packed codes of the rows at these places, or of all; refuses values there that have no class."""
        packing, codes, outside = self._of_all(tuple(columns))
        for position, rows in enumerate(outside):
            if len(rows) and (places is None or np.isin(rows, places).any()):
                packing.refuse(position)
        return packing, codes if places is None else tuple(code[places] for code in codes)

    def _of_all(self, columns: tuple[Column, ...]) -> tuple[Packing, PackedCodes, list[Codes]]:
        if self._last is None or self._last[0] != columns:
            packing = Packing(columns)
            codes = tuple(np.zeros(self._table.rows, dtype=np.int64) for _ in range(packing.width))
            outside = []
            for position in range(len(columns)):
                each = self._recoded(packing, position)
                outside.append(np.flatnonzero(each == _NO_CLASS))
                codes[packing.places[position].at][:] += each * packing.places[position].weight
            self._last = columns, packing, codes, outside
        return self._last[1:]

    def _recoded(self, packing: Packing, position: int) -> Codes:
        """The code of each row's value, -1 where it has no class."""
        column = packing.columns[position]
        held, recoding = self._table.columns[column.name], column.recoding
        if held.type is ColumnType.NESTED:
            raise nested_column(column.name)
        if isinstance(recoding, Closed):
            codes = [recoding.code(text) for text in held.texts()]
            return np.array([_NO_CLASS if code is None else code for code in codes], dtype=np.int64)[held.positions]
        labels = [recoding.label(text) for text in held.texts()]
        numbers = np.full(len(labels), _NO_CLASS, dtype=np.int64)
        known = [at for at, label in enumerate(labels) if label is not None]
        numbers[known] = packing.number(position, [str(labels[at]) for at in known])
        return numbers[held.positions]


class Measuring:
    """The steps of averaged columns, each computed once."""

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self._steps: dict[tuple[str, Bounded], Codes] = {}

    def sum(self, name: str, bounded: Bounded, places: Codes) -> int:
        """The steps of the rows at these places, added up; refuses values there that lie outside the bounds."""
        if (name, bounded) not in self._steps:
            held = self._table.columns[name]
            steps = [bounded.code(text) for text in held.texts()]
            each = np.array([_NO_CLASS if step is None else step for step in steps], dtype=np.int64)
            self._steps[name, bounded] = each[held.positions]
        found = self._steps[name, bounded][places]
        if (found == _NO_CLASS).any():
            raise outside_bounds(name)
        return int(found.sum())
