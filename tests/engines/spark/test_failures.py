"""What happens on a cluster does not change the result: lost workers, failing jobs, Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crowdblend.designs.draw import Coin
from crowdblend.engines.choice import count_classes
from crowdblend.engines.spark import relation as relations
from crowdblend.engines.spark.engine import SparkEngine
from crowdblend.engines.spark.session import collect, quiet
from crowdblend.errors import Unavailable
from tests.engines.spark.test_layouts import KEY, about_frame, people, same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def mapped(frame: Any, work: Any) -> Any:
    with quiet():
        return frame.mapInArrow(work, "id long")


@pytest.mark.slow  # tasks are tried again by Spark, and what they compute follows from their rows
def test_a_worker_that_is_killed_changes_nothing(
    tmp_path: Path, spark: SparkSession, engine: SparkEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = about_frame(spark.createDataFrame(people()).repartition(3))
    expected = count_classes(about, Coin(KEY, 0.5), engine)
    place = str(tmp_path)

    def dying(task: Any) -> Any:
        name = type(task).__name__

        def run(batches: Iterator[Any]) -> Iterator[Any]:
            for done, batch in enumerate(task(batches)):
                marker = os.path.join(place, name)
                if done == 0 and not os.path.exists(marker):
                    os.close(os.open(marker, os.O_CREAT))
                    os.kill(os.getpid(), signal.SIGKILL)
                yield batch

        return run

    monkeypatch.setattr(relations, "plain_function", dying)
    assert same(count_classes(about, Coin(KEY, 0.5), engine), expected)
    assert sorted(os.listdir(place)) == ["CountClasses", "Merge"]


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
