"""Releases on a cluster in one session, and what its folders hold meanwhile: run by test_standalone.py.

spark-submit on_standalone.py SOURCES OUT CLUSTER NAME…
"""

from __future__ import annotations

import sys
from pathlib import Path

from crowdblend.methods.designs.draw import Exactly
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.publishing.release import release
from crowdblend.sources.engines.sampling import random_places
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.trusted.randomness import DrawKey
from tests.golden.releases import KEY, PEOPLE, POLICIES
from tests.sources.engines.spark.test_secrets import SECRET, files_below, spellings


def main(sources: Path, out: Path, cluster: Path, names: list[str]) -> None:
    """Publish golden policies and draw rows without ids; then look for the keys and the draw in every file."""
    with SparkEngine.start() as engine:
        for name in names:
            policy = parse_policy('[release]\nformat = "csv"\n' + POLICIES[name], sources)
            release(policy, out / name, key=KEY, ledger=None, engine=engine, figures=False)
        draw = Exactly(DrawKey(SECRET), PEOPLE // 2, PEOPLE)
        column = parse_policy(POLICIES["table"], sources).columns[0]
        data = DataSource(str(sources / "town.parquet"), "parquet", rows_are_people=True)
        with engine.open(data, [column.name], Resources()) as source:
            source.class_counts([column], draw)
        drawn = random_places(draw.samples, draw.people, DrawKey(SECRET))[1_000:1_004].tobytes()
        written = files_below(cluster)
        # The shuffle's blocks are there, so what the executors write is looked at.
        assert any(file.name.startswith("shuffle_") for file in written)
        for file, content in written.items():
            assert drawn not in content, file
            assert not any(spelling in content for secret in (KEY, SECRET) for spelling in spellings(secret)), file


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
