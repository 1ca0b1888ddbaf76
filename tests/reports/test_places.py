"""What the report says of points is computed from places and counts, and is that of the points one by one."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from scipy.spatial import cKDTree

from crowdblend.reports import places
from tests.cases import for_each

RANDOM = np.random.default_rng(8)
POINTS = np.sort(RANDOM.integers(-9, 10, (3000, 2)).astype(np.float64).view("f8,f8"), axis=0).view("f8").reshape(-1, 2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_places_and_their_points(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, path = pa.table({"x": POINTS[:, 0], "other": POINTS[:, 1], "y": POINTS[:, 1]}), tmp_path / f"data.{ending}"
    csv.write_csv(table, path) if ending == "csv" else parquet.write_table(table, path, row_group_size=700)
    found = places.read_places(path, ["x", "y"])
    assert found.points == len(POINTS)
    assert len(found.counts) < 19 * 19 + 5
    assert np.array_equal(np.column_stack([np.repeat(values, found.counts) for values in found.axes]), POINTS)
    for axis in (0, 1):
        assert found.quantiles(axis) == pytest.approx(np.quantile(POINTS[:, axis], places.QUANTILES))
    assert np.array_equal(found.examined_points(), POINTS)
    monkeypatch.setattr(places, "MOST_EXAMINED", 1000)
    assert np.array_equal(found.examined_points(), POINTS[::3])


def test_no_places(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": POINTS[:0, 0]}), tmp_path / "data.parquet")
    found = places.read_places(tmp_path / "data.parquet", ["x"])
    assert (found.points, found.examined_points().shape) == (0, (0, 1))


SETS = {
    "even": RANDOM.uniform(0, 1, (4000, 2)),
    "on a grid": RANDOM.integers(0, 90, (4000, 2)) / 2,
    "one place": np.ones((5, 2)),
    "a line": np.column_stack([np.zeros(4000), RANDOM.uniform(0, 1, 4000)]),
    "one axis": RANDOM.normal(0, 1, (4000, 1)),
    "three axes": RANDOM.normal(0, 1, (3000, 3)),
    "crowded": np.vstack([RANDOM.normal(0, 1e-6, (3000, 2)), RANDOM.normal(0, 1, (1000, 2))]),
    "one far away": np.vstack([RANDOM.uniform(0, 1, (3000, 2)), [[1e9, 1e9]]]),
    "a few": np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]]),
}


@for_each("name", SETS)
def test_nearest_neighbours_are_those_of_a_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_FEW", 100_000)
    expected = cKDTree(SETS[name]).query(SETS[name], k=2)[0][:, 1]
    assert np.sort(places.neighbour_distances(SETS[name])) == pytest.approx(np.sort(expected), rel=1e-12, abs=1e-300)
