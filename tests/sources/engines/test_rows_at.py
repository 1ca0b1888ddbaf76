"""Rows at known places of files, looked up by the engine where it knows them, else taken as they stream by."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.engine import DuckDBEngine
from tests.cases import for_each

PLACES = np.array([0, 3, 4, 5, 8, 11])


def written(folder: Path, sizes: list[int], names: tuple[str, ...] = ("row",)) -> Path:
    """Files of so many rows, numbered through; further columns count backwards."""
    start, rows = 0, sum(sizes)
    for number, size in enumerate(sizes):
        here = np.arange(start, start + size)
        columns = {name: here if name == names[0] else rows - here for name in names}
        parquet.write_table(pa.table(columns), folder / f"{number:02d}.parquet", row_group_size=2)
        start += size
    return folder


def at(data: DataSource, places: np.ndarray) -> tuple[list[int], int, bool]:
    """The rows, how many were read, and whether the engine looked for places."""
    with DuckDBEngine().open(data, ["row"], Resources()) as source, source.rows(Everybody()) as rows:
        found = [int(row) for table in rows.at(places, '"row"' if data.format == "parquet" else "c0")
                 for row in table.column(0).to_pylist()]  # fmt: skip
        return sorted(found), rows.read, rows.relation.placed


def assert_stream_by(data: DataSource) -> None:
    """The same rows, though the database does not know their places."""
    assert at(data, PLACES) == (PLACES.tolist(), 12, False)


@for_each("sizes", [[12], [5, 7], [4, 1, 0, 7], [1] * 12])
def test_rows_are_counted_through_the_files(tmp_path: Path, sizes: list[int]) -> None:
    data = DataSource(str(written(tmp_path, sizes)), "parquet", rows_are_people=True)
    assert at(data, PLACES) == (PLACES.tolist(), 12, True)
    assert at(data, np.arange(12)) == (list(range(12)), 12, True)
    assert at(data, np.empty(0, np.int64)) == ([], 12, True)


def test_places_beyond_the_end_have_no_rows(tmp_path: Path) -> None:
    data = DataSource(str(written(tmp_path, [5, 2])), "parquet", rows_are_people=True)
    assert at(data, PLACES) == ([0, 3, 4, 5], 7, True)


@for_each("name", ["file_row_number", "FILE_ROW_NUMBER", "file_index"])
def test_columns_that_are_called_like_places_are_not_taken_for_them(tmp_path: Path, name: str) -> None:
    data = DataSource(str(written(tmp_path, [12], ("row", name))), "parquet", rows_are_people=True)
    assert_stream_by(data)


def test_folders_that_are_called_like_places_are_not_taken_for_them(tmp_path: Path) -> None:
    (tmp_path / "file_index=7").mkdir()
    data = DataSource(str(written(tmp_path / "file_index=7", [5, 7]).parent), "parquet", rows_are_people=True)
    assert at(data, PLACES) == (PLACES.tolist(), 12, True)


def test_rows_of_other_formats_stream_by(tmp_path: Path) -> None:
    csv.write_csv(pa.table({"row": np.arange(12)}), tmp_path / "rows.csv")
    assert_stream_by(DataSource(str(tmp_path / "rows.csv"), "csv", rows_are_people=True))
