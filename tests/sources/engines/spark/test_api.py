"""Spark from Python and from the command line: DataFrames, catalog tables, the page of the docs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.ledger import Ledger
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.session import collect, quiet
from tests import needs
from tests.api.survey import KEY, survey, table
from tests.commands import crowdblend

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[4] / "docs" / "sources.md"


def test_a_frame_of_spark_is_published_with_the_bytes_of_its_rows(spark: SparkSession) -> None:
    expected = cb.release(survey(), table(), ledger=None, key=KEY)
    done = cb.release(spark.createDataFrame(survey()).repartition(3), table(), ledger=None, key=KEY)
    assert done.data == expected.data
    with pytest.raises(CrowdblendError) as refused:
        cb.release(survey(), table(), ledger=None, engine="spark")
    assert refused.value.code == "data.type"


@pytest.mark.slow  # a Spark of its own; frames go the same way
def test_a_table_of_the_catalog_from_the_command_line(tmp_path: Path, spark: SparkSession) -> None:
    spark.createDataFrame(survey()).write.mode("overwrite").saveAsTable("residents")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "catalog://residents"\nperson = "person_id"\npopulation = "residents"\n'
        '[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        '[columns]\nsex = { values = ["Female", "Male"] }\nage = { from = 0, to = 40, width = 20 }\n'
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\n'
    )
    given = ["release", str(tmp_path / "policy.toml"), "--engine", "spark"]
    shown = crowdblend(*given, "--dry-run")
    assert "trusted as the data holder is" in shown.stdout
    Ledger.create(tmp_path / "ledger.sqlite")
    ledger = ["--ledger", str(tmp_path / "ledger.sqlite")]
    done = crowdblend(*given, "--out", tmp_path / "out", *ledger, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entry"] == 1
    assert cb.verify(tmp_path / "out")
    with pytest.raises(CrowdblendError) as refused:
        cb.release(None, tmp_path / "policy.toml", ledger=None)
    assert refused.value.code == "data.catalog"


@pytest.mark.parametrize("form", ["text", "csv", "parquet", "binaryFile"])
def test_no_file_is_a_table_of_the_catalog(tmp_path: Path, spark: SparkSession, engine: SparkEngine, form: str) -> None:
    parquet.write_table(survey(), tmp_path / "other")
    spark.range(5).createOrReplaceTempView("some")
    with engine.open(DataSource("catalog://some", "catalog", person="id"), (), Resources()) as opened:
        assert list(opened.types) == ["id"]
    source = DataSource(f"catalog://{form}.`{tmp_path / 'other'}`", "catalog", rows_are_people=True)
    with pytest.raises(CrowdblendError) as refused, engine.open(source, (), Resources()):
        pass
    assert refused.value.code == "data.table"


def test_the_installed_command_releases_with_spark(tmp_path: Path) -> None:
    """In a process of its own, which hides from pyarrow what Spark needs."""
    needs.spark()
    parquet.write_table(survey(), tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "people.parquet"\nperson = "person_id"\n[sampling]\ndesign = "poisson"\nrate = 0.5\n'
        '[columns]\nsex = { values = ["Female", "Male"] }\n'
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\n'
    )
    quick = "--master local[1] --conf spark.ui.enabled=false --driver-java-options -XX:TieredStopAtLevel=1"
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{quick} pyspark-shell", "XDG_DATA_HOME": str(tmp_path)}
    command = [
        sys.executable,
        "-m",
        "crowdblend",
        "release",
        "policy.toml",
        "--out",
        "out",
        "--yes",
        "--engine",
        "spark",
    ]
    cb.Ledger.create(tmp_path / "crowdblend" / "ledger.sqlite")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert cb.verify(tmp_path / "out")


@pytest.mark.slow  # the frame of another test goes the same way
def test_the_example_of_the_page_runs(spark: SparkSession) -> None:
    (code,) = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"spark": spark}
    exec(code, names)
    assert isinstance(names["published"].data, pa.Table)
    assert names["published"].data.num_rows == 6


def test_workers_import_nothing_from_the_folder_that_spark_was_started_in(spark: SparkSession) -> None:
    def safe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"safe": [sys.flags.safe_path]})

    with quiet():
        frame = spark.range(1, numPartitions=1).mapInArrow(safe, "safe boolean")
    assert collect(frame).to_pydict() == {"safe": [True]}
