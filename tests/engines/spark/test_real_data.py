"""The real tables have the same bytes on both engines, where that data folder lies beside the checkout."""

from pathlib import Path

import pytest

from crowdblend.engines.spark.engine import SparkEngine
from crowdblend.policies import load_policy
from crowdblend.publishing.release import release
from tests.kinds.test_real_data import DATA, EXAMPLES

NAMES = (
    "adult",
    "adult-choose",
    "adult-outliers",
    "adult-statistics",
    "census_income",
    "census_survey",
    "census_survey_rows",
    "census_synopsis",
    "uk_accidents",
    "lastfm",
)
KEY = bytes(range(32))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_are_those_of_duckdb(name: str, tmp_path: Path, engine: SparkEngine) -> None:
    if not DATA.is_dir():
        pytest.skip("the folder with the real tables does not lie beside the checkout")
    policy = load_policy(EXAMPLES / f"{name}.toml")
    release(policy, tmp_path / "here", key=KEY, ledger=None)
    release(policy, tmp_path / "there", key=KEY, ledger=None, engine=engine)
    files = [file for file in sorted((tmp_path / "here").iterdir()) if file.suffix in (".parquet", ".csv")]
    assert files
    for file in files:
        assert file.read_bytes() == (tmp_path / "there" / file.name).read_bytes(), file.name
