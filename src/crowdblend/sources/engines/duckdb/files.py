"""CSV files as a relation: every column is text, and the policy says what it means.

The files are gone through twice, by different means. Records are counted from the bytes first; how lines end, and
whether fields have line ends inside, is then told to DuckDB instead of being guessed by it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.reading import quote
from crowdblend.policies.files import first_records, format_of, open_unpacked
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.database import not_utf8, redact
from crowdblend.sources.engines.duckdb.relation import (
    Field,
    Relation,
    check_names,
    check_repeats,
    list_files,
    source_name,
)
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.refusals import at_column, refusal
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import parquet
from crowdblend.trusted.machine.packages import pyarrow as pa

with lazy_imports():
    from crowdblend.sources.engines import csv_records
    from crowdblend.sources.engines.csv_records import CsvRecords

# A longer name is a quotation mark that never ends.
_LONGEST_NAME = 100_000
# The engine holds 16 of these a thread.
_LONGEST_LINE = 2_000_000
_BLOCK = 1 << 20
_MOST_DIGITS = 38
# Nobody types these. In Latin-1 they are where Windows has its quotation marks, dashes and the euro sign.
_CONTROLS = re.compile("[\x80-\x9f]")
_LINE_ENDS = {"\n": r"'\n'", "\r\n": r"'\r\n'", "\r": r"'\r'"}


def open_csv(data: DataSource, files: Sequence[Path], columns: Sequence[str], folder: Path) -> Relation:
    """CSV files with the same header; only their headers are read before the relation is prepared.

    `folder` is private and takes what has to be converted to UTF-8 first.
    """
    header = _header(data, files[0])
    if any(_header(data, file) != header for file in files[1:]):
        message = f"The files of {source_name(data)} begin with different lines of column names."
        raise refusal("different-headers", message, "Give all of them the same first line.", "`data.source`")
    _check_delimiter(data, header, columns)
    check_names(data, header, columns)
    # Named by position, so that nothing but the wanted columns has to have a sensible name.
    notation = data.csv if data.csv.changes_numbers or data.csv.date_format is not None else None
    fields = tuple(Field(name, f"c{position}", ColumnType.TEXT, notation) for position, name in enumerate(header))
    return Relation("", fields, prepare=lambda: _relation_of_counts(data, _in_utf8(data, files, folder), fields))


def _relation_of_counts(data: DataSource, files: Sequence[Path], fields: tuple[Field, ...]) -> Relation:
    """The relation after the records were counted; files that are read alike are read together."""
    delimiter, rows = data.csv.delimiter, 0
    alike: dict[str, list[Path]] = {}
    for file in files:
        found = _records(file, _state(file), delimiter, len(fields))
        rows += found.records - 1
        alike.setdefault(_options(found), []).append(file)
    columns = ", ".join(f"'{field.identifier}': 'VARCHAR'" for field in fields)
    parts = [
        f"read_csv({list_files(some)}, columns = {{{columns}}}, auto_detect = false, header = true, quote = '\"', "
        f"escape = '\"', delim = {quote(delimiter)}, max_line_size = {_LONGEST_LINE}, hive_partitioning = false"
        f"{options})"
        for options, some in alike.items()
    ]
    sql = parts[0] if len(parts) == 1 else "(" + " UNION ALL ".join(f"SELECT * FROM {part}" for part in parts) + ")"
    return Relation(sql, fields, rows=rows)


@lru_cache(maxsize=1024)
def _records(file: Path, _: tuple[int, ...], delimiter: str, columns: int) -> CsvRecords:
    """Return the records of a file in a certain state; a release opens its source more than once."""
    return csv_records.count_records(file, delimiter, columns)


def _state(file: Path) -> tuple[int, ...]:
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _options(records: CsvRecords) -> str:
    line_end = "" if records.line_end is None else f", new_line = {_LINE_ENDS[records.line_end]}"
    return line_end + (", parallel = false" if records.quoted_line_ends else "")


def _check_delimiter(data: DataSource, header: list[str], columns: Sequence[str]) -> None:
    """A single column that is not wanted is most often a file with another delimiter."""
    if len(header) > 1 or header[0] in columns:
        return
    for mark in (";", "\t", "|", ","):
        if mark in header[0]:
            message = f"{source_name(data)} is read as a single column and has no column {columns[0]!r}."
            raise refusal("delimiter", message, f"Add `data.delimiter = {json.dumps(mark)}`.", "`data.delimiter`")


def _in_utf8(data: DataSource, files: Sequence[Path], folder: Path) -> Sequence[Path]:
    """Return the files as they are, or copies of them in UTF-8 in the private folder."""
    if data.csv.is_utf8:
        return files
    copies = []
    for number, file in enumerate(files):
        copy = folder / f"utf8-{number}.csv"
        with redact(f"{source_name(data)} cannot be read to its end.", where=file.name):
            _convert(data, file, copy)
        copies.append(copy)
    return copies


def _convert(data: DataSource, file: Path, copy: Path) -> None:
    """Write a file again in UTF-8; refuses bytes that the declared encoding has not."""
    created = os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="")
    try:
        with created, open_unpacked(file) as stream, io.TextIOWrapper(stream, data.csv.encoding, newline="") as text:
            while block := text.read(_BLOCK):
                if _CONTROLS.search(block):
                    message = f"{source_name(data)} holds control characters when it is read as {data.csv.encoding}."
                    remedy = 'Try `data.encoding = "cp1252"`, which Windows writes.'
                    raise refusal("encoding", message, remedy, "`data.encoding`")
                created.write(block.removeprefix("\ufeff"))
    except UnicodeError:
        raise _wrong_encoding(data, file) from None


def _wrong_encoding(data: DataSource, file: Path) -> InvalidInput:
    if data.encoding is None:
        with open_unpacked(file) as stream:
            if stream.read(2) not in (b"\xff\xfe", b"\xfe\xff"):
                return not_utf8()
        remedy = 'Add `data.encoding = "utf-16"`.'
        return refusal("encoding", f"{source_name(data)} is UTF-16 text.", remedy, "`data.encoding`")
    message = f"{source_name(data)} is not text in the encoding {data.encoding}."
    return refusal("encoding", message, "Correct `data.encoding`.", "`data.encoding`")


def _header(data: DataSource, file: Path) -> list[str]:
    """Return the names in the first line of a CSV file; nothing else is looked at."""
    try:
        with redact(f"{source_name(data)} cannot be read.", where=file.name):
            encoding = None if data.csv.is_utf8 else data.csv.encoding
            try:
                names = next(iter(first_records(file, data.csv.delimiter, encoding)[1]), [])
            except UnicodeError:
                raise _wrong_encoding(data, file) from None
    except (csv.Error, EOFError, zlib.error):
        names = []
    if names and (mark := re.fullmatch(r"(?i)sep=(.?)", names[0])):
        delimiter = json.dumps(mark[1] or data.csv.delimiter)
        message = f"{source_name(data)} begins with a line that tells Excel the delimiter, not with column names."
        remedy = f"Remove the first line, and write `data.delimiter = {delimiter}`."
        raise refusal("no-header", message, remedy, file.name)
    if not any(name.strip() for name in names) or any(len(name) > _LONGEST_NAME for name in names):
        raise refusal(
            "no-header", f"{source_name(data)} does not begin with a line of column names.", "Add that line.", file.name
        )
    return names


def open_parquet(data: DataSource, files: Sequence[Path], columns: Sequence[str]) -> Relation:
    """Parquet files; only their footers are read. Its columns are still to be described."""
    sizes, first = [], None
    for file in files:
        remedy = "Write or copy it again."
        if format_of(file.name) not in (None, "parquet"):
            remedy = "Remove `data.format`: the name of the file says another one."
        with redact(f"{source_name(data)} is no whole Parquet file.", remedy, file.name):
            footer = parquet.read_metadata(file)
            names = footer.schema.to_arrow_schema().names
        sizes.append(footer.num_rows)
        _check_folders(data, file, names, columns)
        check_repeats(data, names, columns)
        check_names(data, names, columns)
        _check_person(data, footer)
        types = _types(footer)
        first = first or (file, types)
        for name in types.keys() & first[1].keys():
            if types[name] != first[1][name]:
                message = f"Column {name!r} has different types in {first[0].name!r} and {file.name!r}."
                raise refusal("different-types", message, "Write both with the same type.", at_column(name))
    return Relation(
        f"read_parquet({list_files(files)}, hive_partitioning = false)", (), rows=sum(sizes), sizes=tuple(sizes)
    )


def _types(footer: parquet.FileMetaData) -> dict[str, tuple[Any, ...]]:
    """Return the stored type of every column and nested column, lest it be cast to the first."""
    columns = (footer.schema.column(place) for place in range(len(footer.schema)))
    return {column.path: (column.physical_type, str(column.logical_type), column.converted_type) for column in columns}


def _check_person(data: DataSource, footer: parquet.FileMetaData) -> None:
    """Refuse ids that the engine would round: it reads decimals of more than 38 digits as doubles."""
    if data.person is None:
        return
    kind = footer.schema.to_arrow_schema().field(data.person).type
    if pa.types.is_decimal(kind) and kind.precision > _MOST_DIGITS:
        message = f"Column {data.person!r} tells people apart by decimals of more than {_MOST_DIGITS} digits."
        remedy = f"Convert it to text, or to decimals of at most {_MOST_DIGITS} digits."
        raise refusal("long-decimal", message, remedy, at_column(data.person))


def _check_folders(data: DataSource, file: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a column that only a folder such as sex=Female has: what it says is not in the file."""
    for name in columns:
        if name not in names and any(part.startswith(f"{name}=") for part in file.parent.parts):
            message = f"Column {name!r} of {source_name(data)} is only in the names of folders, which are not read."
            raise refusal("folder-column", message, "Write it into the files.", at_column(name))
