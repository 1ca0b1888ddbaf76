"""One Spark session for all tests of the engine: two cores, no web page, an event log to look for secrets in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.session import session
from tests import needs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Quicker where little is computed: nothing is compiled that runs once.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.daemon.module": "preloaded_workers",
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent),
    "spark.eventLog.enabled": "true",
    # What Spark has by itself: functions above it go through the driver's disk.
    "spark.broadcast.UDFCompressionThreshold": "1m",
    "spark.eventLog.compress": "false",
}


@pytest.fixture(scope="session")
def event_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which Spark writes down what it does."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def local_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which Spark keeps what it writes to disk."""
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="session")
def spark(event_log: Path, local_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two cores; a task is tried twice."""
    needs.spark()
    folders = {
        "spark.local.dir": str(local_folder),
        "spark.eventLog.dir": event_log.as_uri(),
        "spark.sql.warehouse.dir": tmp_path_factory.mktemp("warehouse").as_uri(),
    }
    with session("local[2,2]", SETTINGS | folders) as made:
        yield made


@pytest.fixture(scope="session")
def engine(spark: SparkSession) -> SparkEngine:
    """The engine on that session."""
    return SparkEngine(spark)
