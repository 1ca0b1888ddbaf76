"""The files of a source, which stay as they are while they are read and recognized.

A file that is written meanwhile would be published as it was, and recognized as it is: the ledger would take the next
release of the same people for one of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.identity import files_of
from crowdblend.sources.engines.refusals import refusal


@contextmanager
def unchanged_files(data: DataSource) -> Iterator[None]:
    """Refuse, when the context is left, files that were changed, added or removed in it; on a network nobody looks."""
    before = _states(data)
    yield
    if _states(data) != before:
        remedy = "Wait until the files are written, or copy them, and release again."
        raise refusal("changed", "The files of the data changed while they were read.", remedy, "`data.source`")


def _states(data: DataSource) -> list[tuple[str, int, int, int]] | None:
    """Return what changes when a file is written or replaced, of every file; None where one is missing."""
    try:
        states = [(file, file.stat()) for file in files_of(data) if "://" not in data.source]
    except OSError:
        return None
    return [(str(file), state.st_ino, state.st_size, state.st_mtime_ns) for file, state in states]
