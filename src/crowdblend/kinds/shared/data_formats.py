"""The formats of published files: a class each, which alone writes, opens and describes files of its ending."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, ClassVar

from crowdblend.policies.formulas import neutral_text
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import pyarrow as pa
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

WIDEST_FIELD = 1 << 24
# Bytes of a CSV file that are read at once, and rows of a Parquet file.
BLOCK, PIECE = 1 << 23, 1 << 20
# The Parquet writer encodes 1,024 rows at once unless told, and looks every time which labels are among them. Pages
# end where rows were encoded at once, if they are full; the codes of a piece with so few labels fill none, and 2^17
# numbers of 64 bits fill one exactly.
_ROWS_AT_ONCE, _FEW_LABELS, _NUMBERS_AT_ONCE = 1 << 20, 1 << 7, 1 << 17


class DataFormat(ABC):
    """A format of published files."""

    ending: ClassVar[str]
    media_type: ClassVar[str]
    is_text: ClassVar[bool]
    """True if a file is UTF-8 and takes no more memory than it has bytes."""
    has_types: ClassVar[bool]
    """True if a file says of which type its columns are."""
    pandas_reader: ClassVar[str]

    @property
    def name(self) -> str:
        """The name of the format, as policies and data packages spell it."""
        return self.ending[1:]

    def written(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows as a file of this format has them."""
        return batch

    def written_label(self, text: str) -> str:
        """Return a label as a file of this format has it."""
        return text

    @abstractmethod
    def writer(self, path: Path, first: pa.RecordBatch, *, looks_up_numbers: bool) -> Any:
        """Return a writer for batches like this one, the first."""

    @abstractmethod
    def header(self, path: Path) -> list[str]:
        """Return the names of the columns."""

    @abstractmethod
    def batches(self, path: Path, kinds: Mapping[str, Any], rows: int, *, threads: bool) -> Iterator[pa.RecordBatch]:
        """Yield the named columns in that order; a format without types gives them these."""

    @abstractmethod
    def table(self, path: Path, kinds: Mapping[str, Any]) -> pa.Table:
        """Return all columns of a file; a format without types gives those that are named these types."""

    @abstractmethod
    def rows(self, content: bytes) -> tuple[list[str], list[list[str]]]:
        """Return the names of the columns and the rows of a file, all as texts."""

    def footer(self, path: Path, longest_list: int) -> Any:
        """Return what a file states of packed columns; None where nothing unpacks to more than it has bytes."""
        del path, longest_list

    @abstractmethod
    def opened_in_r(self, file: str) -> str:
        """Return the line of R that opens a file as `data`."""


