"""Microdata are counted as a plain computation counts them."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.lab.demo import town
from crowdblend.reading import allowance, cells
from crowdblend.reading.cells import N, open_cells
from crowdblend.reading.data_file import DataFile

LABEL = st.sampled_from(["a", "b", "", "É\nc"])
RUN = st.tuples(LABEL, LABEL, st.integers(1, 4))


@settings(max_examples=40)
@given(runs=st.lists(RUN, min_size=1, max_size=12), ending=st.sampled_from(["csv", "parquet"]), piece=st.integers(1, 9))
def test_rows_are_counted_in_whatever_runs_they_come(tmp_path_factory, runs, ending, piece) -> None:
    rows = [(x, y) for x, y, times in runs for _ in range(times)]
    path = tmp_path_factory.mktemp("rows") / f"data.{ending}"
    table = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows]})
    if ending == "csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path, row_group_size=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "PIECE", piece)
        found = pa.concat_tables(open_cells(DataFile(path), counted=False).pieces())
    by_class = zip(*(found.column(name).to_pylist() for name in ("0", "1")), strict=True)
    counted = list(zip(by_class, found.column(N).to_pylist(), strict=True))
    assert sorted(counted) == sorted(Counter(rows).items())


def test_groups_of_rows_as_large_as_a_release_writes_them_are_read(tmp_path, monkeypatch) -> None:
    parquet.write_table(pa.table({"x": range(10)}), tmp_path / "data.parquet", row_group_size=5)
    monkeypatch.setattr(allowance, "MOST_IN_A_GROUP", 5)
    allowance.Allowance({}, 10).check(DataFile(tmp_path / "data.parquet"))
    for group, rows in ((4, 10), (5, 9)):
        monkeypatch.setattr(allowance, "MOST_IN_A_GROUP", group)
        with pytest.raises(DoesNotVerify):
            allowance.Allowance({}, rows).check(DataFile(tmp_path / "data.parquet"))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_points_without_labels_are_one_class(tmp_path, ending):
    columns = {one: cb.axis(-10, 10, resolution=0.05, width=4) for one in ("east", "north")}
    policy = cb.Policy(
        person="person_id",
        sampling=cb.Poisson(0.2),
        epsilon=1.0,
        delta=1e-6,
        columns=columns,
        publish=cb.Points("east", "north", noise_epsilon=1.0, keep_in="block"),
        format=ending,
    )
    done = cb.release(town(4_000), policy, out=tmp_path / "points", ledger=None, figures=False)
    (row,) = cb.read(done.folder).estimates().to_pylist()
    assert row["sampled"] == len(done.data) > 100
    assert row["low"] <= 4_000 <= row["high"]
