"""From raw values to packed codes in the very query that reads them: a row comes as its person and one number.

Columnar files keep short lists of texts as numbers with a dictionary. The database evaluates a function once for each
entry of a dictionary, and no text has to be handed over, filtered and looked up. All rows are recoded, also those that
are not drawn; that takes less than handing over what they hold. What has no class is only looked at where it was drawn:
then `HasNoClass` is raised, and the slower way, which has the values at hand, knows what to say of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import PackedCodes
from crowdblend.engines.duckdb.coding import Coding, reads_typed
from crowdblend.engines.engine import ColumnType
from crowdblend.policies.columns import Column
from crowdblend.recoding import Closed, Computed, Lookup
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

    def selected(self, identifiers: Sequence[str]) -> str:
        """The packed codes in the columns p0, p1, …, and in o0, o1, … the values that went to `other`."""
        codes = [self._direct_sql(position, name) for position, name in enumerate(identifiers)]
        parts = [f"{self._packed(codes, at)} AS p{at}" for at in range(self.packing.width)]
        for position in self._outside:
            text = f"CAST({identifiers[position]} AS VARCHAR)"
            blank = f"CASE WHEN {blank_sql(text)} THEN '' ELSE {text} END"
            recoding = self._columns[position].recoding
            assert isinstance(recoding, Closed)
            parts.append(f"CASE WHEN {codes[position]} = {recoding.other_code} THEN {blank} END AS o{position}")
        return ", ".join(parts)

    def coded(self, rows: pyarrow.Table, carried: Sequence[str] = ()) -> tuple[PackedCodes, list[NDArray[Any]]]:
        """The classes of some rows, and the carried columns, in the order of the rows."""
        codes = tuple(rows.column(f"p{at}").to_numpy().astype(np.int64) for at in range(self.packing.width))
        if any((code < 0).any() for code in codes):
            raise HasNoClass
        for position, counter in self._outside.items():
            values = rows.column(f"o{position}")
            different = values.value_counts().to_pylist() if values.null_count < len(values) else []
            found = [(one["values"] or None, one["counts"]) for one in different if one["values"] is not None]
            counter.add(rows.num_rows, found)
        return codes, [rows.column(name).to_numpy() for name in carried]

    def _packed(self, codes: Sequence[str], at: int) -> str:
        """One number of the packed code; a sum with NULL is NULL, and stands for a value without a class.

        Sums of doubles are as exact, and quicker: after every sum of whole numbers the database looks whether it fits.
        """
        places = [(code, place) for code, place in zip(codes, self.packing.places, strict=True) if place.at == at]
        largest = places[0][1].weight * places[0][1].size
        kind = "DOUBLE" if largest <= _EXACT else "BIGINT"
        total = " + ".join(f"CAST({code} AS {kind}) * {place.weight}" for code, place in places)
        return f"COALESCE(CAST({total} AS {'INTEGER' if largest <= _SMALL else 'BIGINT'}), {_NO_CLASS})"

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