class Csv(DataFormat):
    """Texts between commas; no spreadsheet runs any of them as a formula."""

    ending, media_type, is_text, has_types, pandas_reader = ".csv", "text/csv", True, False, "read_csv"

    def written(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return neutral_batch(batch)

    def written_label(self, text: str) -> str:
        return neutral_text(text)

    def writer(self, path: Path, first: pa.RecordBatch, *, looks_up_numbers: bool) -> Any:
        del looks_up_numbers
        return arrow_csv.CSVWriter(str(path), first.schema)

    def header(self, path: Path) -> list[str]:
        csv.field_size_limit(WIDEST_FIELD)
        with path.open(encoding="utf-8-sig", newline="") as opened:
            return next(csv.reader(opened), [])

    def batches(self, path: Path, kinds: Mapping[str, Any], rows: int, *, threads: bool) -> Iterator[pa.RecordBatch]:
        del rows, threads
        types = dict(kinds)
        convert = arrow_csv.ConvertOptions(column_types=types, include_columns=list(types), strings_can_be_null=False)
        parse = arrow_csv.ParseOptions(newlines_in_values=True)
        read = arrow_csv.ReadOptions(block_size=BLOCK, use_threads=False)
        with arrow_csv.open_csv(path, read_options=read, parse_options=parse, convert_options=convert) as opened:
            yield from opened

    def table(self, path: Path, kinds: Mapping[str, Any]) -> pa.Table:
        options = arrow_csv.ConvertOptions(column_types=dict(kinds), strings_can_be_null=False)
        return arrow_csv.read_csv(path, convert_options=options)

    def rows(self, content: bytes) -> tuple[list[str], list[list[str]]]:
        header, *rows = csv.reader(io.StringIO(content.decode()))
        return header, rows

    def opened_in_r(self, file: str) -> str:
        return f'data <- read.csv("{file}", check.names = FALSE)'


class Parquet(DataFormat):
    """Packed columns with types; texts are dictionary-coded."""

    ending, media_type, is_text, has_types = ".parquet", "application/vnd.apache.parquet", False, True
    pandas_reader = "read_parquet"

    def writer(self, path: Path, first: pa.RecordBatch, *, looks_up_numbers: bool) -> Any:
        return parquet.ParquetWriter(
            str(path),
            first.schema,
            compression="zstd",
            version="2.6",
            # Without the Arrow schema readers see plain text, not the dictionary it is stored as.
            store_schema=False,
            use_dictionary=looks_up_numbers or [name for name in first.schema.names if _labels(first.column(name))],
            write_batch_size=_rows_at_once([_labels(column) for column in first.columns], looks_up_numbers),
        )

    def header(self, path: Path) -> list[str]:
        names: list[str] = parquet.read_schema(path).names
        return names

    def batches(self, path: Path, kinds: Mapping[str, Any], rows: int, *, threads: bool) -> Iterator[pa.RecordBatch]:
        names = list(kinds)
        schema = parquet.read_schema(path)
        texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
        with parquet.ParquetFile(path, read_dictionary=texts) as opened:
            for batch in opened.iter_batches(batch_size=rows, columns=names, use_threads=threads):
                yield batch.select(names)

    def table(self, path: Path, kinds: Mapping[str, Any]) -> pa.Table:
        del kinds
        return parquet.read_table(str(path))

    def rows(self, content: bytes) -> tuple[list[str], list[list[str]]]:
        held = parquet.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        columns = [[str(value) for value in column.to_pylist()] for column in held.columns]
        return held.column_names, [list(row) for row in zip(*columns, strict=True)]

    def footer(self, path: Path, longest_list: int) -> Any:
        with parquet.ParquetFile(path, thrift_container_size_limit=longest_list) as opened:
            return opened.metadata

    def opened_in_r(self, file: str) -> str:
        return f'library(arrow); data <- read_parquet("{file}")'


FORMATS: dict[str, DataFormat] = {one.ending: one for one in (Parquet(), Csv())}


def format_of(file: str) -> DataFormat:
    """Return the format of a published file by the ending of its name."""
    return FORMATS[PurePath(file).suffix]


def neutral_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows, and the names of their columns, that a spreadsheet runs no formula of; nothing else changes.

    Texts that it would run have an apostrophe before them.
    """
    columns = [_neutral_column(column) for column in batch.columns]
    return pa.record_batch(columns, names=[neutral_text(name) for name in batch.schema.names])


def _neutral_column(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _neutral_column(column.dictionary))
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    texts = column.to_pylist()
    neutral = [text if text is None else neutral_text(text) for text in texts]
    return column if neutral == texts else pa.array(neutral, column.type)


def _rows_at_once(labels: list[int], looks_up_numbers: bool) -> int | None:
    """Return how many rows the Parquet writer encodes at once, by the number of labels of each column."""
    if max(labels) > _FEW_LABELS or (looks_up_numbers and 0 in labels):
        return None
    return _NUMBERS_AT_ONCE if 0 in labels else _ROWS_AT_ONCE


def _labels(column: pa.Array) -> int:
    """Return the number of labels that a column takes its texts from."""
    return len(getattr(column, "dictionary", ()))
