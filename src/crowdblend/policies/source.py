"""The source of the rows, ready to be opened: the part of [data] that an engine needs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, cast

from crowdblend.notation import within
from crowdblend.policies import files
from crowdblend.policies.csv_reading import CsvReading
from crowdblend.policies.key import Key
from crowdblend.policies.refusals import did_you_mean, refusal, show_value
from crowdblend.policies.unit import Unit

Format = Literal["csv", "parquet", "duckdb", "postgres", "sqlite", "catalog"]
# What is read through a database driver, not as files.
DATABASES = ("postgres", "sqlite")
STDIN = "-"
IN_PYTHON = "the data you pass"

ADDRESS = re.compile(r"(?i)postgres(ql)?://")
# A table in the catalog of a Spark session: catalog://main.census.people
CATALOG = "catalog://"
_SQLITE = "sqlite:///"
_USUAL_UNIT = Unit()
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PASSWORD = re.compile(r"(?i)://[^?#]*:[^?#]*@|[?&;](ssl)?(password|pwd)=")
_CSV_KEYS = ("delimiter", "encoding", "decimal", "thousands", "date_format")
# What a policy says of how the source is read.
READING_KEYS = ("table", "query", *_CSV_KEYS)


@dataclass(frozen=True)
class DataSource:
    """The source of the people: a path, a glob, an address or - for stdin, ready to be opened.

    Rows that Python holds have the format "frame": `source` is what messages call them, and `frame` holds them. It is
    None where the policy waits for them.
    """

    source: str
    format: Format | Literal["frame"]
    person: str | None = None
    rows_are_people: bool = False
    ids: Literal["people", "table"] = "people"
    table: str | None = None
    population: str | None = None
    query: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    unit: Unit = _USUAL_UNIT
    people: int | None = None
    frame: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if _SCHEME.match(self.source) and _PASSWORD.search(self.source):
            raise refusal(
                "password", "`data.source` holds a password.", "Move it to PGPASSWORD or ~/.pgpass.", "`data.source`"
            )
        self._check_keys()
        _ = self.csv

    @cached_property
    def csv(self) -> CsvReading:
        """The format of the fields of a CSV file."""
        given = {name: getattr(self, name) for name in _CSV_KEYS}
        return CsvReading(**{name: value for name, value in given.items() if value is not None})

    @property
    def name(self) -> str:
        """The name of the source in messages to the steward: without folder, host or user."""
        if self.query is not None:
            return "the query"
        return f"table {self.table}" if self.is_database else Path(self.source).name

    @property
    def is_database(self) -> bool:
        """True if rows come through a database driver."""
        return self.format in DATABASES

    @property
    def is_read_once(self) -> bool:
        """True if the rows go into a private file before they are read: they could be others the next time."""
        return self.source == STDIN or self.is_database or self.query is not None

    def _check_keys(self) -> None:
        """Refuse keys that the format does not have, and a database of which nothing says what to read."""
        tabled = (*DATABASES, "duckdb")
        formats = {"table": tabled, "query": tabled, **dict.fromkeys(_CSV_KEYS, ("csv",))}
        for name, having in formats.items():
            if getattr(self, name) is not None and self.format not in having:
                raise refusal(
                    "table-of-source" if having is tabled else name.replace("_", "-"),
                    f"A source of format {self.format} has no `data.{name}`.",
                    f"Remove `data.{name}`, or correct `data.format`.",
                    f"`data.{name}`",
                )
        if self.format in tabled and (self.table is None) == (self.query is None):
            message = f"A source of format {self.format} needs either `data.table` or `data.query`."
            raise refusal("table-of-source", message, "Name the table to read, or write a query.", "`data.table`")


def require_rows(data: DataSource) -> None:
    """Refuse a source that was never named, nor passed from Python."""
    if data.format == "frame" and data.frame is None:
        message = "The policy names no source."
        remedy = "Add `data.source`, or pass the data from Python."
        raise refusal("no-source", message, remedy, "`data.source`")


def locate(source: str, folder: Path) -> str:
    """Return a source as it is opened: a relative path lies in `folder`; addresses and stdin stay as they are."""
    if is_sqlite(source):
        return _SQLITE + os.path.normpath(folder / source[len(_SQLITE) :])
    local = source != STDIN and not _SCHEME.match(source)
    return os.path.normpath(folder / source) if local else source


@dataclass(frozen=True)
class PolicyFolder:
    """The folder that relative paths of a policy lie in; `check` refuses a path before anything there is opened.

    It is told the path, or the address, and the key that names it.
    """

    path: Path
    check: Callable[[str, str], object] | None = None

    def locate(self, source: str, where: str) -> str:
        """Return a path or an address of the policy as it is opened."""
        found = locate(source, self.path)
        if self.check is not None:
            self.check(found, where)
        return found


def require_table(value: object, where: str) -> Mapping[str, Any]:
    """Return a value that is a table of keys; refuse any other."""
    if not isinstance(value, Mapping):
        message = f"{where} is {show_value(value)} instead of a table of keys."
        raise refusal("section", message, "Write its keys below it.", where)
    return value


def require_list(value: object, where: str) -> list[Any]:
    """Return a value that is a list of tables; refuse any other."""
    if not isinstance(value, list):
        message = f"{where} is {show_value(value)} instead of a list of tables."
        raise refusal("section", message, f"Write {where} above each, with double brackets.", where)
    return value


def read_keys(keys: Mapping[str, Key], table: object, where: str, folder: PolicyFolder) -> dict[str, object]:
    """Return the values of one section by the name of their field; relative paths lie in `folder`."""
    table = require_table(table, where)
    known = {key.name: field for field, key in keys.items()}
    for name in table:
        if name not in known:
            raise refusal(
                "unknown-key", f"{where} has no key {name!r}.", did_you_mean(name, known), within(where, name)
            )
    for key in keys.values():
        if key.required and table.get(key.name) is None:
            raise key.missing(where)
    return {
        field: key.with_paths(given, partial(folder.locate, where=within(where, key.name)))
        for field, key in keys.items()
        if (given := table.get(key.name)) is not None
    }


def is_sqlite(source: str) -> bool:
    """Return whether a source is an address sqlite:///FILE."""
    return source.lower().startswith(_SQLITE)


def sqlite_file(source: str) -> Path:
    """Return the file of a source sqlite:///FILE, or of one that is a path."""
    return Path(source[len(_SQLITE) :] if is_sqlite(source) else source)


def format_of(source: str) -> Format:
    """Return the format that the name of a source stands for."""
    if ADDRESS.match(source):
        return "postgres"
    if source.startswith(CATALOG):
        return "catalog"
    if is_sqlite(source):
        return "sqlite"
    if (known := files.format_of(source)) is not None:
        return cast(Format, known)
    if files.ending_of(source) in files.WORKBOOKS:
        message = f"{Path(source).name!r} is a workbook, which may have several sheets."
        remedy = "Save the sheet as CSV in UTF-8 from the spreadsheet program, and name that file."
        raise refusal("workbook", message, remedy, "`data.source`")
    message = "The name of the source does not say its format."
    remedy = 'Add `data.format = "csv" | "parquet" | "duckdb" | "postgres" | "sqlite"`.'
    raise refusal("format", message, remedy, "`data.format`")
