"""A published data file, opened here and nowhere else: its header, its rows in batches or whole, or as values."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from crowdblend.errors import InvalidInput
from crowdblend.kinds.shared.data_formats import PIECE, DataFormat, format_of

# A row of a small file.
Row = dict[str, Any]
# Files whose rows are values of their own, one dictionary each.
LARGEST_FILE = 1 << 28
MOST_ROWS = 1_000_000
# Entries of a list in a footer, such as groups of rows: room for them is taken as soon as their number is read.
LONGEST_LIST = 1 << 14


@dataclass(frozen=True)
class DataFile:
    """A data file of a release, in a format that the ending of its name says."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    @property
    def stem(self) -> str:
        """The name of the file without its ending: that of its table."""
        return self.path.stem

    @property
    def format(self) -> DataFormat:
        """The format of the file."""
        return format_of(self.name)

    @property
    def size(self) -> int:
        """The number of bytes that the file has."""
        return self.path.stat().st_size

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns."""
        with self.readable():
            return self.format.header(self.path)

    @cached_property
    def footer(self) -> Any:
        """The sizes of packed columns, as the file states them; None where it packs nothing."""
        return self.format.footer(self.path, LONGEST_LIST)

    def batches(
        self, kinds: Mapping[str, pa.DataType], *, rows: int = PIECE, threads: bool = True
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns in that order; a file without types of its own gets these."""
        with self.readable():
            yield from self.format.batches(self.path, kinds, rows, threads=threads)

    def table(self, kinds: Mapping[str, pa.DataType]) -> pa.Table:
        """Return all columns; in a file without types of its own those that are named get these."""
        with self.readable():
            return self.format.table(self.path, kinds)

    def rows(self, texts: Sequence[str], numbers: Sequence[str], blank: Collection[str] = ()) -> list[Row]:
        """Return a small file as one dictionary per row: these texts, None where there is none, and these numbers.

        Columns in `blank` may be missing, and numbers in them None. A file that is too large, lacks another column or
        has one of another type is refused.
        """
        table = self._small_table(texts)
        names = table.column_names
        if any(names.count(column) != 1 and (column in names or column not in blank) for column in (*texts, *numbers)):
            columns = ", ".join((*texts, *numbers))
            message = f"{self.name} lacks one of the columns {columns}. It is not a file of this kind of release."
            raise InvalidInput(message, where=self.name, code="reading.columns")
        for column in (one for one in texts if one in names):
            kind = table.schema.field(column).type
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
                message = f"Column {column!r} of {self.name} holds something else than texts."
                raise InvalidInput(message, where=self.name, code="reading.texts")
        for column in (one for one in numbers if one in names):
            kind, filled = table.schema.field(column).type, column in blank or not table.column(column).null_count
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)) or not filled:
                message = f"Column {column!r} of {self.name} holds something else than numbers."
                raise InvalidInput(message, where=self.name, code="reading.numbers")
        return [
            {
                **{name: None if row.get(name) in (None, "") else str(row[name]) for name in texts},
                **{name: row.get(name) for name in numbers},
            }
            for row in table.to_pylist()
        ]

    def _small_table(self, texts: Sequence[str]) -> pa.Table:
        if self.size > LARGEST_FILE:
            message = f"{self.name} is larger than {LARGEST_FILE >> 20} MB. No release of this kind is."
            raise InvalidInput(message, where=self.name, code="reading.too-large")
        with self.readable():
            packed = self.footer
        few = packed is None or packed.num_rows <= MOST_ROWS
        table = self.table(dict.fromkeys(texts, pa.string())) if few else None
        if table is None or table.num_rows > MOST_ROWS:
            message = f"{self.name} has more than {MOST_ROWS:,} rows. No release of this kind has."
            raise InvalidInput(message, where=self.name, code="reading.too-large")
        return table

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Refuse a file that is damaged or in another format than its name says."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as damaged:
            message = f"{self.name} is damaged or not {self.format.name}. Pass the folder of a whole release."
            raise InvalidInput(message, where=self.name, code="reading.damaged") from damaged
