"""Published tables in formats of other programs: a module for each, which asks an opened release and nothing else.

A module has `write(release, tables, file)`, and a line below.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from crowdblend.errors import InvalidInput
from crowdblend.reading.columns import Column
from crowdblend.reading.data_file import DataFile
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import pyarrow as pa

# The ending of a file, and the module that writes it.
FORMATS = {".csv": "spreadsheet"}


class Published(Protocol):
    """An opened release as exports see it, the same for all kinds; tables are asked for by the names in `files`."""

    @property
    def files(self) -> Mapping[str, DataFile]:
        """The data files by the names of their tables."""

    def columns(self, table: str) -> list[Column]:
        """Return the columns of a table, with their types, meanings and domains."""

    def batches(self, table: str) -> pa.RecordBatchReader:
        """Return the rows of a table as they were published, some at a time."""

    def numbers(self, confidence: float = 0.95, table: str | None = None) -> pa.Table:
        """Return every number of a table with its estimate, its interval and its status."""


def export(release: Published, out: Path, table: str | None, *, force: bool) -> Path:
    """Write all tables of a release, or one, into a file in the format that its ending names."""
    ending = out.suffix.lower()
    if ending not in FORMATS:
        message = f"There is no export to {str(out)[:200]!r}."
        remedy = f"Name a file that ends in {', '.join(FORMATS)}."
        raise InvalidInput(message, remedy=remedy, where="out", code="reading.export")
    if table is not None:
        release.columns(table)  # refuses another name
    if os.path.lexists(out) and not force:
        message, remedy = f"{str(out)[:200]!r} exists.", "Pass force=True to replace it, or name another file."
        raise InvalidInput(message, remedy=remedy, where="out", code="output-exists")
    write = import_module(f"{__name__}.{FORMATS[ending]}").write
    with out.open("wb") as file:
        write(release, [*release.files] if table is None else [table], file)
    return out


def one_table(tables: Sequence[str]) -> str:
    """Return the only table; refuse several in a format that has one."""
    if len(tables) > 1:
        message, remedy = "This format has one table.", f"Name one of {', '.join(tables)} as table."
        raise InvalidInput(message, remedy=remedy, where="table", code="reading.one-table")
    return tables[0]
