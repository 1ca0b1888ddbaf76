"""The rows of a draw, as they stream from the source: the coin decides first, and nobody comes twice.

    source ── coin ──▶ sampled rows ── one row per person ──▶ chunks

The coin decides about a batch at once. Rows that are not drawn are dropped unread: what they hold is never checked, so
whether a bad value is refused depends on the key. Recoding every row would double the time at rate 0.1. What is drawn
depends on the key and the persons alone, whatever the order of the rows, the batches and the number of threads. The key
never leaves Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.designs.draw import Coin, Draw, Everybody, row_key_of
from crowdblend.policies.columns import Column
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.arrow_numbers import FEW_ROWS, arrow_numbers
from crowdblend.sources.engines.class_counter import GrowingArray
from crowdblend.sources.engines.duckdb.id_sieve import IdSieve
from crowdblend.sources.engines.duckdb.relation import PLACE, VIEW, Relation, missing_rows
from crowdblend.sources.engines.engine import ColumnType, Progress, no_progress
from crowdblend.sources.engines.persons import DuplicateCheck, Persons, Places, read_persons
from crowdblend.sources.engines.refusals import no_rows
from crowdblend.sources.engines.sampling import in_part
from crowdblend.trusted.machine.packages import duckdb
from crowdblend.trusted.machine.packages import pyarrow as pa

# Rows that the coin decides about at once, and sampled rows that are put together to be worth a query.
_BATCH = 1 << 17
_CHUNK = 1 << 19
_CHUNK_BYTES = 1 << 27
# Up to this rate it is quicker to look at all persons first, and to look up this many rows at once takes little memory.
# Rows of which the database hands over the class alone are quicker to read.
_FEW, _FEW_CLASSES = 0.1, 0.03
_MOST_LOOKED_UP = 1 << 19


class Rows:
    """The rows of a source that is open, for one draw, and what was seen of them so far."""

    def __init__(
        self,
        data: DataSource,
        connection: duckdb.DuckDBPyConnection,
        cursor: duckdb.DuckDBPyConnection,
        relation: Relation,
        draw: Draw,
        memory: ArrayMemory,
        progress: Progress | None,
        sieve: IdSieve | None = None,
    ) -> None:
        self.data, self.relation, self.draw, self.memory = data, relation, draw, memory
        self.cursor = cursor  # for other queries, because the connection is busy streaming rows
        self.read = 0
        # Marks for the one-row-per-person check need a secret, also when nobody is drawn.
        self.row_key = row_key_of(draw)
        self._connection = connection
        self._progress, self._sieve = progress or no_progress, sieve

    def read_as(self, columns: Sequence[Column]) -> list[str]:
        """Return the columns in SQL, as their recodings read them."""
        return [self.relation.field(column.name).read_as(column.recoding.reads) for column in columns]

    def numbers(self, names: Sequence[str]) -> list[str]:
        """Columns of numbers in SQL."""
        return [self.relation.field(name).read_as("number") for name in names]

    def types(self, names: Sequence[str]) -> list[ColumnType]:
        """Return the columns' types."""
        return [self.relation.field(name).type for name in names]

    def everybody(self, columns_sql: str) -> Iterator[pa.Table]:
        """Yield all rows, without a coin, in chunks."""
        yield from self.chunks(self.batches(columns_sql))

    def sampled_rows(self, columns_sql: str) -> Iterator[tuple[pa.RecordBatch, Persons]]:
        """Yield the sampled rows of each batch, and their persons, who may still come twice.

        All rows where no coin decides yet: strata are drawn from one row of everybody, and exactly k people by marks.
        Without other columns the rows are those of the column `person`.
        """
        yield from self._sample(self.batches(", ".join(filter(None, (f"{self._person()} AS person", columns_sql)))))

    def once(self, columns_sql: str) -> Iterator[tuple[pa.RecordBatch, Persons]]:
        """The same; refuses, in the end, when someone had two rows."""
        check = self._duplicate_check()
        for rows, persons in self.sampled_rows(columns_sql):
            check.add(persons)
            yield rows, persons
        check.check(self._persons_again)

    def each_once(self, columns_sql: str, *, classes: bool = False) -> Iterator[pa.Table]:
        """Yield the sampled rows, in chunks, or as they come if they are classes; refuses when someone had two."""
        if self._picks_rows and isinstance(self.draw, Coin) and self.draw.rate <= (_FEW_CLASSES if classes else _FEW):
            yield from self._looked_up(columns_sql)
            return
        batches = (rows for rows, _ in self.once(columns_sql))
        yield from (pa.Table.from_batches([rows]) for rows in batches) if classes else self.chunks(batches)

    def _duplicate_check(self) -> DuplicateCheck:
        share = self.draw.rate if isinstance(self.draw, Coin) else 1
        rows = math.ceil(share * sum(self.relation.sizes))
        return DuplicateCheck(self.row_key, str(self.data.person), self.memory, rows)

    @property
    def _picks_rows(self) -> bool:
        """True if the source is one file whose rows can be picked by their places."""
        return self.relation.placed and len(self.relation.sizes) == 1

    def _looked_up(self, columns_sql: str) -> Iterator[pa.Table]:
        """Yield the sampled rows in two looks: at all persons, and then at what the drawn ones have and nobody else.

        A long file is gone through piece by piece, so that only this many places are remembered.
        """
        assert isinstance(self.draw, Coin)
        check, place = self._duplicate_check(), PLACE[1]
        piece = max(1, math.ceil(_MOST_LOOKED_UP / self.draw.rate))
        for start in range(0, self.relation.sizes[0], piece):
            places: GrowingArray[np.int64] = GrowingArray(np.int64, self.memory)
            inside = f"WHERE {place} BETWEEN {start} AND {start + piece - 1}"
            for rows, persons in self._sample(self.batches(f"{self._person()} AS person, {place} AS place", inside)):
                check.add(persons)
                places.extend(rows.column(0).to_numpy())
            self._connection.register("drawn", pa.table({"place": places.view()}))
            found = 0
            for chunk in self.chunks(self._stream(columns_sql, f"{inside} AND {place} IN (SELECT place FROM drawn)")):
                found += chunk.num_rows
                yield chunk
            self._connection.unregister("drawn")
            if found != len(places):
                raise missing_rows()
        check.check(self._persons_again)

    def rows_below(self, columns_sql: str, rate: float) -> Iterator[tuple[pa.RecordBatch, NDArray[np.uint64]]]:
        """Yield the rows of each batch whose marks lie below a rate, and these marks, where everybody has one row.

        With a coin of one's own, a second row of someone who is not drawn changes nothing for the others. Among k of
        n people it does: with rows that are nobody's own there are fewer than n, each is drawn with more than k/n.
        """
        for rows, persons in self.once(columns_sql):
            places = np.flatnonzero(persons.drawn(self.row_key, rate))
            yield rows_at(rows, places), persons.at(places).marks(self.row_key)

    def people(self, rate: float) -> Iterator[tuple[pa.RecordBatch, NDArray[np.uint64]]]:
        """The persons whose marks lie below a rate, and these marks, where everybody has one row."""
        yield from self.rows_below("", rate)

    def rows_of(self, people: pa.Table, columns_sql: str) -> Iterator[pa.Table]:
        """The rows of these people, from a second look at the source: the database reads columns faster than it hands
        them over."""
        self._connection.register("drawn", people)
        yield from self.chunks(self._stream(columns_sql, f"WHERE {self._person()} IN (SELECT person FROM drawn)"))

    def at(self, places: NDArray[np.int64], columns_sql: str) -> Iterator[pa.Table]:
        """Yield the rows at these places, which rise and are counted through all files; every row counts as read."""
        if self.relation.table is not None:
            yield from self._pick_rows(self.relation.table, places, columns_sql)
            return
        if not self.relation.placed:
            # In the order of the file, so that the number of threads does not decide who is drawn.
            self._connection.execute("SET preserve_insertion_order = true")
            try:
                yield from _take_rows(self.everybody(columns_sql), places)
            finally:
                self._connection.execute("SET preserve_insertion_order = false")
            return
        file, place = PLACE
        counted = f"SELECT {file}, count(*) FROM {self.relation.sql} GROUP BY {file} ORDER BY {file}"
        files, sizes = np.array(self.cursor.sql(counted).fetchall(), np.int64).reshape(-1, 2).T
        ends = np.cumsum(sizes)
        self.read = int(sizes.sum())
        self._progress("reading", self.read)
        there = places[places < self.read]
        within = np.searchsorted(ends, there, side="right")
        drawn = pa.table({"file": files[within], "place": there - (ends - sizes)[within]})
        self._connection.register("drawn", drawn)
        # One number is looked up faster than two.
        among = f"{place} IN (SELECT place FROM drawn)"
        if len(files) > 1:
            among = f"(CAST({file} AS BIGINT), {place}) IN (SELECT (file, place) FROM drawn)"
        yield from self.chunks(self._stream(columns_sql, f"WHERE {among}"))

    def _pick_rows(self, table: pa.Table, places: NDArray[np.int64], columns_sql: str) -> Iterator[pa.Table]:
        """Yield the rows at these places of a table that Python holds."""
        # Arrow takes no rows of text views, nor of dictionaries of them.
        schema = pa.schema([(field.name, _takeable(field.type)) for field in table.schema])
        batches = (pa.Table.from_batches([batch]).cast(schema) for batch in table.to_batches(max_chunksize=_BATCH))
        self.read = table.num_rows
        self._progress("reading", self.read)
        drawn = pa.concat_tables([schema.empty_table(), *_take_rows(batches, places)])
        # The relation reads its view by name, which now shows the drawn rows only.
        self._connection.register(VIEW, drawn)
        try:
            yield from self.chunks(self._stream(columns_sql))
        finally:
            self._connection.register(VIEW, table)

    def finish(self) -> None:
        """Refuse a source without rows, or of which some were not read."""
        if not self.read:
            raise no_rows()
        self.relation.check_rows(self.read)
        self._progress("counting", self.read)
        if self._sieve is not None:
            self._sieve.complete = True

    def _sample(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, Persons]]:
        for batch in batches:
            persons = read_persons(batch.column(0), str(self.data.person))
            rows = batch.select(batch.schema.names[1:]) if batch.num_columns > 1 else batch
            if self._sieve is not None:
                self._sieve.add(batch.column(0), persons)
            if isinstance(self.draw, Coin):
                places, persons = persons.sampled_rows(self.draw.key.persons, self.draw.rate)
                rows = rows_at(rows, places)
            if isinstance(self.draw, Coin | Everybody) and self.draw.part is not None:
                places = np.flatnonzero(in_part(self.draw.part, persons))
                rows, persons = rows_at(rows, places), persons.at(places)
            yield rows, persons

    def _persons_again(self) -> Iterator[Persons]:
        for _, persons in self._sample(self._stream(f"{self._person()} AS person")):
            yield persons

    def batches(self, columns_sql: str, which: str = "") -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of them, in batches; they count as read."""
        for batch in self._stream(columns_sql, which):
            self.read += batch.num_rows
            self._progress("reading", self.read)
            yield batch

    def chunks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Yield the batches put together to tables that are worth a query."""
        most = self.memory.at_most(_CHUNK_BYTES, 8)
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(batch)
            if sum(some.num_rows for some in waiting) >= _CHUNK or sum(some.nbytes for some in waiting) >= most:
                yield pa.Table.from_batches(waiting)
                waiting.clear()
        if sum(some.num_rows for some in waiting):
            yield pa.Table.from_batches(waiting)

    def _stream(self, columns_sql: str, which: str = "") -> Iterator[pa.RecordBatch]:
        yield from stream(self._connection, f"SELECT {columns_sql} FROM {self.relation.sql} {which}")

    def _person(self) -> str:
        """Return the person as a 64-bit number or a text, NULL for nobody."""
        field = self.relation.field(str(self.data.person))
        if field.type is ColumnType.WHOLE:
            return f"CAST({field.identifier} AS BIGINT)"
        if field.type in (ColumnType.SINGLE, ColumnType.DOUBLE):
            return f"CASE WHEN isfinite({field.identifier}) THEN CAST({field.identifier} AS VARCHAR) END"
        return f"CAST({field.identifier} AS VARCHAR)"


