"""The names and types of the columns of a data file, from its schema, or from the first lines of a CSV file.

A file without a header has a record in its first line. Anyone who took that for names would copy a person into the
policy, so a first line that looks like data is refused: fields that are blank, numbers or dates, that are repeated, or
that occur again further down in their column.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import (
    ENDINGS,
    WORKBOOKS,
    first_records,
    folder_files,
    format_of,
    is_pattern,
    pattern_files,
)
from crowdblend.trusted.machine.packages import parquet
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.machine.regular_files import open_regular

ColumnKind = Literal["text", "number", "whole", "date", "boolean", "unknown", "row number"]

_LINES_BELOW = 1_000
# A page of the studio shows all of them, and a policy names each.
MOST_COLUMNS = 5_000
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,2}:\d{2}\b")
_NUMBER = re.compile(r"[-+]?(\d[\d ,._']*|\.\d+)([eE][-+]?\d+)?\s*[%€$£]?")
_WHOLE, _PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)"), re.compile(r"-?\d+([.,]\d+)?([eE][-+]?\d+)?")
# Columns that number the rows: by their names where only these are known, else by their names and by 1, 2, 3, ….
_INDEX = re.compile(r"(?i)(row|line|record)[_ .-]?(id|no|nr|num|number)|index|__index_level_0__|unnamed:? ?0")
_COUNTS = re.compile(r"(?i)(row|line|record|obs)?[_ .-]?(id|no|nr|num|number)|row|line|lfdnr|" + _INDEX.pattern[4:])
_WORDS_OF_DATA = {"true", "false", "yes", "null", "none", "nan", "n/a", "inf", "-inf"}


@dataclass(frozen=True)
class Header:
    """The columns of a file with their types; `format` and `delimiter` are None where the name says them."""

    columns: tuple[tuple[str, ColumnKind], ...]
    format: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        check_width(len(self.columns))


def check_width(columns: int) -> None:
    """Refuse data with more columns than policies name."""
    if columns > MOST_COLUMNS:
        message = f"The data have {columns:,} columns, and at most {MOST_COLUMNS:,} are taken."
        remedy = "Keep the columns that the release is about, in another file or by a query."
        raise InvalidInput(message, remedy=remedy, where="columns", code="init.columns")


def read_header(path: Path, delimiter: str | None = None, encoding: str | None = None) -> Header:
    """Return the columns of a file, or of the first file of a folder or pattern."""
    if path.suffix.lower() == ".toml":
        raise _refusal("policy", f"{path.name!r} is a policy already.", "Name the data that it is about.", path)
    if path.suffix.lower() in WORKBOOKS:
        message = f"{path.name!r} is a workbook, which may have several sheets."
        raise _refusal("workbook", message, "Save the sheet as CSV in UTF-8 from the spreadsheet program.", path)
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


def kind_of(kind: pa.DataType) -> ColumnKind:
    """Return whether values are numbers, dates, booleans or texts, as far as their type says it."""
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_integer(kind):
        return "whole"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "text"


def kind_of_texts(name: str, texts: Sequence[str]) -> ColumnKind:
    """Return what the first values of a CSV column are; digits after a zero are a code, and no number.

    >>> [kind_of_texts("x", texts) for texts in (["1", ""], ["1.5", "2"], ["01", "20"], ["2001-02-03"], ["true"], [])]
    ['whole', 'number', 'text', 'date', 'boolean', 'unknown']
    """
    given = [text.strip() for text in texts if text.strip()]
    if not given:
        return "unknown"
    if all(_WHOLE.fullmatch(text) for text in given):
        rising = len(given) > 2 and given == [str(int(given[0]) + at) for at in range(len(given))]
        return "row number" if rising and _COUNTS.fullmatch(name.strip()) else "whole"
    if any(text[0] == "0" and text[1:].isdigit() and len(text) > 1 for text in given):
        return "text"
    if all(_PLAIN_NUMBER.fullmatch(text) for text in given):
        return "number"
    if all(text.lower() in ("true", "false") for text in given):
        return "boolean"
    return "date" if all(_DATE.match(text) for text in given) else "text"


def _parquet(path: Path) -> Header:
    try:
        with open_regular(path) as file:
            schema = parquet.read_schema(file)
    except (OSError, pa.ArrowException, ValueError):
        raise _refusal("file", f"{path.name!r} is no Parquet file that can be read.", "Check the path.", path) from None
    kinds = [(field.name, kind_of(field.type)) for field in schema]
    numbered = {name for name, kind in kinds if kind == "whole" and _INDEX.fullmatch(name.strip())}
    return Header(tuple((name, "row number" if name in numbered else kind) for name, kind in kinds))


def _csv(path: Path, delimiter: str | None, encoding: str | None) -> Header:
    try:
        mark, records = first_records(path, delimiter, encoding, _LINES_BELOW + 1)
    except (LookupError, UnicodeError):
        remedy = "Pass `--encoding`, such as cp1252 (Windows), latin-1 or utf-16; or save it as UTF-8."
        what = "UTF-8 text" if encoding is None else f"text in the encoding {encoding}"
        raise _refusal("encoding", f"{path.name!r} is not {what}.", remedy, path) from None
    except (csv.Error, TypeError):
        message = f"The first lines of {path.name!r} cannot be split into fields."
        raise _refusal("header", message, "Check quotes, and pass `--delimiter`.", path) from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        why = getattr(error, "strerror", None) or "it is damaged"
        raise _refusal("file", f"{path.name!r} cannot be read: {why}.", "Check the path.", path) from None
    names, *rows = records or [[]]
    check_width(len(names))
    _refuse_data(names, rows, path)
    known = format_of(path.name) == "csv"
    below = [[row[place] for row in rows if len(row) > place] for place in range(len(names))]
    columns = tuple((name, kind_of_texts(name, texts)) for name, texts in zip(names, below, strict=True))
    return Header(columns, None if known else "csv", None if mark == "," else mark)


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
        message = f"The first line of {path.name!r} {problem}, so it is not taken for column names."
        raise _refusal("header", message, "Add a first line with the name of every column.", path)


def looks_like_data(field: str) -> bool:
    """Return whether a field is a number, a date, a time, an address or a word that stands for a value.

    >>> [looks_like_data(field) for field in ("age", "q12", "2001-02-03", "1,5", "12:30", "a@b.c", "true")]
    [False, False, True, True, True, True, True]
    """
    field = field.strip().lower()
    if field in _WORDS_OF_DATA or "@" in field or not any(character.isalpha() for character in field):
        return True
    return _DATE.match(field) is not None or _NUMBER.fullmatch(field) is not None
