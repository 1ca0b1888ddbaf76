"""Releases on a cluster of two workers, of which an executor is killed in the middle: run by test_cluster.py.

python -m tests.sources.engines.spark.on_cluster SOURCES OUT NAME…
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.sources.engines.spark import relation as relations
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.session import session
from tests.golden.releases import KEY, POLICIES, PROGRAMMES
from tests.sources.engines.spark.conftest import SETTINGS

MASTER = "local-cluster[2,1,1024]"
CLUSTER = {
    "spark.python.daemon.module": "pyspark.daemon",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.eventLog.enabled": "false",
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    "spark.task.maxFailures": "8",
}


def killing(marker: str) -> Callable[[Any], Any]:
    """Wrap tasks: the first one that has made a batch kills the executor that it runs on."""

    def wrapped(task: Any) -> Any:
        def run(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in task(batches):
                if not os.path.exists(marker):
                    os.close(os.open(marker, os.O_CREAT))
                    process = Path(f"/proc/{os.getpid()}")
                    while b"CoarseGrainedExecutorBackend" not in (process / "cmdline").read_bytes():
                        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                        process = Path(f"/proc/{parent}")
                    os.kill(int(process.name), signal.SIGKILL)
                yield batch

        return run

    return wrapped


def main(sources: Path, out: Path, names: list[str]) -> None:
    """Publish golden policies; during each of them an executor is lost."""
    with session(MASTER, SETTINGS | CLUSTER) as spark:
        for name in names:
            vars(relations)["plain_function"] = killing(str(out / f"{name}.killed"))
            text = '[release]\nformat = "csv"\n' + (POLICIES | PROGRAMMES)[name]
            release(parse_policy(text, sources), out / name, key=KEY, ledger=None, engine=SparkEngine(spark))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
