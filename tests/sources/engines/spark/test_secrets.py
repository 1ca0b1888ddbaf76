"""The key reaches the executors inside the function, and is in no plan, setting, log or file."""

from __future__ import annotations

import base64
import contextlib
import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import Unavailable
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.methods.designs.draw import Coin, Exactly
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.duckdb.engine import DuckDBEngine
from crowdblend.sources.engines.sampling import random_places
from crowdblend.sources.engines.spark import relation
from crowdblend.sources.engines.spark.class_counts import with_row_key
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.relation import function_for, then
from crowdblend.sources.engines.spark.tasks import CountClasses, Merge
from crowdblend.trusted.machine.version import __version__
from crowdblend.trusted.randomness import DrawKey
from tests.refusals import refuses
from tests.sources.engines.spark.test_layouts import about_frame, people

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET = bytes(range(7, 39))
ABOUT = """
[data]
source = "{source}"
format = "parquet"
rows_are_people = true
[sampling]
design = "everybody"
[columns]
sex = {{ values = ["f", "m"] }}
[privacy]
epsilon = 1.0
[[publish]]
kind = "table"
"""


def spellings(secret: bytes) -> list[bytes]:
    """The secret as it is, and as logs would write it; a part of it is enough."""
    part = secret[3:27]
    numbers = ", ".join(str(byte if byte < 128 else byte - 256) for byte in part)
    return [part, part.hex().encode(), base64.b64encode(part), repr(part)[2:-1].encode(), numbers.encode()]


def test_the_key_is_in_no_plan_setting_or_log(event_log: Path, spark: SparkSession, engine: SparkEngine) -> None:
    about = about_frame(spark.createDataFrame(people()))
    draw = Coin(DrawKey(SECRET), 0.5)
    with engine.open(about.data, [column.name for column in about.columns], Resources()) as source:
        source.class_counts(about.columns, draw)
        names = [column.name for column in about.columns]
        task = CountClasses(source.relation.opening(names), with_row_key(draw), about.columns)
        frame = then(source.relation.map_tasks(task, task.opening), Merge(100))
    plan = io.StringIO()
    with contextlib.redirect_stdout(plan):
        frame.explain("extended")
    settings = str(spark.sparkContext.getConf().getAll())
    logs = b"".join(file.read_bytes() for file in event_log.rglob("*") if file.is_file())
    assert b"MapInArrow" in logs
    said = logs + plan.getvalue().encode() + settings.encode() + repr(task).encode()
    assert not any(spelling in said for spelling in spellings(SECRET))
    assert b"secret" not in repr(task).encode()


def files_below(*folders: Path) -> dict[Path, bytes]:
    """What Spark has written, by file."""
    return {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}


def test_neither_key_nor_draw_is_in_a_file_however_large_the_source(
    event_log: Path, local_folder: Path, spark: SparkSession, engine: SparkEngine, tmp_path: Path
) -> None:
    """File names of more than a megabyte, and more than a megabyte of places of rows that are drawn without ids."""
    far = tmp_path
    while len(str(far)) < 3_000:
        far /= "x" * 200
    far.mkdir(parents=True)
    rows, files = 200_000, 400
    table = pa.table({"sex": ["f", "m"] * (rows // 2)})
    for number in range(files):
        parquet.write_table(table.slice(number * rows // files, rows // files), far / f"{number:03}.parquet")
    data = DataSource(str(far), "parquet", rows_are_people=True)
    draw = Exactly(DrawKey(SECRET), 150_000, rows)
    column = parse_policy(ABOUT.format(source=far), tmp_path).columns[0]
    with engine.open(data, ["sex"], Resources()) as source:
        found = source.class_counts([column], draw)
        name = source.identity(FingerprintRequest(SECRET, (), ())).source
    assert found.people == draw.samples
    with DuckDBEngine().open(data, ["sex"], Resources()) as alone:
        assert alone.class_counts([column], draw).classes.counts.tolist() == found.classes.counts.tolist()
        assert alone.identity(FingerprintRequest(SECRET, (), ())).source == name
    drawn = random_places(draw.samples, draw.people, DrawKey(SECRET))
    written = files_below(local_folder, event_log)
    assert any(b"MapInArrow" in content for content in written.values())
    assert sum(map(len, written.values())) > 1000
    for content in written.values():
        assert not any(spelling in content for spelling in spellings(SECRET))
        assert drawn[70_000:70_004].tobytes() not in content


def test_a_function_that_would_be_written_to_disk_is_refused(spark: SparkSession) -> None:
    """What is left in a function is the policy: where its labels alone take a megabyte, the session must allow it."""
    with refuses("data.broadcast", "spark.broadcast.UDFCompressionThreshold"):
        function_for(spark, partial(print, b"x" * (1 << 20)))


def test_another_version_on_the_executors_draws_nobody(
    spark: SparkSession, engine: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = about_frame(spark.createDataFrame(people()))
    for name, value in (("fingerprint", lambda: "0" * 32), ("__version__", "0.0.9")):
        with monkeypatch.context() as patched, engine.open(about.data, ["sex"], Resources()) as source:
            patched.setattr(relation, name, value)
            with pytest.raises(Unavailable, match=f"and the driver crowdblend {__version__}: they would") as refused:
                source.class_counts(about.columns[:1], Coin(DrawKey(SECRET), 0.5))
        assert refused.value.code == "engine.spark-version"
