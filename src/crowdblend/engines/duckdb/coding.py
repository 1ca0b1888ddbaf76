"""From raw values to classes: the recodings of a policy as one query, and back from words to labels.

A row's class is written as a number in mixed radix, column after column, in as many 64-bit words as it takes. The
order of such numbers is the order of the codes. Columns with a closed domain are coded by the engine. The labels of an
open column are numbered here as they come, and put in order at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.engines.class_counter import Counts, Words
from crowdblend.errors import InvalidInput
from crowdblend.mechanisms.classes import SampledClasses
from crowdblend.policies.columns import Column
from crowdblend.recoding import Axis, Closed, Computed, Lookup, Open, Recoding

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

_WORD = 1 << 63
_OPEN_SIZE = 1 << 31
# A column of one of these types is read as what it is; all others are read as the text they are shown as, because
# that is what a recoding is defined on and the engine's own conversion of them rounds differently or depends on it.
_NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "DOUBLE"}
_DAYS = {"DATE", "TIMESTAMP"}
_NESTED = ("STRUCT", "MAP", "UNION")


@dataclass(frozen=True)
class _Place:
    """Where a column's code is: in `word`, multiplied by `weight`."""

    word: int
    weight: int
    size: int


class Coding:
    """The recodings of some columns on one connection; the rows are in a relation with the columns v0, v1, …"""

    def __init__(self, connection: DuckDBPyConnection, columns: Sequence[Column], types: Sequence[str]) -> None:
        self._connection, self._columns = connection, columns
        self._typed = [_reads_typed(column, kind) for column, kind in zip(columns, types, strict=True)]
        self._places = _places([column.recoding.size or _OPEN_SIZE for column in columns])
        self._numbered: dict[int, dict[str, int]] = {
            position: {} for position, column in enumerate(columns) if isinstance(column.recoding, Open)
        }
        for position, column in enumerate(columns):
            if isinstance(column.recoding, Lookup):
                self._keep_lookup(position, column.recoding)

    @property
    def words(self) -> int:
        """How many words a class takes."""
        return self._places[-1].word + 1

    @property
    def classes(self) -> int | None:
        """How many classes there can be, or None when they are not listed or do not fit a word."""
        if self._numbered or self.words > 1:
            return None
        return self._places[0].weight * self._places[0].size

    def selected(self, identifiers: Sequence[str]) -> str:
        """The raw columns as the query wants them, out of a relation that calls them so."""
        return ", ".join(
            f"{name} AS v{position}" if self._typed[position] else f"CAST({name} AS VARCHAR) AS v{position}"
            for position, name in enumerate(identifiers)
        )

    def coded(self, rows: pyarrow.Table, carried: Sequence[str] = ()) -> tuple[Words, list[NDArray[Any]]]:
        """The classes of some rows, in any order, and the carried columns in the same order."""
        self._connection.register("raw", rows)
        try:
            found = self._connection.sql(self._query(carried)).to_arrow_table()
            words = [self._closed_part(found, word) for word in range(self.words)]
            for position, numbered in self._numbered.items():
                place = self._places[position]
                words[place.word] += self._number(found.column(f"l{position}"), numbered, position) * place.weight
        finally:
            self._connection.unregister("raw")
        return tuple(words), [found.column(name).to_numpy() for name in carried]

    def _query(self, carried: Sequence[str]) -> str:
        parts = [f"{self._word_sql(word)} AS w{word}" for word in range(self.words)]
        parts += [f"{self._codes[position]} AS l{position}" for position in self._numbered]
        return f"SELECT {', '.join([*parts, *carried])} FROM {self._joined}"

    def _word_sql(self, word: int) -> str:
        terms = [
            f"CAST({self._codes[position]} AS BIGINT) * {place.weight}"
            for position, place in enumerate(self._places)
            if place.word == word and position not in self._numbered
        ]
        return " + ".join(terms) or "CAST(0 AS BIGINT)"

    @cached_property
    def _codes(self) -> list[str]:
        return [self._code_sql(position, column) for position, column in enumerate(self._columns)]

    def _code_sql(self, position: int, column: Column) -> str:
        recoding, value, typed = column.recoding, f"v{position}", self._typed[position]
        if isinstance(recoding, Computed):
            return recoding.sql(value, typed)
        if isinstance(recoding, Open):
            return recoding.label_sql(value, typed)
        if isinstance(recoding, Lookup) and recoding.missing_code is not None:
            return f"COALESCE(t{position}.code, {recoding.fallback_sql(value)})"
        return f"t{position}.code"

    @cached_property
    def _joined(self) -> str:
        joins = (
            f" LEFT JOIN lookup{position} AS t{position} ON v{position} = t{position}.value"
            for position, column in enumerate(self._columns)
            if isinstance(column.recoding, Lookup)
        )
        return "raw" + "".join(joins)

    def _keep_lookup(self, position: int, recoding: Lookup) -> None:
        import pyarrow as pa  # noqa: PLC0415 - heavy

        given = recoding.lookup
        codes = pa.table({"value": pa.array(given, pa.string()), "code": pa.array(given.values(), pa.int32())})
        self._connection.register("given", codes)
        self._connection.execute(f"CREATE TEMP TABLE lookup{position} AS SELECT * FROM given")
        self._connection.unregister("given")

    def _closed_part(self, found: pyarrow.Table, word: int) -> NDArray[np.int64]:
        column = found.column(f"w{word}")
        if column.null_count:
            self._refuse_outside()
        part: NDArray[np.int64] = column.to_numpy()
        return part if part.flags.writeable else part.copy()

    def _number(self, labels: pyarrow.ChunkedArray, numbered: dict[str, int], position: int) -> NDArray[np.int64]:
        if labels.null_count:
            self._refuse(position)
        parts = [np.empty(0, dtype=np.int64)]
        for chunk in labels.dictionary_encode().chunks:
            known = [numbered.setdefault(label, len(numbered)) for label in chunk.dictionary.to_pylist()]
            parts.append(np.array(known, dtype=np.int64)[chunk.indices.to_numpy()])
        return np.concatenate(parts)

    def _refuse_outside(self) -> None:
        asked = ", ".join(f"bool_or(({code}) IS NULL)" for code in self._codes)
        (outside,) = self._connection.sql(f"SELECT {asked} FROM {self._joined}").fetchall()
        self._refuse(outside.index(True))

    def _refuse(self, position: int) -> None:
        column = self._columns[position]
        raise InvalidInput(
            f"column {column.name!r} must have values of its declared domain only, and has others or blanks. "
            f"{_remedy(column.recoding)}, or widen the domain."
        )

    def content(self, words: Words) -> NDArray[np.uint64]:
        """What each class says, a column each: the code, or for an open column a hash of the label itself."""
        said = np.empty((len(words[0]), len(self._columns)), dtype=np.uint64)
        for position in range(len(self._columns)):
            codes = self._digits(words, position)
            if position in self._numbered:
                digests = [blake2b(label.encode(), digest_size=8).digest() for label in self._numbered[position]]
                said[:, position] = np.frombuffer(b"".join(digests), dtype="<u8")[codes]
            else:
                said[:, position] = codes
        return said

    def classes_of(self, words: Words, counts: Counts) -> SampledClasses:
        """The classes with their labels, in order of code."""
        codes = np.empty((len(counts), len(self._columns)), dtype=np.int32)
        labels: list[tuple[str, ...]] = []
        for position, column in enumerate(self._columns):
            digits = self._digits(words, position)
            if isinstance(column.recoding, Closed):
                labels.append(column.recoding.labels)
            else:
                names = list(self._numbered[position])
                order = sorted(range(len(names)), key=names.__getitem__)
                labels.append(tuple(names[number] for number in order))
                ranks = np.empty(len(names), dtype=np.int64)
                ranks[order] = np.arange(len(names))
                digits = ranks[digits]
            codes[:, position] = digits
        if self._numbered:
            by_code = np.lexsort(codes.T[::-1])
            codes, counts = codes[by_code], counts[by_code]
        classes = SampledClasses(tuple(column.name for column in self._columns), tuple(labels), codes, counts)
        # A row that was not kept may have had a label of its own.
        return only_occurring(classes, [position in self._numbered for position in range(len(self._columns))])

    def _digits(self, words: Words, position: int) -> NDArray[np.int64]:
        place = self._places[position]
        digits: NDArray[np.int64] = words[place.word] // place.weight
        digits %= place.size
        return digits


