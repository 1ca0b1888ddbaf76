"""The names and types of the columns of a data file, read from its header or schema and from nothing else.

A file without a header has a record in its first line. Whoever took that for names would copy a person into the policy,
so a first line that looks like data is refused: fields that are blank, numbers or dates, that are repeated, or that
occur again further down in their column.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import ENDINGS, folder_files, format_of, is_pattern, pattern_files

ColumnKind = Literal["text", "number", "date", "boolean", "unknown"]

_HEADER_LIMIT = 10_000_000
_LINES_BELOW = 1_000
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,2}:\d{2}\b")
_NUMBER = re.compile(r"[-+]?(\d[\d ,._']*|\.\d+)([eE][-+]?\d+)?\s*[%€$£]?")
_WORDS_OF_DATA = {"true", "false", "yes", "null", "none", "nan", "n/a", "inf", "-inf"}


@dataclass(frozen=True)
class Header:
    """The columns of a file with their types; `format` and `delimiter` are None where the name says them."""

    columns: tuple[tuple[str, ColumnKind], ...]
    format: str | None = None
    delimiter: str | None = None


def read_header(path: Path, delimiter: str | None = None, encoding: str | None = None) -> Header:
    """The columns of a file, or of the first file of a folder or pattern."""
    if path.is_dir():
        files = folder_files(path)
    elif is_pattern(str(path)):
        files = pattern_files(str(path))
    else:
        return _parquet(path) if format_of(path.name) == "parquet" else _csv(path, delimiter, encoding)
    for file in files:
        if (kind := format_of(file.name)) in ENDINGS:
            found = read_header(file, delimiter, encoding)
            return Header(found.columns, kind, found.delimiter)
    raise _refusal("no-data", f"{path.name!r} holds no CSV or Parquet file.", "Check the path.", path)


def _refusal(code: str, message: str, remedy: str, path: Path) -> InvalidInput:
    return InvalidInput(message, remedy=remedy, where=path.name, code=f"init.{code}")


def _parquet(path: Path) -> Header:
    try:
        from pyarrow import ArrowException, parquet, types  # noqa: PLC0415 - heavy, and only Parquet needs it
    except ImportError:
        raise _refusal(
            "no-pyarrow", "Parquet files need pyarrow.", "Install crowdblend again, with what it depends on.", path
        ) from None
    try:
        schema = parquet.read_schema(path)
    except (OSError, ArrowException, ValueError):
        raise _refusal("file", f"{path.name!r} is no Parquet file that can be read.", "Check the path.", path) from None

    def kind_of(kind: object) -> ColumnKind:
        if types.is_boolean(kind):
            return "boolean"
        if types.is_temporal(kind):
            return "date"
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        return "text"

    return Header(tuple((field.name, kind_of(field.type)) for field in schema))


def _csv(path: Path, delimiter: str | None, encoding: str | None) -> Header:
    with _opened(path) as file:
        lines = [file.readline(_HEADER_LIMIT) for _ in range(_LINES_BELOW + 1)]
    line, _, below = _text(b"".join(lines), path, encoding).partition("\n")
    mark = delimiter or max(",;\t|", key=line.count)
    try:
        names = next(csv.reader([line.rstrip("\r\n")], delimiter=mark), [])
        rows = list(csv.reader(io.StringIO(below, newline=""), delimiter=mark))
    except (csv.Error, TypeError):
        raise _refusal(
            "header",
            f"The first lines of {path.name!r} cannot be split into fields.",
            "Check quotes, and pass --delimiter.",
            path,
        ) from None
    _refuse_data(names, rows, path)
    known = format_of(path.name) == "csv"
    return Header(tuple((name, "unknown") for name in names), None if known else "csv", None if mark == "," else mark)


def _text(content: bytes, path: Path, encoding: str | None) -> str:
    try:
        return codecs.getincrementaldecoder(encoding or "utf-8-sig")().decode(content).removeprefix("\ufeff")
    except (LookupError, UnicodeError):
        remedy = "Pass --encoding, such as cp1252 (Windows), latin-1 or utf-16; or save it as UTF-8."
        what = "UTF-8 text" if encoding is None else f"text in the encoding {encoding}"
        raise _refusal("encoding", f"{path.name!r} is not {what}.", remedy, path) from None


def _refuse_data(names: list[str], rows: list[list[str]], path: Path) -> None:
    """Refuse a first line that looks like a record; what stands in it is not shown."""
    lowered = [name.strip().lower() for name in names]
    problem = None
    if not names or not all(lowered):
        problem = "has a blank field"
    elif len(set(lowered)) < len(lowered):
        problem = "has a field twice"
    else:
        for place, name in enumerate(lowered):
            if looks_like_data(name):
                problem = f"has a number or a date as field {place + 1}"
            elif any(len(row) > place and row[place].strip().lower() == name for row in rows):
                problem = f"has a value as field {place + 1} that occurs again below"
    if problem is not None:
        raise _refusal(
            "header",
            f"The first line of {path.name!r} {problem}, so it is not taken for column names.",
            "Add a first line with the name of every column.",
            path,
        )


def looks_like_data(field: str) -> bool:
    """Whether a field is a number, a date, a time, an address or a word that stands for a value.

    >>> [looks_like_data(field) for field in ("age", "q12", "2001-02-03", "1,5", "12:30", "a@b.c", "true")]
    [False, False, True, True, True, True, True]
    """
    field = field.strip().lower()
    if field in _WORDS_OF_DATA or "@" in field or not any(character.isalpha() for character in field):
        return True
    return _DATE.match(field) is not None or _NUMBER.fullmatch(field) is not None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a text file, unpacked where its name says that it is packed."""
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as packed:
                yield cast(BinaryIO, packed)
        elif path.suffix.lower() == ".zst":
            import pyarrow  # noqa: PLC0415 - heavy, and only this compression needs it

            with pyarrow.input_stream(str(path), compression="zstd") as stream:
                yield cast(BinaryIO, io.BufferedReader(stream))
        else:
            with path.open("rb") as file:
                yield file
    except (OSError, EOFError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        why = getattr(error, "strerror", None) or "it is damaged"
        raise _refusal("file", f"{path.name!r} cannot be read: {why}.", "Check the path.", path) from None
