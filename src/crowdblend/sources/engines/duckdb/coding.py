"""A query from raw values to packed codes: the recodings of a policy.

Columns with a closed domain are coded by the database; the labels of an open column are numbered here as they come.

Rows of columnar files come as a person and one number, recoded in the query that reads them. Such files keep short
lists of texts as numbers with a dictionary. The database evaluates a function once for each entry of a dictionary, and
no text has to be handed over, filtered and looked up. All rows are recoded, also those that are not drawn; that takes
less than handing over what they hold. Only coordinates that are doubles come as they are: NumPy finds their cells in a
quarter of the time. What has no class is only looked at where it was drawn: then `HasNoClass` is raised, and the slower
way, which has the values at hand, knows what to say of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.classes import ClosedRecoding, ComputedRecoding, Lookup, Open
from crowdblend.methods.recoding.reading import blank_sql, has_zone, quote
from crowdblend.policies.columns import Column
from crowdblend.sources.engines.arrow_numbers import FEW_ROWS
from crowdblend.sources.engines.class_counter import PackedCodes
from crowdblend.sources.engines.duckdb.hints import MOST_TEXTS, hint_for
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.outside_values import OutsideCounter, OutsideValues
from crowdblend.sources.engines.packing import Packing, refuse_unreadable, zoned_column
from crowdblend.trusted.machine.packages import compute, duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa


class Coding:
    """The recodings of some columns on one connection; the rows are in a relation with the columns v0, v1, …"""

    queries: ClassVar[bool] = True
    """True if the database is asked about some rows at a time, which must be many to be worth a query."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        columns: Sequence[Column],
        types: Sequence[ColumnType],
        raw: Callable[[str, str], str] = lambda _, text: text,
    ) -> None:
        # `raw` undoes how the notation of a file rewrote a text, for what the steward is told.
        self._connection, self._columns, self._types, self._raw = connection, columns, types, raw
        self.packing = Packing(columns)
        self._outside = {
            position: OutsideCounter() for position, column in enumerate(columns) if column.recoding.other is not None
        }
        self._typed = [reads_typed(column, kind) for column, kind in zip(columns, types, strict=True)]

    def select_sql(self, identifiers: Sequence[str]) -> str:
        """Return the raw columns as the query wants them, out of a relation that calls them so."""
        return ", ".join(
            f"{name} AS v{position}" if self._typed[position] else f"CAST({name} AS VARCHAR) AS v{position}"
            for position, name in enumerate(identifiers)
        )

    def encode(self, rows: pa.Table, columns_carried: Sequence[str] = ()) -> tuple[PackedCodes, list[NDArray[Any]]]:
        """Return the classes of some rows, in any order, and the carried columns in the same order."""
        for position, (known, codes_of) in self._lookups.items():
            rows = rows.append_column(f"k{position}", _look_up(rows.column(f"v{position}"), known, codes_of))
        self._connection.register("raw", rows)
        try:
            found = self._connection.sql(self._query(columns_carried)).to_arrow_table()
            codes = [self._closed_part(found, at) for at in range(self.packing.width)]
            for position in self.packing.open:
                place = self.packing.places[position]
                codes[place.at] += self._numbers(found.column(f"l{position}"), position) * place.weight
            for position, counter in self._outside.items():
                counter.add(rows.num_rows, self._in_other(position, tuple(codes)))
        finally:
            self._connection.unregister("raw")
        return tuple(codes), [found.column(name).to_numpy() for name in columns_carried]

    def outside(self) -> dict[str, OutsideValues]:
        """Return the values that went to `other`, by column."""
        return {name: counter.counts() for name, counter in self.counted_outside().items()}

    def counted_outside(self) -> dict[str, OutsideCounter]:
        """Return the counters of what went to `other`, by the name of the column."""
        return {self._columns[position].name: counter for position, counter in self._outside.items()}

    def _in_other(self, position: int, codes: PackedCodes) -> list[tuple[str | None, int]]:
        """Return the values of some rows that went to `other`, and how many rows have each."""
        recoding, digits = self._columns[position].recoding, self.packing.digits(codes, position)
        if isinstance(recoding, ClosedRecoding):
            code, wanted = recoding.other_code, str(recoding.other_code)
        else:
            (code,), wanted = self.packing.number(position, [str(recoding.other)]), quote(str(recoding.other))
        if not (digits == code).any():
            return []
        text = f"CAST(v{position} AS VARCHAR)"
        shown = f"CASE WHEN {blank_sql(text)} THEN NULL ELSE {text} END"
        query = f"SELECT {shown}, count(*) FROM raw WHERE ({self._codes[position]}) = {wanted} GROUP BY 1"
        found = [
            (value and self._raw(recoding.reads, value), rows) for value, rows in self._connection.sql(query).fetchall()
        ]
        self._check_zones(position, (value for value, _ in found))
        return found

    def _check_zones(self, position: int, texts: Iterable[str | None]) -> None:
        """Refuse moments with a time zone among texts that are no dates: a column of that type is refused too."""
        column = self._columns[position]
        if column.recoding.reads == "date" and any(text is not None and has_zone(text) for text in texts):
            raise zoned_column(column.name)

    def _query(self, columns_carried: Sequence[str]) -> str:
        parts = [f"{self._packed_sql(at)} AS p{at}" for at in range(self.packing.width)]
        parts += [f"{self._codes[position]} AS l{position}" for position in self.packing.open]
        return f"SELECT {', '.join([*parts, *columns_carried])} FROM raw"

    def _packed_sql(self, at: int) -> str:
        terms = [
            f"CAST({self._codes[position]} AS BIGINT) * {place.weight}"
            for position, place in enumerate(self.packing.places)
            if place.at == at and position not in self.packing.open
        ]
        return " + ".join(terms) or "CAST(0 AS BIGINT)"

    @cached_property
    def _codes(self) -> list[str]:
        return [self._code_sql(position, column) for position, column in enumerate(self._columns)]

    def _code_sql(self, position: int, column: Column) -> str:
        recoding, value, typed = column.recoding, f"v{position}", self._typed[position]
        if isinstance(recoding, ComputedRecoding):
            return recoding.sql(value, typed)
        if isinstance(recoding, Open):
            return recoding.label_sql(value, typed)
        assert isinstance(recoding, Lookup)
        missing = recoding.missing_code is not None
        return f"COALESCE(k{position}, {recoding.fallback_sql(value)})" if missing else f"k{position}"

    @cached_property
    def _lookups(self) -> dict[int, tuple[pa.Array, pa.Array]]:
        """The listed values of a column and their codes, by its position."""
        return {
            position: (pa.array(recoding.lookup, pa.string()), pa.array(recoding.lookup.values(), pa.int32()))
            for position, column in enumerate(self._columns)
            if isinstance(recoding := column.recoding, Lookup)
        }

    def _closed_part(self, table: pa.Table, at: int) -> NDArray[np.int64]:
        column = table.column(f"p{at}")
        if column.null_count:
            self._refuse_outside()
        part: NDArray[np.int64] = column.to_numpy()
        return part if part.flags.writeable else part.copy()

    def _numbers(self, labels: pa.ChunkedArray, position: int) -> NDArray[np.int64]:
        if labels.null_count:
            self.packing.refuse(position, self._hint(position))
        parts = [np.empty(0, dtype=np.int64)]
        for chunk in labels.dictionary_encode().chunks:
            known = self.packing.number(position, chunk.dictionary.to_pylist())
            parts.append(known[chunk.indices.to_numpy()])
        return np.concatenate(parts)

    def _refuse_outside(self) -> None:
        without_class = ", ".join(f"bool_or(({code}) IS NULL)" for code in self._codes)
        (outside,) = self._connection.sql(f"SELECT {without_class} FROM raw").fetchall()
        position = outside.index(True)
        self.packing.refuse(position, self._hint(position))

    def _hint(self, position: int) -> str | None:
        """Return a hint for values that have no class, where one is known; refuse moments with a time zone."""
        recoding, text = self._columns[position].recoding, f"CAST(v{position} AS VARCHAR)"
        query = (
            f"SELECT DISTINCT {text} FROM raw WHERE ({self._codes[position]}) IS NULL "
            f"AND NOT {blank_sql(text)} LIMIT {MOST_TEXTS}"
        )
        found = [text for (text,) in self._connection.sql(query).fetchall()]
        self._check_zones(position, (self._raw(recoding.reads, text) for text in found))
        return hint_for(recoding, found, self._connection, self._raw)


