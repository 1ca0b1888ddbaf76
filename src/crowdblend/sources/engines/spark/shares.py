"""Which task reads which rows, of files that tasks read themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path

from crowdblend.sources.engines.duckdb.relation import PLACE, list_files
from crowdblend.trusted.machine.packages import parquet

# A task reads about this many bytes of files, and there are at least this many tasks where there are as many files.
_TASK_BYTES = 1 << 26
_TASKS = 64


@dataclass(frozen=True)
class Share:
    """Files that one task reads, or the rows of one Parquet file from `start` to before `end`.

    `first` is the number of the file's first row among the rows of all files, where these were counted.
    """

    files: tuple[Path, ...]
    start: int = 0
    end: int | None = None
    first: int = 0

    def to_json(self) -> str:
        """Return the share as a task is handed it."""
        return json.dumps([[str(file) for file in self.files], self.start, self.end, self.first])

    @classmethod
    def of_json(cls, text: str) -> Share:
        """Return the share that a task was handed."""
        files, *rows = json.loads(text)
        return cls(tuple(map(Path, files)), *rows)

    @property
    def parquet_sql(self) -> str:
        """The rows in SQL, of files that the driver has looked at already."""
        files = f"read_parquet({list_files(self.files)}, hive_partitioning = false)"
        # The database skips the row groups of others.
        return files if self.end is None else f"(FROM {files} WHERE {PLACE[1]} BETWEEN {self.start} AND {self.end - 1})"


def shares_of(files: Sequence[Path], *, cut: bool, alone: bool) -> tuple[Share, ...]:
    """Return the shares of all tasks, with about as many bytes each.

    Large files are `cut` where row groups end. No share has several files if they are to be read `alone`.
    """
    large, small = list[Path](), list[Path]()
    for file in files:
        (large if cut and file.stat().st_size > _TASK_BYTES else small).append(file)
    parts = [Share((file,), *rows) for file in large for rows in _cut(file)]
    return (*parts, *(Share(some) for some in ([(file,) for file in small] if alone else evenly(small))))


def _cut(file: Path) -> Iterator[tuple[int, int]]:
    """Yield the first row of each part of a Parquet file, and the one after its last."""
    footer = parquet.read_metadata(file)
    start = end = size = 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        end += group.num_rows
        size += sum(group.column(at).total_compressed_size for at in range(group.num_columns))
        if size >= _TASK_BYTES or end == footer.num_rows:
            yield start, end
            start, size = end, 0


def evenly(files: Sequence[Path]) -> tuple[tuple[Path, ...], ...]:
    """Return the files in lists with about as many bytes each, one for every task; the largest files first."""
    bytes_of = {file: file.stat().st_size for file in files}
    tasks = max(sum(bytes_of.values()) // _TASK_BYTES, _TASKS)
    lists: list[list[Path]] = [[] for _ in range(min(tasks, len(files)))]
    least = [(0, place) for place in range(len(lists))]
    for file in sorted(files, key=lambda one: (-bytes_of[one], one)):
        size, place = heappop(least)
        lists[place].append(file)
        heappush(least, (size + bytes_of[file], place))
    return tuple(tuple(some) for some in lists)