def _remedy(recoding: Recoding) -> str:
    """What a column of this kind can do about values that have no class."""
    if isinstance(recoding, Axis):
        return 'Set outside = "drop" to leave those people out'
    no_other = isinstance(recoding, Open) and recoding.reads == "text"
    return f"Declare {'missing' if no_other else 'other or missing'} to give them a class"


def only_occurring(classes: SampledClasses, is_open: Sequence[bool]) -> SampledClasses:
    """The classes without those labels of open columns that no class has."""
    codes, labels = classes.codes.copy() if any(is_open) else classes.codes, list(classes.labels)
    for position in np.flatnonzero(is_open):
        used, codes[:, position] = np.unique(codes[:, position], return_inverse=True)
        labels[position] = tuple(labels[position][code] for code in used)
    return SampledClasses(classes.columns, tuple(labels), codes, classes.counts)


def _places(sizes: Sequence[int]) -> list[_Place]:
    """As many columns in a word as fit it, the first one most significant."""
    groups: list[list[int]] = []
    product = _WORD
    for size in sizes:
        if product * size >= _WORD:
            groups.append([])
            product = 1
        groups[-1].append(size)
        product *= size
    places: list[_Place] = []
    for word, group in enumerate(groups):
        weights = [1]
        for size in reversed(group[1:]):
            weights.append(weights[-1] * size)
        places += [_Place(word, weight, size) for weight, size in zip(reversed(weights), group, strict=True)]
    return places


def reads_numbers(kind: str) -> bool:
    """Whether a column of this type is read as the numbers it holds, not as their text."""
    return kind in _NUMBERS


def _reads_typed(column: Column, kind: str) -> bool:
    if kind.startswith(_NESTED) or kind.endswith("]"):
        raise InvalidInput(
            f"column {column.name!r} must hold one number, date or text in each row, and holds several. "
            "Take it apart in the data."
        )
    reads = column.recoding.reads
    return (reads == "number" and reads_numbers(kind)) or (reads == "date" and kind in _DAYS)