def stream(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """Yield the answer to a query, batch by batch."""
    rows = connection.sql(query)
    # DuckDB's later name first; what the other one does is the same.
    reader = rows.to_arrow_reader if hasattr(rows, "to_arrow_reader") else rows.fetch_record_batch
    yield from reader(_BATCH)


def rows_at(rows: pa.RecordBatch, places: Places) -> pa.RecordBatch:
    """Return some of the rows, in their order."""
    # Numbers and few texts need none of Arrow's functions, which take longer to load than a small table to read.
    if all(pa.types.is_integer(some.type) and not some.null_count for some in rows):
        kept = [arrow_numbers(some.to_numpy().take(places)) for some in rows]
    elif rows.num_rows <= FEW_ROWS and all(some.type in (pa.string(), pa.float64(), pa.int64()) for some in rows):
        kept = [pa.array([some[place].as_py() for place in places.tolist()], some.type) for some in rows]
    else:
        return rows.take(arrow_numbers(places))
    return pa.RecordBatch.from_arrays(kept, schema=rows.schema)


def _take_rows(tables: Iterable[pa.Table], places: NDArray[np.int64]) -> Iterator[pa.Table]:
    """Yield the rows at places that are in order, among tables that come one after the other."""
    start = 0
    for table in tables:
        first, last = np.searchsorted(places, (start, start + table.num_rows))
        yield table.take(pa.array(places[first:last] - start))
        start += table.num_rows


def _takeable(kind: Any) -> Any:
    """Return the type itself, or the one like it from which Arrow takes rows."""
    if pa.types.is_dictionary(kind):
        return _takeable(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind
