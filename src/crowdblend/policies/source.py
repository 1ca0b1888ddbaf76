"""Where the rows come from, ready to be opened: what an engine needs to know of a policy's section [data]."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from crowdblend.policies import files
from crowdblend.policies.csv_reading import CsvReading
from crowdblend.policies.key import refusal

Format = Literal["csv", "parquet", "duckdb", "postgres", "sqlite", "adbc", "catalog"]
# What is read through a database driver, not as files.
DATABASES = ("postgres", "sqlite", "adbc")
STDIN = "-"
IN_PYTHON = "the data you pass"

ADDRESS = re.compile(r"(?i)postgres(ql)?://")
# A table in the catalog of a Spark session: catalog://main.census.people
CATALOG = "catalog://"
_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PASSWORD = re.compile(r"(?i)://[^?#]*:[^?#]*@|[?&;](ssl)?(password|pwd)=")
_DRIVER = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CSV_KEYS = ("delimiter", "encoding", "decimal", "thousands", "date_format")


@dataclass(frozen=True)
class DataSource:
    """Where the people are; `source` is a path, a glob, an address or - for stdin, ready to be opened.

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
    driver: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    duplicates: Literal["refuse", "one"] = "refuse"
    rows_per_person: int | None = None
    counts_people: bool = False
    people: int | None = None
    frame: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if _SCHEME.match(self.source) and _PASSWORD.search(self.source):
            raise refusal(
                "password", "source in [data] holds a password.", "Move it to PGPASSWORD or ~/.pgpass.", "[data] source"
            )
        self._check_table()
        self._check_driver()
        for name in _CSV_KEYS:
            if getattr(self, name) is not None and self.format != "csv":
                raise refusal(
                    name.replace("_", "-"),
                    f"A source of format {self.format} has no {name}.",
                    f"Remove {name} from [data].",
                    f"[data] {name}",
                )
        _ = self.csv

    @cached_property
    def csv(self) -> CsvReading:
        """How the fields of a CSV file are written."""
        given = {name: getattr(self, name) for name in _CSV_KEYS}
        return CsvReading(**{name: value for name, value in given.items() if value is not None})

    @property
    def name(self) -> str:
        """What the source is called where the steward is told what is read: without folder, host or user."""
        if self.query is not None:
            return "the query in [data]"
        return f"table {self.table}" if self.is_database else Path(self.source).name

    @property
    def is_database(self) -> bool:
        """Whether rows come through a database driver."""
        return self.format in DATABASES

    @property
    def is_read_once(self) -> bool:
        """Whether the rows go into a private file before they are read: they could be others the next time."""
        return self.source == STDIN or self.is_database or self.query is not None

    def _check_table(self) -> None:
        """A database needs a table or a query, and nothing else has one."""
        tabled = self.is_database or self.format == "duckdb"
        if self.table is not None and self.query is not None:
            raise refusal("table-of-source", "[data] has both table and query.", "Keep one of them.", "[data] query")
        name = "query" if self.query is not None else "table"
        if (getattr(self, name) is not None) != tabled:
            missing = self.table is None and self.query is None
            raise refusal(
                "table-of-source",
                f"A source of format {self.format} "
                + ("needs table or query in [data]." if missing else f"has no {name} in [data]."),
                "Name the table to read, or write a query." if missing else f"Remove {name}, or correct format.",
                f"[data] {name}",
            )

    def _check_driver(self) -> None:
        if (self.driver is not None) != (self.format == "adbc"):
            needs = self.driver is None
            raise refusal(
                "driver",
                f"A source of format {self.format} {'needs' if needs else 'has no'} driver in [data].",
                'Name the ADBC driver, such as "flightsql".' if needs else "Remove driver, or correct format.",
                "[data] driver",
            )
        if self.driver is not None and not _DRIVER.fullmatch(self.driver):
            raise refusal(
                "driver",
                f"driver in [data] is {self.driver[:60]!r}.",
                'Write the part of the package after adbc_driver_, such as "flightsql".',
                "[data] driver",
            )


def require_rows(data: DataSource) -> None:
    """Refuse a source that was never named, nor passed from Python."""
    if data.format == "frame" and data.frame is None:
        raise refusal(
            "no-source",
            "The policy names no source.",
            "Add source to [data], or pass the data from Python: crowdblend.release(data, policy).",
            "[data] source",
        )


def located(source: str, folder: Path) -> str:
    """A source as it is opened: a relative path lies in `folder`; addresses and stdin stay as they are."""
    if is_sqlite(source):
        return _SQLITE + os.path.normpath(folder / source[len(_SQLITE) :])
    local = source != STDIN and not _SCHEME.match(source)
    return os.path.normpath(folder / source) if local else source


def is_sqlite(source: str) -> bool:
    """Whether a source is an address sqlite:///FILE."""
    return source.lower().startswith(_SQLITE)


def sqlite_file(source: str) -> Path:
    """The file of a source sqlite:///FILE, or of one that is a path."""
    return Path(source[len(_SQLITE) :] if is_sqlite(source) else source)


def format_of(source: str) -> Format:
    """The format that the name of a source stands for."""
    if ADDRESS.match(source):
        return "postgres"
    if source.startswith(CATALOG):
        return "catalog"
    if is_sqlite(source):
        return "sqlite"
    if (known := files.format_of(source)) is not None:
        return cast(Format, known)
    raise refusal(
        "format",
        "The name of the source does not say its format.",
        'Add format = "csv", "parquet", "duckdb", "postgres", "sqlite" or "adbc" to [data].',
        "[data] format",
    )
