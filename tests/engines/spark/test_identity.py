"""The ledger knows a sample again whichever engine has read it."""

from pathlib import Path

import pytest
from pyarrow import parquet

from crowdblend.engines.spark.engine import SparkEngine
from crowdblend.errors import DoesNotCompose
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.policies.source import DataSource
from crowdblend.publishing.release import release
from tests.engines.spark.test_layouts import COLUMNS, people
from tests.golden.releases import KEY


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
