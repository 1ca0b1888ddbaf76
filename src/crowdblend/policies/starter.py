"""A first policy for a data file, made from the names and types of its columns and from nothing else.

Categories and ranges in the data are themselves facts about people: a policy that copied them would publish them. So
every domain is left as a placeholder, and the policy is refused until the steward has filled it in.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import ENDINGS, folder_files, format_of, is_pattern, pattern_files

Declared = Literal["text", "number", "date", "unknown"]

_HEADER_LIMIT = 10_000_000
_HEAD = """\
# A crowdblend policy. Lines with FILL_IN must be completed before anything is published.
#
# Only the names and types of the columns were looked at. Write every category and range from what you know beforehand
# (the questionnaire, the code book, the law), not from the rows: a domain read off the data tells who is in them.

[data]
source = {source}
{layout}{person}duplicates = "refuse"          # "one" keeps one random row of a person who has several

[sampling]
rate = 0.1                     # the share of people kept; we draw it, secretly
# already_drawn = true         # instead: the table is itself the sample, and the rate is your assumption
# low = 0.08                   # biased sampling: everybody but a few is drawn with a probability from low to high
# high = 0.12
# exceptions = 3
# max_rate = 0.12
key = "destroy"                # "seal" keeps the secret of the sample in the ledger

[columns]                      # delete every column that need not be published
"""
_TAIL = """
[release]
kind = "table"                 # or "microdata", with the same sections
# Other kinds have other sections. docs/release.md tells them apart, and each has a page that begins with a policy:
#   "points"         where people are, moved by noise               docs/points.md
#   "outlier-table"  counts with more noise the smaller they are    docs/outliers.md
#   "statistics"     averages, shares, counts and histograms        docs/statistics.md
#   "synopsis"       synthetic rows that answer many questions      docs/synopsis.md
#   "graph"          figures of a network, from one link a row      docs/graphs.md
below_k = "suppress"           # or "noise", which needs every domain closed
# k = 20                       # left out: the smallest crowd that keeps the promise below is planned
epsilon = 1.0
delta = 1e-6
format = "parquet"             # or "csv"
"""
_PROPOSALS: dict[Declared, str] = {
    "text": '{ values = ["FILL_IN"] }   # or { prefix = 3 }, { hierarchy = "FILL_IN.csv", level = 1 }; other = "Other"',
    "number": '{ breaks = ["FILL_IN"] }   # rising numbers; or { from = …, to = …, width = … }; top = true',
    "date": '{ date = "FILL_IN" }   # year, quarter, month, week or day; from = …, to = … close the domain',
    "unknown": '{ values = ["FILL_IN"] }   # or breaks, from + to + width, prefix, date, hierarchy',
}


@dataclass(frozen=True)
class _Layout:
    columns: tuple[tuple[str, Declared], ...]
    lines: str = ""


def init_policy(
    data_path: Path | str,
    *,
    person: str | None = None,
    delimiter: str | None = None,
    folder: Path | str | None = None,
) -> str:
    """A commented policy for a CSV or Parquet file, or a folder or pattern of such files.

    `person` names the column that tells people apart; `folder` is where the policy will lie, and the source is then
    written relative to it.
    """
    path = Path(data_path)
    layout = _layout(path, delimiter)
    names = [name for name, _ in layout.columns]
    if person is not None and person not in names:
        raise InvalidInput(f"person must be a column of the data, got {person!r}. Use a name from its first line.")
    unit = (
        'person = "FILL_IN"             # the column that tells people apart; or rows_are_people = true\n'
        if person is None
        else f"person = {_toml(person)}\n"
    )
    source = path if folder is None else Path(os.path.relpath(path, folder))
    head = _HEAD.format(source=_toml(source.as_posix()), layout=layout.lines, person=unit)
    lines = [f"{_key(name)} = {_PROPOSALS[kind]}\n" for name, kind in layout.columns if name != person]
    return head + "".join(lines) + _TAIL


def _layout(path: Path, delimiter: str | None) -> _Layout:
    """The columns of a file, or of the first of several."""
    if path.is_dir():
        files = folder_files(path)
    elif is_pattern(str(path)):
        files = pattern_files(str(path))
    else:
        return _parquet(path) if format_of(path.name) == "parquet" else _csv(path, delimiter)
    for file in files:
        if (kind := format_of(file.name)) in ENDINGS:
            found = _layout(file, delimiter)
            return _Layout(found.columns, f'format = "{kind}"\n' + found.lines)
    raise InvalidInput(f"{path.name!r} must hold a CSV or Parquet file, and holds none. Check the path.")


def _parquet(path: Path) -> _Layout:
    try:
        from pyarrow import ArrowException, parquet, types  # noqa: PLC0415 - heavy, and only Parquet needs it
    except ImportError:
        raise InvalidInput("Parquet files need pyarrow, and it is missing. Install crowdblend[release].") from None
    try:
        schema = parquet.read_schema(path)
    except (OSError, ArrowException):
        raise InvalidInput(f"{path.name!r} must be a readable Parquet file, and is not. Check the path.") from None

    def declared(kind: object) -> Declared:
        if types.is_temporal(kind):
            return "date"
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            return "number"
        return "text"

    return _Layout(tuple((field.name, declared(field.type)) for field in schema))


def _csv(path: Path, delimiter: str | None) -> _Layout:
    """Only the header line is read."""
    try:
        with path.open("rb") as file:
            line = file.readline(_HEADER_LIMIT).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path.name!r} must be a readable file ({error.strerror}). Check the path.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path.name!r} must be UTF-8 text, and is not. Save it as UTF-8.") from None
    mark = delimiter or max(",;\t|", key=line.count)
    try:
        names = next(csv.reader([line.rstrip("\r\n")], delimiter=mark), [])
    except (csv.Error, TypeError):
        raise InvalidInput(
            f"{path.name!r} must begin with a line of column names. Check quotes and delimiter."
        ) from None
    if not names or any(not name.strip() for name in names) or len({name.lower() for name in names}) < len(names):
        raise InvalidInput(f"{path.name!r} must begin with a line of different column names. Add or correct it.")
    lines = "" if mark == "," else f"delimiter = {_toml(mark)}\n"
    known = format_of(path.name) == "csv"
    return _Layout(tuple((name, "unknown") for name in names), ("" if known else 'format = "csv"\n') + lines)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _toml(name)
