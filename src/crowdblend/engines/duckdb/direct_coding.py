"""From raw values to packed codes in the very query that reads them: a row comes as its person and one number.

Columnar files keep short lists of texts as numbers with a dictionary. The database evaluates a function once for each
entry of a dictionary, and no text has to be handed over, filtered and looked up. All rows are recoded, also those that
are not drawn; that takes less than handing over what they hold. Only coordinates that are doubles come as they are:
NumPy finds their cells in a quarter of the time. What has no class is only looked at where it was drawn: then
`HasNoClass` is raised, and the slower way, which has the values at hand, knows what to say of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import PackedCodes
from crowdblend.engines.duckdb.coding import Coding, reads_typed
from crowdblend.engines.engine import ColumnType
from crowdblend.policies.columns import Column
from crowdblend.recoding import Axis, Closed, Computed, Lookup
from crowdblend.recoding.reading import blank_sql, quoted

if TYPE_CHECKING:
    import pyarrow

# Formats that keep columns apart, so that those of one type are there in that type.
_COLUMNAR = ("parquet", "duckdb")
# A list is gone through one by one where there is no dictionary.
_LONGEST_LIST = 32
_NO_CLASS = -1
# Below these, INTEGER holds all whole numbers, and DOUBLE holds them exactly.
_SMALL, _EXACT = 1 << 31, 1 << 53


class HasNoClass(Exception):
    """Somebody who is drawn has a value outside the domain; nothing is said of it here."""


def recodes_directly(form: str, columns: Sequence[Column], types: Sequence[ColumnType]) -> bool:
    """Whether rows of a source in this format may be recoded while they are read."""
    return form in _COLUMNAR and all(_is_quick(column, kind) for column, kind in zip(columns, types, strict=True))


def _is_quick(column: Column, kind: ColumnType) -> bool:
    recoding = column.recoding
    if isinstance(recoding, Lookup):
        return len(recoding.lookup) <= _LONGEST_LIST
    return isinstance(recoding, Computed) and reads_typed(column, kind)


class DirectCoding(Coding):
    """The recodings of some columns as part of the query that reads them."""

    _joining = False

    @cached_property
    def _coordinates(self) -> dict[int, Axis]:
        """The columns that NumPy recodes: doubles on an axis that has a class for each of them or refuses it."""
        return {
            position: column.recoding
            for position, column in enumerate(self._columns)
            if isinstance(column.recoding, Axis)
            and column.recoding.other is None
            and self._types[position] is ColumnType.DOUBLE
        }

    @cached_property
    def _packed_in_sql(self) -> set[int]:
        """The numbers of the packed code in which the database has a part."""
        return {place.at for position, place in enumerate(self.packing.places) if position not in self._coordinates}

    def selected(self, identifiers: Sequence[str]) -> str:
        """The packed codes in the columns p0, p1, …, and in o0, o1, … the values that went to `other`."""
        codes = [self._direct_sql(position, name) for position, name in enumerate(identifiers)]
        parts = [f"{self._packed(codes, at)} AS p{at}" for at in self._packed_in_sql]
        parts += [f"{identifiers[position]} AS v{position}" for position in self._coordinates]
        for position in self._outside:
            text = f"CAST({identifiers[position]} AS VARCHAR)"
            blank = f"CASE WHEN {blank_sql(text)} THEN '' ELSE {text} END"
            recoding = self._columns[position].recoding
            assert isinstance(recoding, Closed)
            parts.append(f"CASE WHEN {codes[position]} = {recoding.other_code} THEN {blank} END AS o{position}")
        return ", ".join(parts)

    def coded(self, rows: pyarrow.Table, carried: Sequence[str] = ()) -> tuple[PackedCodes, list[NDArray[Any]]]:
        """The classes of some rows, and the carried columns, in the order of the rows."""
        codes = tuple(self._code(rows, at) for at in range(self.packing.width))
        for position, counter in self._outside.items():
            values = rows.column(f"o{position}")
            different = values.value_counts().to_pylist() if values.null_count < len(values) else []
            found = [(one["values"] or None, one["counts"]) for one in different if one["values"] is not None]
            counter.add(rows.num_rows, found)
        return codes, [rows.column(name).to_numpy() for name in carried]

    def _code(self, rows: pyarrow.Table, at: int) -> NDArray[np.int64]:
        """One number of the packed code of each row."""
        parts: list[NDArray[np.int64]] = (
            [rows.column(f"p{at}").to_numpy().astype(np.int64)] if at in self._packed_in_sql else []
        )
        for position, axis in self._coordinates.items():
            if self.packing.places[position].at == at:
                chunks = (chunk.to_numpy(zero_copy_only=False) for chunk in rows.column(f"v{position}").chunks)
                parts.append(np.concatenate([axis.codes_of(chunk) for chunk in chunks]))
                parts[-1] *= self.packing.places[position].weight
        if any((part < 0).any() for part in parts):
            raise HasNoClass
        for part in parts[1:]:
            parts[0] += part
        return parts[0]

    def _packed(self, codes: Sequence[str], at: int) -> str:
        """One number of the packed code; a sum with NULL is NULL, and stands for a value without a class.

        Sums of doubles are as exact, and quicker: after every sum of whole numbers the database looks whether it fits.
        """
        places = {
            position: place
            for position, place in enumerate(self.packing.places)
            if place.at == at and position not in self._coordinates
        }
        largest = max(place.weight * place.size for place in places.values())
        kind = "DOUBLE" if largest <= _EXACT else "BIGINT"
        terms = [f"CAST({codes[position]} AS {kind}) * {place.weight}" for position, place in places.items()]
        return f"COALESCE(CAST({' + '.join(terms)} AS {'INTEGER' if largest <= _SMALL else 'BIGINT'}), {_NO_CLASS})"

    def _direct_sql(self, position: int, name: str) -> str:
        recoding = self._columns[position].recoding
        if isinstance(recoding, Computed):
            return recoding.whole_sql(name) if self._types[position] is ColumnType.WHOLE else recoding.sql(name, True)
        assert isinstance(recoding, Lookup)
        text = name if self._types[position] is ColumnType.TEXT else f"CAST({name} AS VARCHAR)"
        place = f"list_position([{', '.join(map(quoted, recoding.lookup))}], {text})"
        codes = list(recoding.lookup.values())
        in_order = codes == list(range(len(codes)))
        code = f"(CAST({place} AS DOUBLE) - 1)" if in_order else f"list_extract({codes}, {place})"
        return code if recoding.missing_code is None else f"COALESCE({code}, {recoding.fallback_sql(text)})"
