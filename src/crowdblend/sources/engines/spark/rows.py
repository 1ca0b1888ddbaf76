"""The rows that one task reads, with the code of the DuckDB engine: coin, marks, recoding.

Whether someone has several rows cannot be said by one task, which sees some of the rows: it hands its persons over,
numbers as they are and all others by their marks, and the task that merges them finds a person who occurs twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from crowdblend.sources.engines.class_counter import GrowingArray
from crowdblend.sources.engines.duckdb.rows import Rows
from crowdblend.sources.engines.persons import Persons
from crowdblend.sources.engines.spark.pieces import Piece, bucket_of, split
from crowdblend.sources.engines.spark.shares import Share
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.randomness import marks

# Persons that are put together to be worth splitting.
_ENOUGH = 1 << 20


class TaskRows(Rows):
    """The rows of a task, and the persons that it has yet to hand over."""

    share: Share | None = None
    """The files that the task reads, where it reads files."""

    def begin(self, share: Share | None = None) -> None:
        """Prepare to note persons."""
        self.share = share
        self._numbers: GrowingArray[np.int64] = GrowingArray(np.int64, self.memory)
        self._texts: GrowingArray[np.uint64] = GrowingArray(np.uint64, self.memory)

    def once(self, columns_sql: str) -> Iterator[tuple[pa.RecordBatch, Persons]]:
        """Yield the sampled rows of each batch, and their persons; they are noted."""
        for rows, persons in self.sampled_rows(columns_sql):
            self._numbers.extend(persons.numbers)
            if len(persons.texts):
                self._texts.extend(marks(self.row_key, persons.texts).ravel())
            yield rows, persons

    def up_to(self, last: tuple[int, int], columns_sql: str) -> Iterator[pa.Table]:
        """Yield the rows of the persons whose marks (high, low) are not above the last one, in chunks."""
        high, low = np.uint64(last[0]), np.uint64(last[1])

        def lower_marks() -> Iterator[pa.RecordBatch]:
            for rows, persons in self.sampled_rows(columns_sql):
                lows, highs = persons.marks(self.row_key).T
                yield rows.filter(pa.array((highs < high) | ((highs == high) & (lows <= low))))

        yield from self.chunks(lower_marks())

    def at_places(self, places: NDArray[np.int64], columns_sql: str) -> Iterator[pa.Table]:
        """The rows at these places, which rise and are counted through all files."""
        assert self.share is not None, "only rows in files have places"
        start = self.share.first + self.share.start
        # Every row counts as read, so these are all rows of the share.
        yield from self.at(places[places >= start] - start, columns_sql)

    def noted_persons(self, *, last: bool = False) -> Iterator[Piece]:
        """Yield the persons who were noted, by bucket, when there are many or no more come."""
        if len(self._numbers) >= _ENOUGH or last:
            numbers = self._numbers.view()
            for bucket, places in split(bucket_of(numbers)):
                yield Piece(bucket, "numbers", numbers[places].tobytes())
            self._numbers.clear()
        if len(self._texts) >= _ENOUGH or last:
            words = self._texts.view().reshape(-1, 2)
            for bucket, places in split(bucket_of(np.ascontiguousarray(words[:, 0]))):
                yield Piece(bucket, "texts", words[places].tobytes())
            self._texts.clear()
