"""Spark Connect: the engine uses nothing that only a session in the same process has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs

CODE = """
from pathlib import Path
from pyarrow import parquet
from crowdblend.methods.designs.draw import Coin
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.policies.resources import Resources
from tests.sources.engines.spark.test_layouts import KEY, about_frame, people, policy, same

with SparkEngine.start() as engine:
    spark = engine._session(policy(Path("."), "people.parquet").data)
    assert type(spark).__module__.startswith("pyspark.sql.connect")
    about = about_frame(spark.createDataFrame(people()).repartition(3))
    phases = []
    found = count_classes(about, Coin(KEY, 0.5), engine, lambda phase, _: phases.append(phase))
    assert "counting" in phases
    parquet.write_table(people(), "people.parquet")
    assert same(found, count_classes(policy(Path("."), "people.parquet"), Coin(KEY, 0.5)))
    with engine.open(about.data, (), Resources()) as source:
        assert source.identity(FingerprintRequest(bytes(32))).sketches
print("the same")
"""


@pytest.mark.slow
def test_a_session_of_spark_connect(tmp_path: Path) -> None:
    needs.spark()
    root = str(Path(__file__).parents[4])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", f"{root}/src")])
    settings = os.environ | {"SPARK_REMOTE": "local[2]", "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", CODE]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert "the same" in done.stdout, done.stderr[-2000:]
