"""The persons of a table in memory: who is drawn, and whether somebody has several rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import PackedCodes
from crowdblend.engines.draw import Coin, Everybody, StratifiedCoin, row_key_of
from crowdblend.engines.engine import ColumnType
from crowdblend.engines.memory.table import MemoryColumn, is_finite
from crowdblend.engines.packing import Packing
from crowdblend.engines.persons import DuplicateCheck, Mask, Persons, RandomRowPerPerson, read_persons
from crowdblend.engines.sampling import in_part
from crowdblend.lazy import lazy
from crowdblend.randomness import new_key

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy("pyarrow")

Places: TypeAlias = NDArray[np.int64]


class MemoryPersons:
    """The persons of all rows."""

    def __init__(self, column: MemoryColumn, name: str) -> None:
        if column.type is ColumnType.WHOLE:
            values = pa.array(column.values, pa.int64())
        else:
            named = zip(column.values, column.texts(), strict=True)
            values = pa.array([text if is_finite(value) else None for value, text in named], pa.string())
        self.all: Persons = read_persons(values.take(pa.array(column.positions)), name)
        self._name, self._rows, self._people = name, len(column.positions), len(column.values)
        self._last: tuple[tuple[bytes, float], Mask] | None = None

    def drawn(self, draw: Everybody | Coin) -> Places:
        """Where the rows of those are who are in the sample."""
        places = np.arange(self._rows)
        persons = self.all
        if isinstance(draw, Coin):
            mask = self._by_coin(draw.key.persons, draw.rate)
            places, persons = np.flatnonzero(mask), persons.where(mask)
        if draw.part is not None:
            places = places[in_part(draw.part, persons)]
        return places

    def refuse_duplicates(self, places: Places | None) -> None:
        """Refuse when somebody has two of these rows, or of all."""
        if self._unique:
            return
        some = self.all if places is None else self._at(places)
        check = DuplicateCheck(new_key(), self._name, None)
        check.add(some)
        check.check(lambda: [some])

    def one_row_each(self, places: Places, codes: PackedCodes, packing: Packing, draw: Everybody | Coin) -> PackedCodes:
        """The packed codes of one random row of everybody in the sample."""
        key = row_key_of(draw)
        each = RandomRowPerPerson(key, packing.width, None)
        low, high = np.ascontiguousarray(self._at(places).marks(key).T)
        each.add(low, high, codes)
        return each.chosen(packing.content)

    def one_row_of_all(
        self, codes: PackedCodes, packing: Packing, draw: StratifiedCoin
    ) -> tuple[PackedCodes, NDArray[np.uint64]]:
        """The packed codes of one random row of everybody, and their marks by the coin of the draw."""
        each = RandomRowPerPerson(row_key_of(draw), packing.width, None)
        low, high = np.ascontiguousarray(self.all.marks(draw.key.persons).T)
        each.add(low, high, codes)
        return each.chosen_with_marks(packing.content)

    def some_rows_each(
        self, places: Places, codes: PackedCodes, packing: Packing, draw: Everybody | Coin, most: int, distinct: bool
    ) -> tuple[PackedCodes, int]:
        """The packed codes of at most so many random rows of everybody, and how many people there are."""
        key = row_key_of(draw)
        each = RandomRowPerPerson(key, packing.width, None)
        low, high = np.ascontiguousarray(self._at(places).marks(key).T)
        each.add(low, high, codes)
        return each.several(packing.content, most, distinct=distinct)

    def _by_coin(self, key: bytes, rate: float) -> Mask:
        """Who is in the sample; those who choose and those who are published come from the same one."""
        if self._last is None or self._last[0] != (key, rate):
            self._last = (key, rate), self.all.drawn(key, rate)
        return self._last[1]

    def _at(self, places: Places) -> Persons:
        mask = np.zeros(self._rows, dtype=np.bool_)
        mask[places] = True
        return self.all.where(mask)

    @cached_property
    def _unique(self) -> bool:
        marked = self.all.marks(new_key())
        # Whoever differs in the first word differs; words are compared far faster than pairs of them.
        return len(np.unique(marked[:, 0])) == len(marked) or len(np.unique(marked, axis=0)) == len(marked)