def reads_typed(column: Column, kind: ColumnType) -> bool:
    """Return whether a recoding reads the values themselves.

    All other columns are read as the text they are shown as, because that is what a recoding is defined on and the
    database's own conversion of them rounds differently or depends on it.
    """
    refuse_unreadable(column.name, kind)
    reads = column.recoding.reads
    return (reads == "number" and kind.is_number) or (reads == "date" and kind.is_day)


# Formats that keep columns apart, so that those of one type are there in that type.
_COLUMNAR = ("parquet", "duckdb")
# A list is gone through one by one where there is no dictionary.
_LONGEST_LIST = 32
# Below these, INTEGER holds all whole numbers, and DOUBLE holds them exactly.
_SMALL, _EXACT = 1 << 31, 1 << 53


class HasNoClass(Exception):
    """A sampled person has a value outside the domain; the value is not kept."""


def recodes_directly(form: str, columns: Sequence[Column], types: Sequence[ColumnType]) -> bool:
    """Return whether rows of a source in this format may be recoded while they are read."""
    return form in _COLUMNAR and all(_is_quick(column, kind) for column, kind in zip(columns, types, strict=True))


def _is_quick(column: Column, kind: ColumnType) -> bool:
    recoding = column.recoding
    if isinstance(recoding, Lookup):
        return len(recoding.lookup) <= _LONGEST_LIST
    return isinstance(recoding, ComputedRecoding) and reads_typed(column, kind)


