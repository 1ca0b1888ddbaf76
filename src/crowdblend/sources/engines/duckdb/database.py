"""The database that reads the data: private, offline, bounded, and silent about what it read.

The engine's own messages may quote a row, so none of them reaches anyone once rows are read: `redact` looks at
what kind of failure it was and says it in our words.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, reason_of
from crowdblend.methods.recoding.reading import quote
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.refusals import out_of_memory, refusal
from crowdblend.sources.engines.temporary_files import private_folder, temporary_room
from crowdblend.trusted.machine.packages import duckdb

_SOURCE = "`data.source`"


def not_utf8() -> InvalidInput:
    """Return the refusal of text in another encoding, where none was declared."""
    message = 'Add `data.encoding = "cp1252" | "latin-1"` or another, or convert the file to UTF-8.'
    return refusal("encoding", "The data are not UTF-8 text.", message, _SOURCE)


# What the engine says of a failure, in lower case, and what we say instead; the first that fits.
_FAILURES: tuple[tuple[tuple[str, ...], Callable[[], CrowdblendError]], ...] = (
    (("out of memory", "memory_limit", "memory limit", "failed to allocate"), out_of_memory),
    (
        ("no space left", "max_temp_directory_size", "disk full"),
        lambda: NoRoom(
            "The temporary folder is full.",
            remedy="Free some space, or point TMPDIR elsewhere.",
            where="TMPDIR",
            code="data.disk-full",
        ),
    ),
    (("utf-8", "utf8", "unicode", "invalid string encoding"), not_utf8),
)


@contextmanager
def database(resources: Resources, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory that spills into `folder`, asks the network for nothing and knows no time zone."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(folder),
        "max_temp_directory_size": f"{temporary_room().most_bytes // 1000}KB",
        "preserve_insertion_order": False,
        # No extension is fetched or loaded because a file names it, and no stored password is handed to one.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
    }
    threads = resources.threads_of(os.cpu_count() or 1)
    if threads is not None:
        settings["threads"] = threads
    if resources.database_memory is not None:
        settings["memory_limit"] = f"{resources.database_memory // 1000}KB"
    with redact("The database engine does not start.", code="database", starting=True):
        connection = duckdb.connect(":memory:", config=settings)
    try:
        with redact("The database engine does not start.", code="database", starting=True):
            # In a notebook without ipywidgets it refuses to show one, and to be told not to.
            with suppress(duckdb.InvalidInputException):
                connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET allowed_directories = [{quote(str(folder))}]")  # see `attach`
            # A long file has a long description, which is read once and not with every query.
            connection.execute("SET parquet_metadata_cache = true")
            # It believes the statistics of Parquet files, which leave NaN out: then isnan(x) and x > 10 are false.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            # without its time zone extension the engine shows instants in UTC anyway
            with suppress(duckdb.CatalogException):
                connection.execute("SET TimeZone = 'UTC'")
        yield connection
    except RuntimeError as problem:
        # DuckDB drops what the handler of a signal raised, and raises this in its place.
        if str(problem) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
    finally:
        connection.close()


@contextmanager
def small_database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of one thread: for a task, since Spark runs as many as there are cores, or for a quick question."""
    with private_folder() as folder, database(Resources(threads=1), folder) as connection:
        yield connection


def attach(connection: duckdb.DuckDBPyConnection, data: DataSource) -> None:
    """Open a DuckDB file for reading, under the name `origin`; nothing is then read but this file.

    A query comes with the policy, a view with the file, and DuckDB's SQL reads and writes any file of anyone who runs
    it. The setting cannot be taken back while the database runs.
    """
    path = Path(data.source)
    if not path.is_file():
        raise refusal("no-file", f"{path.name!r} is no file.", "Check `data.source`.", _SOURCE)
    closing = "Check that it is a DuckDB file, and close the programs that write to it."
    with redact(f"{path.name!r} cannot be opened as a DuckDB file.", closing, code="database", starting=True):
        # A name such as postgres:x.duckdb, or a file of another kind, would be opened by an extension.
        connection.execute(f"ATTACH {quote(str(path.absolute()))} AS origin (TYPE duckdb, READ_ONLY)")
        connection.execute("SET enable_external_access = false")


def table_remedy(data: DataSource) -> str:
    """Return what to do where a table or query of a DuckDB file cannot be read."""
    if data.query is not None:
        return "Check `data.query`: one SELECT from the tables of this file, and from no other file."
    return "Check `data.table`. A view is read where it reads the tables of this file, and no other file."


@contextmanager
def redact(
    message: str,
    remedy: str = "Check the file and the policy.",
    where: str = _SOURCE,
    code: str = "unreadable",
    *,
    starting: bool = False,
) -> Iterator[None]:
    """Failures of the database or the file system inside, as this refusal, without a word of theirs.

    Only while it is `starting` and has read no row, their reason goes with it.
    """
    try:
        yield
    except MemoryError:
        raise out_of_memory() from None
    except InvalidInput:
        raise
    except _failures() as error:
        text = str(error).lower()
        if text.rstrip().endswith("keyboardinterrupt:"):  # raised while the database was calling Python
            raise KeyboardInterrupt from None
        failures = (failure() for words, failure in _FAILURES if any(word in text for word in words))
        refused: CrowdblendError = next(failures, refusal(code, message, remedy, where))
        if starting:
            message = f"{refused.refusal.message.removesuffix('.')}: {reason_of(error)}."
            refused.refusal = refused.refusal._replace(message=message)
        raise refused from None


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading can raise, of libraries that are loaded.

    Headers are read without them.
    """
    kinds = (("duckdb", "Error"), ("pyarrow", "ArrowException"))
    return *(getattr(sys.modules[name], kind) for name, kind in kinds if name in sys.modules), OSError, UnicodeError
