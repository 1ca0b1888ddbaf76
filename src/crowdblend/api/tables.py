"""The published files as Arrow tables, as readers of the folder get them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdblend.calculus.certificate import Certificate
from crowdblend.reading.release import PublishedRelease


def read_tables(certificate: Certificate, folder: Path) -> Any:
    """The only table, or a dictionary of them by name, the main one first; labels are categories of their domain."""
    published = PublishedRelease(folder, certificate)
    tables = {name: published.table(name) for name in published.files}
    return next(iter(tables.values())) if len(tables) == 1 else tables
