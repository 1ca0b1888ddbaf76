"""The ledger knows a sample again whichever engine has read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from crowdblend.errors import DoesNotCompose
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.policies.source import DataSource
from crowdblend.publishing.release import release
from crowdblend.sources.engines.spark.engine import SparkEngine
from tests.cases import for_each
from tests.golden.releases import KEY
from tests.sources.engines.spark.test_layouts import COLUMNS, people
from tests.sources.engines.test_known_ids import SETS, check, ids_of, in_arrow, in_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_frame_is_the_sample_that_was_published_before(tmp_path: Path, engine: SparkEngine) -> None:
    parquet.write_table(people(), tmp_path / "people.parquet")
    policy = parse_policy(
        f'[data]\nsource = "people.parquet"\nperson = "number"\npopulation = "us"\n'
        f'[sampling]\ndesign = "coins"\nrate = 0.5\n[columns]\n{COLUMNS}'
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\n',
        tmp_path,
    )
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    release(policy, tmp_path / "first", ledger=ledger, key=KEY)
    spark = engine._session(policy.data)
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(3)
    again = policy.with_source(DataSource(source="The Spark DataFrame", format="frame", frame=frame))
    with pytest.raises(DoesNotCompose):
        release(again, tmp_path / "second", ledger=ledger, key=bytes(32), engine=engine)


@for_each("number", SETS[::3], daily=2)
def test_ids_of_every_type_are_known_again(
    number: int, tmp_path: Path, spark: SparkSession, engine: SparkEngine
) -> None:
    texts = ids_of(number)
    columns = {name: each for name, each in in_arrow(texts).items() if name not in ("dictionary", "ns")}
    data = in_parquet(tmp_path, columns)
    check(data, texts, engine)
    frame = spark.read.parquet(data.source)
    check(DataSource("The Spark DataFrame", "frame", rows_are_people=True, frame=frame), texts, engine)
