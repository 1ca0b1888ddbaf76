"""The key reaches the executors inside the function, and is in no plan, setting or log."""

from __future__ import annotations

import base64
import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from crowdblend.designs.draw import Coin
from crowdblend.engines.spark.class_counts import with_row_key
from crowdblend.engines.spark.engine import SparkEngine
from crowdblend.engines.spark.relation import then
from crowdblend.engines.spark.tasks import CountClasses, Merge
from crowdblend.policies.source import Resources
from crowdblend.randomness import DrawKey
from tests.engines.spark.test_layouts import about_frame, people

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET = bytes(range(7, 39))


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
