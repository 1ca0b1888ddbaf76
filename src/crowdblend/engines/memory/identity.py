"""By what a table in memory is known again: the same hashes of equal values, in whatever order."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.content import SomeRows, rows_to_look_at
from crowdblend.engines.identity import Hashes
from crowdblend.engines.memory.table import MemoryTable, Value, text_of
from crowdblend.engines.source_name import name_of
from crowdblend.ledger.sketch import Anchor

_WHOLE = re.compile(r"(-?[0-9]{1,18})(\.0)?")


class MemoryHashes:
    """The hashes of a table."""

    hashing = "memory 1"

    def __init__(self, table: MemoryTable) -> None:
        self._table = table

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, sorted."""
        return tuple(sorted(self._table.columns))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._table.rows

    @cached_property
    def some_rows(self) -> SomeRows:
        """The hashes of all columns, of the first rows."""
        most = rows_to_look_at(len(self.columns))
        return SomeRows(self.columns, np.column_stack([self._column(name)[:most] for name in self.columns]))

    def hashes(self, anchors: Sequence[Anchor]) -> list[Hashes]:
        """The hashes of all rows, by every anchor."""
        return [self._hashes(anchor) for anchor in anchors]

    def name(self, secret: bytes) -> str:
        """A name for the content of the table in this order, under the ledger's secret."""
        return name_of(
            [part for name in self.columns for part in (name.encode(), self._column(name).tobytes())], secret
        )

    def _hashes(self, anchor: Anchor) -> Hashes:
        both = np.column_stack([self._together(anchor.by), self._together(anchor.columns)])
        rows, counts = np.unique(both, axis=0, return_counts=True)
        found = [(by, content, count) for (by, content), count in zip(rows.tolist(), counts.tolist(), strict=True)]
        return Hashes(0, found, self._is_numbering(anchor))

    def _together(self, names: Sequence[str]) -> NDArray[np.uint64]:
        columns = [self._column(name) for name in names]
        if len(columns) == 1:
            return columns[0]
        rows, places = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        return np.array([_hash(row.tobytes()) for row in rows], np.uint64)[places.ravel()]

    def _column(self, name: str) -> NDArray[np.uint64]:
        column = self._table.columns[name]
        values = np.array([_hash(_canonical(value).encode()) for value in column.values], np.uint64)
        return values[column.positions]

    def _is_numbering(self, anchor: Anchor) -> bool:
        if len(anchor.columns) > 1 or not self._table.rows:
            return False
        column = self._table.columns[anchor.columns[0]]
        numbers = [_whole(column.values[at]) for at in np.unique(column.positions)]
        return all(number is not None and 0 <= number <= 2 * self._table.rows for number in numbers)


def _canonical(value: Value) -> str:
    """A value as text, the same for a whole number whatever its type."""
    if isinstance(value, datetime) and value == datetime.combine(value.date(), time()):
        value = value.date()
    whole = _whole(value)
    if isinstance(value, Decimal) and whole is None and value.is_finite():
        return f"{value:f}".rstrip("0")
    text = (text_of(value) or "") if whole is None else str(whole)
    return text.lower() if text in ("True", "False") else text


def _whole(value: Value) -> int | None:
    """The whole number that a value is or spells."""
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == int(value) else None
    spelled = _WHOLE.fullmatch(text_of(value) or "")
    return int(spelled[1]) if spelled else None


def _hash(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")
