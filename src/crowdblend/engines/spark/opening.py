"""How a task comes to its rows: Spark hands them over as Arrow batches, or the task reads files itself.

Both are one relation of a private database, as the DuckDB engine has it: there is one SQL dialect, and one set of
rounding rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.draw import Draw, Everybody
from crowdblend.engines.duckdb.csv_files import open_csv
from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.relation import VIEW, Field, Relation
from crowdblend.engines.spark.rows import TaskRows
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNREADABLE = "The source cannot be read from beginning to end."
REMEDY = "Check that every line has the fields of the header, and quotes and delimiter."


@dataclass(frozen=True)
class OneThread:
    """What a task may use of its machine: Spark runs as many tasks as there are cores."""

    memory: str | None = None
    threads: int | None = 1


@dataclass(frozen=True)
class Opening:
    """The columns that tasks read, and where they come from.

    Without `files` Spark hands over the columns, called as `fields` say. With `files` a task is handed numbers, and
    reads the lists of CSV files with these numbers.
    """

    data: DataSource
    fields: tuple[Field, ...]
    files: tuple[tuple[Path, ...], ...] = ()
    placed: bool = False
    """Whether every row comes with its file and its place in it."""
    most: int | None = None
    """How many rows are looked at, where only the first are."""

    @contextmanager
    def relation(self, batches: Iterator[Any]) -> Iterator[tuple[DuckDBPyConnection, Relation, list[Path]] | None]:
        """A database with the rows of this task as a relation; None where it has none."""
        import pyarrow as pa  # noqa: PLC0415 - heavy

        first = next(batches, None)
        if first is None:
            yield None
            return
        with private_folder() as folder, database(OneThread(), folder) as connection, redacted(UNREADABLE, REMEDY):
            if self.files:
                some = chain([first], batches)
                numbers = [number for batch in some for number in batch.column(0).to_pylist()]
                files = [file for number in numbers for file in self.files[number]]
                wanted = [field.name for field in self.fields]
                yield connection, open_csv(self.data, files, wanted, folder).ready(), files
                return
            reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
            connection.register(VIEW, reader)
            yield connection, Relation(VIEW, self.fields), []

    @contextmanager
    def rows(self, batches: Iterator[Any], draw: Draw | None = None) -> Iterator[TaskRows | None]:
        """The rows of this task for a draw; None where it has none."""
        with self.relation(batches) as opened:
            if opened is None:
                yield None
                return
            connection, relation, files = opened
            with closing(connection.cursor()) as cursor:
                rows = TaskRows(self.data, connection, cursor, relation, draw or Everybody(), None, None)
                rows.file = str(files[0]) if len(files) == 1 else None
                rows.begin()
                yield rows
                relation.check_rows(rows.read)


def evenly(files: Sequence[Path], tasks: int) -> tuple[tuple[Path, ...], ...]:
    """The files in at most so many lists with about as many bytes each, the largest files first."""
    lists: list[list[Path]] = [[] for _ in range(max(1, min(tasks, len(files))))]
    sizes = [0] * len(lists)
    for file in sorted(files, key=lambda one: (-one.stat().st_size, one)):
        least = sizes.index(min(sizes))
        lists[least].append(file)
        sizes[least] += file.stat().st_size
    return tuple(tuple(some) for some in lists)
