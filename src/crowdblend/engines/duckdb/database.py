"""The database that reads the data: private, offline, bounded, and silent about what it read.

The engine's own messages may quote a row, so none of them ever reaches anybody: `redacted` looks at what kind of
failure it was and says it in our words.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.engines.engine import Resources
from crowdblend.engines.memory_limit import TOO_LITTLE_MEMORY
from crowdblend.errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What the engine says of a failure, in lower case, and what we say instead; the first that fits.
_SENTENCES = (
    (("out of memory", "memory_limit", "memory limit", "failed to allocate"), TOO_LITTLE_MEMORY),
    (
        ("no space left", "max_temp_directory_size", "disk full"),
        "the temporary folder must have room for the data, and is full. Free some space, or point TMPDIR elsewhere.",
    ),
    (
        ("utf-8", "utf8", "unicode", "invalid string encoding"),
        "the data must be UTF-8 text, and are not. Convert the file to UTF-8.",
    ),
)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder only the owner can look into, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def database(resources: Resources, folder: Path) -> Iterator[DuckDBPyConnection]:
    """An empty database in memory that spills into `folder`, asks the network for nothing and knows no time zone."""
    try:
        import duckdb  # noqa: PLC0415 - heavy
        import pyarrow  # noqa: F401, PLC0415
    except ImportError:
        raise InvalidInput(
            "a release needs DuckDB and pyarrow, and they are missing. Install crowdblend[release]."
        ) from None
    settings: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(folder),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "python_enable_replacements": False,
    }
    if resources.threads is not None:
        settings["threads"] = resources.threads
    if resources.memory is not None:
        settings["memory_limit"] = resources.memory.replace(" ", "")
    with redacted("the database engine must start"):
        connection = duckdb.connect(":memory:", config=settings)
    try:
        with redacted("the database engine must start"):
            connection.execute("SET enable_progress_bar = false")
            # It believes the statistics of Parquet files, which leave NaN out: then isnan(x) and x > 10 are false.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            # without its time zone extension the engine shows instants in UTC anyway
            with suppress(duckdb.CatalogException):
                connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


@contextmanager
def redacted(must: str, remedy: str = "Check the file and the policy.") -> Iterator[None]:
    """Whatever the engine or the file system complains of, in one sentence without their text."""
    import duckdb  # noqa: PLC0415 - heavy
    import pyarrow  # noqa: PLC0415

    try:
        yield
    except MemoryError:
        raise InvalidInput(TOO_LITTLE_MEMORY) from None
    except InvalidInput:
        raise
    except (duckdb.Error, pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise InvalidInput(_sentence(str(error).lower(), must, remedy)) from None


def _sentence(said: str, must: str, remedy: str) -> str:
    for words, sentence in _SENTENCES:
        if any(word in said for word in words):
            return sentence
    return f"{must}, and {'is' if ' must be ' in must else 'does'} not. {remedy}"
