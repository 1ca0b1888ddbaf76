"""How a task comes to its rows: Spark hands them over as Arrow batches, or the task reads files itself.

Both are one relation of a private database, as the DuckDB engine has it: there is one SQL dialect, and one set of
rounding rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.engines.draw import Draw, Everybody
from crowdblend.engines.duckdb.csv_files import open_csv
from crowdblend.engines.duckdb.database import database, private_folder, redacted
from crowdblend.engines.duckdb.relation import VIEW, Field, Relation, listed
from crowdblend.engines.spark.rows import TaskRows
from crowdblend.lazy import lazy
from crowdblend.policies.policy import Resources
from crowdblend.policies.source import DataSource

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
else:
    pa = lazy("pyarrow")

# A task takes about so many bytes of files, and there are so many tasks at least where there are as many files.
_TASK_BYTES = 1 << 26
_TASKS = 64
UNREADABLE = "The source cannot be read from beginning to end."
REMEDY = "Check that every line has the fields of the header, and quotes and delimiter."


# What a task may use of its machine: Spark runs as many tasks as there are cores.
ONE_THREAD = Resources(threads=1)


@dataclass(frozen=True)
class Opening:
    """The columns that tasks read, and where they come from.

    Without `files` Spark hands over the columns, called as `fields` say. With `files` a task is handed numbers, and
    reads the lists of files with these numbers.
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
        first = next(batches, None)
        if first is None:
            yield None
            return
        with private_folder() as folder, database(ONE_THREAD, folder) as connection, redacted(UNREADABLE, REMEDY):
            if self.files:
                some = chain([first], batches)
                numbers = [number for batch in some for number in batch.column(0).to_pylist()]
                files = [file for number in numbers for file in self.files[number]]
                yield connection, self._of_files(files, folder), files
                return
            reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
            connection.register(VIEW, reader)
            yield connection, Relation(VIEW, self.fields), []

    def _of_files(self, files: Sequence[Path], folder: Path) -> Relation:
        """The files as a relation; the driver has looked at the footers of Parquet files already."""
        if self.data.format == "parquet":
            return Relation(f"read_parquet({listed(files)}, hive_partitioning = false)", self.fields)
        return open_csv(self.data, files, [field.name for field in self.fields], folder).ready()

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


def evenly(files: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
    """The files in lists with about as many bytes each, one for every task; the largest files first."""
    bytes_of = {file: file.stat().st_size for file in files}
    tasks = max(sum(bytes_of.values()) // _TASK_BYTES, _TASKS)
    lists: list[list[Path]] = [[] for _ in range(min(tasks, len(files)))]
    least = [(0, place) for place in range(len(lists))]
    for file in sorted(files, key=lambda one: (-bytes_of[one], one)):
        size, place = heappop(least)
        lists[place].append(file)
        heappush(least, (size + bytes_of[file], place))
    return tuple(tuple(some) for some in lists)
