"""What the report says of points is computed from places and counts, and is that of the points one by one."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from crowdblend.kinds.shared.places import QUANTILES
from crowdblend.reading.data_file import DataFile
from crowdblend.reading.reports import places

RANDOM = np.random.default_rng(8)
POINTS = np.sort(RANDOM.integers(-9, 10, (3000, 2)).astype(np.float64).view("f8,f8"), axis=0).view("f8").reshape(-1, 2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_places_and_their_points(ending: str, tmp_path: Path) -> None:
    table, path = pa.table({"x": POINTS[:, 0], "other": POINTS[:, 1], "y": POINTS[:, 1]}), tmp_path / f"data.{ending}"
    csv.write_csv(table, path) if ending == "csv" else parquet.write_table(table, path, row_group_size=700)
    found = places.read_places(DataFile(path), ["x", "y"])
    assert found.points == len(POINTS)
    assert len(found.counts) == len(np.unique(POINTS, axis=0))
    assert np.array_equal(np.column_stack([np.repeat(values, found.counts) for values in found.axes]), POINTS)
    for axis in (0, 1):
        assert found.quantiles(axis) == pytest.approx(np.quantile(POINTS[:, axis], QUANTILES))


def test_no_places(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": POINTS[:0, 0]}), tmp_path / "data.parquet")
    found = places.read_places(DataFile(tmp_path / "data.parquet"), ["x"])
    assert found.points == 0
