"""Tables that are more than their Parquet files: Delta, Iceberg and Hudi, known by the folders of their logs.

A log says which files count and which of their rows were deleted. A reader of the files alone publishes people
who are in the table no more, or twice. So such files are refused, also where the log lies in a folder further up.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from crowdblend.errors import InvalidInput

# What lies in the folder of a table, and how its rows are read.
_CATALOG = 'Name the table as `data.source = "catalog://…"` and use `--engine spark`'
_KINDS = {
    "Delta": ("_delta_log", f"{_CATALOG}, or pass deltalake.DeltaTable(path).to_pyarrow_table() from Python."),
    "Hudi": (".hoodie", f"{_CATALOG}."),
    "Iceberg": (
        "metadata/*.metadata.json",
        f"{_CATALOG}, or pass what scan().to_arrow() of a pyiceberg table returns from Python.",
    ),
}


def refuse_tables(files: Iterable[Path]) -> None:
    """Refuse files that belong to a table with a log."""
    below = {folder for file in files for folder in (file.absolute().parent, file.resolve().parent)}
    for folder in {place for one in below for place in (one, *one.parents)}:
        refuse_table(str(folder), _exists_here)


def refuse_table(folder: str, exists: Callable[[str], bool]) -> None:
    """Refuse a folder or an address that is a table with a log; `exists` says whether a pattern has a match."""
    for kind, (log, remedy) in _KINDS.items():
        if exists(f"{folder.rstrip('/')}/{log}"):
            name = Path(folder).name
            message = f"{name!r} is a table of {kind}, of which some files hold rows that were deleted."
            raise InvalidInput(message, remedy=remedy, where="`data.source`", code="data.table-format")


def _exists_here(pattern: str) -> bool:
    folder, name = os.path.split(pattern)
    return any(glob.iglob(os.path.join(glob.escape(folder), name), include_hidden=True))
