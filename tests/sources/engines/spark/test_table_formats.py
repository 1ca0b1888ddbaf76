"""Tables with a log are refused at addresses too, and hidden files there are no data."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.spark.engine import SparkEngine
from tests.refusals import refuses
from tests.sources.engines.test_table_formats import LIVE, TABLES, refused, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def address(spark: SparkSession, tmp_path: Path) -> str:
    """The address of a folder, in a file system that is not the one of this machine."""
    town = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{town}.link./data", tmp_path.as_uri())
    return f"viewfs://{town}/data"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_at_an_address_is_refused(name: str, address: str, tmp_path: Path, engine: SparkEngine) -> None:
    folder = TABLES[name][0](tmp_path / "table")
    below = folder.relative_to(tmp_path).as_posix()
    first = next(folder.rglob("*.parquet")).relative_to(tmp_path).as_posix()
    for source in (f"{address}/{below}", f"{address}/{first}", f"{address}/{below}/*"):
        data = DataSource(source, "parquet", person="id")
        refused(partial(engine.check, data, ["sex"], Resources()), name)


def test_hidden_files_at_an_address_are_no_data(address: str, tmp_path: Path, engine: SparkEngine) -> None:
    for name in ("live.parquet", "_copy.parquet", ".copy.parquet", "_temporary/copy.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        parquet.write_table(rows(0), tmp_path / name)
    with engine.open(DataSource(address, "parquet", person="id"), ["sex"], Resources()) as source:
        assert source.relation.frame.count() == LIVE
    with refuses("data.hidden-files"):
        engine.check(DataSource(f"{address}/*", "parquet", person="id"), ["sex"], Resources())