class DirectCoding(Coding):
    """The recodings of some columns as part of the query that reads them."""

    queries = False

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

    def select_sql(self, identifiers: Sequence[str]) -> str:
        """Return the packed codes in the columns p0, p1, …, and in o0, o1, … the values that went to `other`."""
        codes = [self._direct_sql(position, name) for position, name in enumerate(identifiers)]
        parts = [f"{self._packed_number_sql(codes, at)} AS p{at}" for at in self._packed_in_sql]
        parts += [f"{identifiers[position]} AS v{position}" for position in self._coordinates]
        for position in self._outside:
            text = f"CAST({identifiers[position]} AS VARCHAR)"
            blank = f"CASE WHEN {blank_sql(text)} THEN '' ELSE {text} END"
            recoding = self._columns[position].recoding
            assert isinstance(recoding, ClosedRecoding)
            parts.append(f"CASE WHEN {codes[position]} = {recoding.other_code} THEN {blank} END AS o{position}")
        return ", ".join(parts)

    def encode(self, rows: pa.Table, columns_carried: Sequence[str] = ()) -> tuple[PackedCodes, list[NDArray[Any]]]:
        """Return the classes of some rows, and the carried columns, in the order of the rows."""
        codes = tuple(self._code(rows, at) for at in range(self.packing.width))
        for position, counter in self._outside.items():
            values = rows.column(f"o{position}")
            different = values.value_counts().to_pylist() if values.null_count < len(values) else []
            found = [(one["values"] or None, one["counts"]) for one in different if one["values"] is not None]
            counter.add(rows.num_rows, found)
        return codes, [rows.column(name).to_numpy() for name in columns_carried]

    def _code(self, rows: pa.Table, at: int) -> NDArray[np.int64]:
        """One number of the packed code of each row."""
        parts: list[NDArray[np.int64]] = []
        if at in self._packed_in_sql:
            column = rows.column(f"p{at}")
            if column.null_count:
                raise HasNoClass
            parts.append(column.to_numpy().astype(np.int64))
        for position, axis in self._coordinates.items():
            if self.packing.places[position].at == at:
                parts.append(axis.codes_of(rows.column(f"v{position}").to_numpy()))
                if parts[-1].min(initial=0) < 0:
                    raise HasNoClass
                parts[-1] *= self.packing.places[position].weight
        for part in parts[1:]:
            parts[0] += part
        return parts[0]

    def _packed_number_sql(self, codes: Sequence[str], at: int) -> str:
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
        terms = [
            f"CAST({codes[position]} AS {kind})" + (f" * {place.weight}" if place.weight > 1 else "")
            for position, place in places.items()
        ]
        return f"CAST({' + '.join(terms)} AS {'INTEGER' if largest <= _SMALL else 'BIGINT'})"

    def _direct_sql(self, position: int, name: str) -> str:
        recoding = self._columns[position].recoding
        if isinstance(recoding, ComputedRecoding):
            return recoding.quick_sql(name, whole=self._types[position] is ColumnType.WHOLE)
        assert isinstance(recoding, Lookup)
        text = name if self._types[position] is ColumnType.TEXT else f"CAST({name} AS VARCHAR)"
        place = f"list_position([{', '.join(map(quote, recoding.lookup))}], {text})"
        codes = list(recoding.lookup.values())
        in_order = codes == list(range(len(codes)))
        code = f"(CAST({place} AS DOUBLE) - 1)" if in_order else f"list_extract({codes}, {place})"
        return code if recoding.missing_code is None else f"COALESCE({code}, {recoding.fallback_sql(text)})"


def _look_up(texts: pa.ChunkedArray, values: pa.Array, codes: pa.Array) -> pa.Array | pa.ChunkedArray:
    """Return the codes of texts that are listed, null for others; few need none of Arrow's functions."""
    if max(len(texts), len(values)) > FEW_ROWS or texts.type != pa.string():
        return codes.take(compute.index_in(texts.cast(pa.string()), value_set=values))
    code_of = dict(zip(values.to_pylist(), codes.to_pylist(), strict=True))
    return pa.array([code_of.get(text) for text in texts.to_pylist()], codes.type)
