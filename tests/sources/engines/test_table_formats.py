"""Delta, Iceberg and Hudi tables are refused as folders, since their files hold rows that the table has no more."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.policies.files import folder_files
from crowdblend.policies.header import read_header
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import default_engine, engine_named
from tests import needs

LIVE = 20_000
TEXT = """
[data]
source = "{source}"
format = "parquet"
person = "id"
[sampling]
design = "poisson"
rate = 0.5
[columns]
sex = {{ values = ["f", "m"] }}
[privacy]
epsilon = 1.0
delta = 1e-6
[[publish]]
kind = "table"
"""


def rows(first: int, number: int = LIVE) -> pa.Table:
    return pa.table({"id": range(first, first + number), "sex": ["f", "m"] * (number // 2)})


def delta(folder: Path) -> Path:
    """A table whose log names one of two files: 20,000 people are in it, and 20,000 were deleted."""
    (folder / "_delta_log").mkdir(parents=True)
    for number in (0, 1):
        parquet.write_table(rows(number * LIVE), folder / f"part-{number}.parquet")
    steps = [{"add": {"path": "part-0.parquet"}}, {"add": {"path": "part-1.parquet"}}]
    for number, step in enumerate([*steps, {"remove": {"path": "part-0.parquet"}}]):
        (folder / "_delta_log" / f"{number:020}.json").write_text(json.dumps(step))
    return folder


def iceberg(folder: Path) -> Path:
    """A table with a file that no snapshot names any more."""
    (folder / "metadata").mkdir(parents=True)
    (folder / "data" / "sex=f").mkdir(parents=True)
    (folder / "metadata" / "v1.metadata.json").write_text("{}")
    for number in (0, 1):
        parquet.write_table(rows(number * LIVE), folder / "data" / "sex=f" / f"{number}.parquet")
    return folder / "data"


def hudi(folder: Path) -> Path:
    """A table of two commits."""
    (folder / ".hoodie").mkdir(parents=True)
    parquet.write_table(rows(0), folder / "old.parquet")
    return folder


TABLES = {"Delta": (delta, "deltalake"), "Iceberg": (iceberg, "pyiceberg"), "Hudi": (hudi, "catalog://")}


def refused(call: Callable[[], object], name: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        call()
    assert problem.value.code == "data.table-format"
    assert name in problem.value.message
    assert TABLES[name][1] in problem.value.remedy
    assert "catalog://" in problem.value.remedy
    assert "20" not in str(problem.value)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_with_deleted_rows_is_no_folder_of_files(
    name: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if engine == "spark":
        needs.spark()
    folder = TABLES[name][0](tmp_path / "table")
    first = next(folder.rglob("*.parquet"))
    (tmp_path / "link").symlink_to(folder)
    for source in (folder, folder / "**" / "*.parquet", first.parent, first, tmp_path / "link", tmp_path):
        planned = plan(parse_policy(TEXT.format(source=source), tmp_path))
        with engine_named(engine) as reads:
            refused(partial(planned.check_source, reads), name)


def test_the_first_look_refuses_them_too(tmp_path: Path) -> None:
    folder = delta(tmp_path / "table")
    refused(lambda: read_header(folder), "Delta")
    policy = cb.Policy(
        person="id",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": cb.values("f", "m")},
        publish=cb.Table("sex"),
    )
    refused(lambda: cb.release(folder, policy, ledger=None), "Delta")
    done = cb.release(parquet.read_table(folder / "part-1.parquet", partitioning=None), policy, ledger=None)
    assert done.data.num_rows == 2


def test_hidden_files_are_no_data(tmp_path: Path) -> None:
    for name in ("live.parquet", "_temporary/0/copy.parquet", "_copy.parquet", ".copy.parquet", ".snapshot/a.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(rows(0), tmp_path / name)
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "notes.json").write_text("{}")
    assert {file.name for file in folder_files(tmp_path)} == {"live.parquet", "notes.json"}
    planned = plan(parse_policy(TEXT.format(source=tmp_path), tmp_path))
    planned.check_source(default_engine())
