"""Which columns tell the rows of a source apart: by these it is known again where its ids say nothing.

They are chosen from the hashes of some rows. Columns with few values come first, the most telling of them before the
others: they are cheap to read, and hardly ever a numbering, which unrelated tables share. Columns in which nearly every
row has a value of its own come last, and only where the others do not suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.ledger.sketch import MOST

ROWS_TO_LOOK_AT = 20_000
_CELLS = 4_000_000
# These columns tell apart all but one in a thousand of the rows that all columns tell apart.
_ENOUGH = 0.999
_UNIQUE = 0.9
# At least about so many different values decide which rows a sketch keeps.
_DECIDING = 32
_MANY_ROWS = 1_000_000
# Columns with more different values than this share of rows come last.
_FEW_VALUES = 0.1


def rows_to_look_at(columns: int) -> int:
    """How many rows to look at: fewer where there are many columns."""
    return max(100, min(ROWS_TO_LOOK_AT, _CELLS // max(1, columns)))


Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Some rows of a source: the 64-bit hash of every value, by row and column."""

    names: tuple[str, ...]
    hashes: NDArray[np.uint64]

    def different(self, names: Sequence[str]) -> int:
        """How many different rows these columns tell apart."""
        return self._codes(names)[1]

    def enough(self, names: Sequence[str], among: Sequence[str]) -> bool:
        """Whether some columns tell rows apart nearly as well as all of `among`."""
        return self.different(names) >= _ENOUGH * self.different(among)

    def unique(self, names: Sequence[str]) -> list[str]:
        """Those of the columns in which nearly every row has a value of its own."""
        return [name for name in names if self.different([name]) >= _UNIQUE * len(self.hashes)]

    def telling(self, among: Sequence[str]) -> tuple[str, ...]:
        """The columns of `among` that tell rows apart nearly as well as all of them, in the order of choice."""
        values = {name: self.different([name]) for name in among}
        most = max(1.0, _FEW_VALUES * len(self.hashes))
        few = sorted((name for name in among if values[name] <= most), key=lambda name: (-values[name], name))
        many = sorted((name for name in among if values[name] > most), key=lambda name: (values[name], name))
        wanted = _ENOUGH * self.different(among)
        chosen: list[str] = []
        codes, known = np.zeros(len(self.hashes), dtype=np.int64), 1
        for name in (*few, *many):
            if known >= wanted:
                break
            finer, different = self._finer(codes, name)
            if different > known:
                chosen.append(name)
                codes, known = finer, different
        return tuple(chosen) or tuple(among)

    def deciding(self, telling: Sequence[str], rows: int) -> tuple[str, ...]:
        """The first of these columns that have enough values among all rows to decide which rows are kept.

        What decides is read of every row, the other columns only of those that are kept; that matters where there are
        many rows.
        """
        if rows < _MANY_ROWS:
            return tuple(telling)
        least = _DECIDING * rows / MOST
        for number in range(1, len(telling)):
            if self.population(telling[:number], rows) >= least:
                return tuple(telling[:number])
        return tuple(telling)

    def population(self, names: Sequence[str], rows: int) -> int:
        """About how many different rows there are among all, by how many pairs of these are equal."""
        codes, different = self._codes(names)
        number = len(codes)
        if number >= rows or not number:
            return different
        counts = np.bincount(codes)
        pairs = int((counts * (counts - 1) // 2).sum())
        return min(rows, max(different, number * (number - 1) // (2 * max(1, pairs))))

    def _codes(self, names: Sequence[str]) -> tuple[Codes, int]:
        """The number of every row among the different ones, and how many there are."""
        if len(names) == 1:
            return self._columns[names[0]]
        codes, known = np.zeros(len(self.hashes), dtype=np.int64), min(1, len(self.hashes))
        for name in names:
            codes, known = self._finer(codes, name)
        return codes, known

    def _finer(self, codes: Codes, name: str) -> tuple[Codes, int]:
        """The number of every pair of a code and a value of one more column, and how many there are."""
        values, different = self._columns[name]
        return _numbered(codes * different + values)

    @cached_property
    def _columns(self) -> dict[str, tuple[Codes, int]]:
        """The number of every value among the different ones of its column, and how many there are."""
        return {name: _numbered(self.hashes[:, at]) for at, name in enumerate(self.names)}


def _numbered(values: NDArray[Any]) -> tuple[Codes, int]:
    found, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64, copy=False), len(found)
