"""A Python worker of Spark stays small, since a container of a cluster leaves little room beside Java."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import psutil
import pytest

from crowdblend.methods.designs.draw import Coin
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.sources.engines.spark.session import session
from crowdblend.trusted.randomness import DrawKey
from tests import needs
from tests.policies.policies import policy_text

ROWS = 3_000_000
# What docs/clusters.md says.
MOST = 512 * 10**6


def peak_of_workers(over: threading.Event) -> int:
    """Return the most memory that a Python process below this one holds, until it is over."""
    peak = 0
    while not over.wait(0.05):
        for process in psutil.Process().children(recursive=True):
            try:
                if "python" in process.name():
                    peak = max(peak, process.memory_info().rss)
            except psutil.Error:
                continue
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("duplicates", ["refuse", "one"])
def test_a_worker_fits_the_documented_overhead(tmp_path: Path, duplicates: str) -> None:
    needs.spark()
    with duckdb.connect() as connection:
        columns = "'p-' || i AS id, (hash(i, 1) % 2)::INT AS sex, (hash(i, 2) % 2000)::INT AS zip"
        people = f"SELECT {columns} FROM range({ROWS}) AS of(i)"
        connection.execute(f"COPY ({people}) TO '{tmp_path / 'people.parquet'}'")
    text = policy_text(
        data=f'source = "people.parquet"\nperson = "id"\nduplicates = "{duplicates}"',
        sampling='design = "poisson"\nrate = 0.5',
        columns="sex = { values = [0, 1] }\nzip = { from = 0, to = 2000, width = 1 }",
        privacy="delta = 1e-8",
        publish='kind = "table"\nk = 60',
    )
    policy, over, found = parse_policy(text, tmp_path).only, threading.Event(), list[int]()
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.driver.host": "127.0.0.1"}
    with session("local[1]", settings) as spark:
        watching = threading.Thread(target=lambda: found.append(peak_of_workers(over)))
        watching.start()
        try:
            count_classes(policy, Coin(DrawKey(bytes(32)), 0.5), SparkEngine(spark))
        finally:
            over.set()
            watching.join()
    assert 0 < found[0] <= MOST
