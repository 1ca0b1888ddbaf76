"""What happens on a cluster does not change the result: lost workers, failing jobs, Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from crowdblend.errors import Unavailable
from crowdblend.sources.engines.spark.session import collect, quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def mapped(frame: Any, work: Any) -> Any:
    with quiet():
        return frame.mapInArrow(work, "id long")


def test_a_job_that_fails_says_nothing_of_the_rows(spark: SparkSession) -> None:
    def failing(batches: Iterator[Any]) -> Iterator[Any]:
        raise ValueError("Alice has 3 rows")
        yield

    with pytest.raises(Unavailable) as failed:
        collect(mapped(spark.range(3), failing))
    assert failed.value.code == "engine.spark-job"
    assert "Alice" not in str(failed.value)


def test_ctrl_c_stops_the_job(spark: SparkSession) -> None:
    def sleeping(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            time.sleep(600)
            yield batch

    def interrupt() -> None:
        while not spark.sparkContext.statusTracker().getActiveStageIds():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    before = time.monotonic()
    threading.Thread(target=interrupt).start()
    phases: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        collect(mapped(spark.range(1), sleeping), lambda phase, _: phases.append(phase))
    while spark.sparkContext.statusTracker().getActiveStageIds() and time.monotonic() - before < 300:
        time.sleep(0.05)
    assert time.monotonic() - before < 300
    assert phases[0] == "reading"


def test_settings_of_the_session_are_put_back(spark: SparkSession) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    collect(spark.range(1))
    assert spark.conf.get(name) == before
