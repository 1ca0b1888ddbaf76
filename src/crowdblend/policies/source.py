"""Where the rows come from, ready to be opened: what an engine needs to know of a policy's section [data]."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from crowdblend.policies import files
from crowdblend.policies.key import refusal

Format = Literal["csv", "parquet", "duckdb", "postgres", "catalog"]
STDIN = "-"
IN_PYTHON = "the data you pass"

ADDRESS = re.compile(r"(?i)postgres(ql)?://")
# A table in the catalog of a Spark session: catalog://main.census.people
CATALOG = "catalog://"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PASSWORD = re.compile(r"(?i)://[^/@]*:[^/@]*@|[?&]password=")


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
    delimiter: str | None = None
    duplicates: Literal["refuse", "one"] = "refuse"
    rows_per_person: int | None = None
    counts_people: bool = False
    people: int | None = None
    frame: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if ADDRESS.match(self.source) and _PASSWORD.search(self.source):
            raise refusal(
                "password", "source in [data] holds a password.", "Move it to PGPASSWORD or ~/.pgpass.", "[data] source"
            )
        if (self.table is not None) != (self.format in ("duckdb", "postgres")):
            raise refusal(
                "table-of-source",
                f"A source of format {self.format} {'needs' if self.table is None else 'has no'} table in [data].",
                "Name the table to read." if self.table is None else "Remove table, or correct format.",
                "[data] table",
            )
        if self.delimiter is not None and self.format != "csv":
            raise refusal(
                "delimiter",
                f"A source of format {self.format} has no delimiter.",
                "Remove delimiter from [data].",
                "[data] delimiter",
            )
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\n\r\0'):
            raise refusal(
                "delimiter",
                f"delimiter in [data] takes one character that is no quote or line end, got {self.delimiter!r}.",
                'Use for example ";".',
                "[data] delimiter",
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
    local = source != STDIN and not _SCHEME.match(source)
    return os.path.normpath(folder / source) if local else source


def format_of(source: str) -> Format:
    """The format that the name of a source stands for."""
    if ADDRESS.match(source):
        return "postgres"
    if source.startswith(CATALOG):
        return "catalog"
    if (known := files.format_of(source)) is not None:
        return cast(Format, known)
    raise refusal(
        "format",
        "The name of the source does not say its format.",
        'Add format = "csv", "parquet", "duckdb" or "postgres" to [data].',
        "[data] format",
    )
