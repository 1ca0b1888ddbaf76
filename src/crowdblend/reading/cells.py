"""A data file as cells with counts, read in pieces: a table as it is, microdata counted by equal rows.

It can also be read whole, its labels as categories of the declared domain. Inside, columns are called "0", "1", … so
that no name in the data can meet an internal one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms.mechanism import PublishedClasses
from crowdblend.reading.data_file import DataFile
from crowdblend.sources.engines.arrow_numbers import arrow_numbers
from crowdblend.trusted.machine.packages import compute as pc

Labels = tuple[str, ...]
N, EXACT = "n", "exact"
# What the numbers of a table are called: of everybody, or of a sample.
COUNTERS = ("count", "sampled")
ESTIMATES = ("estimate", "low", "high")
NO_VALUE = "(no value)"
PIECE = 1 << 20


@dataclass(frozen=True)
class Cells:
    """A published data file: the recoded columns, and whether it has counts and flags of its own."""

    file: DataFile
    columns: tuple[str, ...]
    counted: bool
    flagged: bool
    counter: str = "count"
    """What the column of numbers is called."""
    classes: PublishedClasses | None = None
    """Of microdata, the classes of which they were written, where these are known."""

    @property
    def keys(self) -> list[str]:
        """The internal names of the columns."""
        return [str(at) for at in range(len(self.columns))]

    def pieces(self) -> Iterator[pa.Table]:
        """The cells with their counts, a manageable number at a time, in the order of the file."""
        if self.counted:
            yield from self.rows()
            return
        if self.classes is not None:
            yield from self._written_cells(self.classes)
            return
        if not self.columns:
            # Rows without labels are one class; an Arrow table without columns would have no rows.
            rows = sum(batch.num_rows for batch in self.file.batches({}))
            yield pa.table({N: pa.array([rows], pa.int64())})
            return
        found = Totals(self.keys)
        for rows in self.rows():
            found.add(_run_lengths(rows, self.keys))
        table = found.table()
        for start in range(0, table.num_rows, PIECE):
            yield table.slice(start, PIECE)

    def _written_cells(self, classes: PublishedClasses) -> Iterator[pa.Table]:
        labels = [pa.array(known, pa.large_string()) for known in classes.labels]
        for start in range(0, len(classes.counts), PIECE):
            rows = slice(start, start + PIECE)
            codes = (arrow_numbers(column) for column in classes.codes[rows].T)
            columns = [known.take(column) for known, column in zip(labels, codes, strict=True)]
            yield pa.table([*columns, arrow_numbers(classes.counts[rows])], names=[*self.keys, N])

    def rows(self) -> Iterator[pa.Table]:
        """Yield the rows as they are, in pieces, with counts only where the file has them."""
        own = {self.counter: pa.int64()} if self.counted else {}
        own |= {EXACT: pa.bool_()} if self.flagged else {}
        with self.file.readable():
            for batch in self.file.batches({**dict.fromkeys(self.columns, pa.string()), **own}):
                if batch.num_rows:
                    columns = {key: _text(batch.column(at)) for at, key in enumerate(self.keys)}
                    if self.counted:
                        columns[N] = _whole(batch.column(len(columns)))
                    if self.flagged:
                        columns[EXACT] = batch.column(len(self.columns) + 1)
                    yield pa.table(columns)

    def estimates(self, label: str | None = None) -> Iterator[Estimates]:
        """Estimates and their ends in pieces, with the counts where the file has them, and the labels of one column."""
        kinds = {self.counter: pa.int64()} if self.counted else {}
        kinds |= {EXACT: pa.bool_()} if self.flagged else {}
        kinds |= dict(zip(ESTIMATES, (pa.float64(), pa.int64(), pa.int64()), strict=True))
        kinds |= {} if label is None else {label: pa.string()}
        with self.file.readable():
            for batch in self.file.batches(kinds):
                found = dict(zip(kinds, batch.columns, strict=True))
                low, high = (found[name].cast(pa.int64()).fill_null(-1) for name in ("low", "high"))
                yield Estimates(
                    found["estimate"].cast(pa.float64()).to_numpy(zero_copy_only=False),
                    low.to_numpy(zero_copy_only=False),
                    high.to_numpy(zero_copy_only=False),
                    _whole(found[self.counter]).to_numpy() if self.counted else None,
                    found[EXACT].to_numpy(zero_copy_only=False) if self.flagged else None,
                    None if label is None else np.array(_text(found[label]).to_pylist(), object),
                )

    def typed_pieces(self, kinds: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
        """Yield some columns in pieces, as labels or as numbers of these types."""
        with self.file.readable():
            for batch in self.file.batches(kinds):
                if batch.num_rows:
                    columns = zip(kinds.items(), batch.columns, strict=True)
                    texts = {
                        name: _text(one) if kind == pa.string() else one.cast(kind) for (name, kind), one in columns
                    }
                    yield pa.table(texts)


@dataclass(frozen=True)
class Estimates:
    """Rows of a file: estimates (NaN where blank), their ends (−1 where blank), counts and flags."""

    estimate: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    exact: NDArray[np.bool_] | None
    labels: NDArray[np.object_] | None = None


class Totals:
    """Counts added up by labels as pieces come, so that memory follows the number of different labels.

    Labels are texts, or numbers that stand for them; `sums` are the columns that are added up.
    """

    def __init__(self, keys: list[str], sums: tuple[str, ...] = (N,), *, numbered: bool = False) -> None:
        self.keys, self._sums = keys, sums
        labels = [(key, pa.int64() if numbered else pa.large_string()) for key in keys]
        self._schema = pa.schema([*labels, *((name, pa.int64()) for name in sums)])
        self._parts: list[pa.Table] = []
        self._merged = self._waiting = 0

    def add(self, cells: pa.Table) -> None:
        """Count these cells as well."""
        self._parts.append(self._sum(cells))
        self._waiting += self._parts[-1].num_rows
        if self._waiting > max(self._merged, 1 << 20):
            self._merge()

    def table(self) -> pa.Table:
        """Return every combination of labels once, in no particular order."""
        self._merge()
        return self._parts[0] if self._parts else self._schema.empty_table()

    def _sum(self, cells: pa.Table) -> pa.Table:
        # One thread, so that the same file gives the same order and the same page.
        grouped = cells.group_by(self.keys, use_threads=False).aggregate([(name, "sum") for name in self._sums])
        summed = grouped.select([*self.keys, *(f"{name}_sum" for name in self._sums)])
        return summed.rename_columns(self._schema.names).cast(self._schema)

    def _merge(self) -> None:
        if len(self._parts) > 1:
            self._parts = [self._sum(pa.concat_tables(self._parts))]
        self._merged, self._waiting = sum(part.num_rows for part in self._parts), 0


def open_cells(file: DataFile, *, counted: bool) -> Cells:
    """Return a data file by its header: a table, which has counts, or rows of people."""
    names = file.header
    if len(set(names)) < len(names):
        message = f"{file.name} has two columns with the same name. It is not a file that a release writes."
        raise InvalidInput(message, where=file.name, code="reading.same-columns")
    found = [name for name in names if name in COUNTERS]
    if counted and len(found) != 1:
        message = f"{file.name} has no column count or sampled. The data file of a table has one of them."
        raise InvalidInput(message, where=file.name, code="reading.no-count")
    if not counted and not names:
        message = f"{file.name} has no columns. It is not a file that a release writes."
        raise InvalidInput(message, where=file.name, code="reading.no-columns")
    columns = tuple(name for name in names if not counted or name not in (*COUNTERS, EXACT, *ESTIMATES))
    return Cells(file, columns, counted, counted and EXACT in names, *(found if counted else ()))


def _text(column: Any) -> Any:
    """Labels as text, kept as codes into a dictionary where the file has them so."""
    if pa.types.is_dictionary(column.type) and column.null_count == 0:
        return column
    return column.cast(pa.large_string()).fill_null(NO_VALUE)


def _whole(column: Any) -> Any:
    if not pa.types.is_integer(column.type) or column.null_count:
        message = "The column of counts holds something else than whole numbers. The data file of a table does not."
        raise InvalidInput(message, where="count", code="reading.count-type")
    return column if column.type == pa.int64() else column.cast(pa.int64())


def _run_lengths(rows: pa.Table, keys: list[str]) -> pa.Table:
    """Equal rows that follow each other put together, and how many they are.

    Releases are written class by class, so that hardly anything is left to be added up.
    """
    changes = pa.repeat(pa.scalar(False), rows.num_rows - 1)
    for key in keys:
        (column,) = rows.column(key).chunks
        codes = column.indices if pa.types.is_dictionary(column.type) else column
        changes = pc.or_(changes, pc.not_equal(codes[1:], codes[:-1]))
    starts = np.append(np.zeros(1, np.int64), pc.indices_nonzero(changes).to_numpy().astype(np.int64) + 1)
    lengths = pa.array(np.diff(starts, append=rows.num_rows))
    return rows.take(pa.array(starts)).append_column(N, lengths)
