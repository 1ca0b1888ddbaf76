"""The example policies fit the real tables: every value has a class."""

from pathlib import Path

import pytest

from crowdblend.policies import load_policy
from crowdblend.recoding.classes import Lookup

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES.parent.parent / "shared" / "data"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not beside the checkout")


@needs_data
@pytest.mark.parametrize("name", ["adult", "census_income"])
def test_every_value_has_a_class(name):
    import duckdb

    policy = load_policy(EXAMPLES / f"{name}.toml")
    assert all(part.closed and part.planned_parameter == "k" for part in policy.parts)
    if policy.data.format == "csv":
        options = f"delim = '{policy.data.delimiter}', header = true, all_varchar = true"
        relation = f"read_csv('{policy.data.source}', {options})"
    else:
        relation = f"read_parquet('{policy.data.source}')"
    with duckdb.connect() as connection:
        for column in policy.columns:
            quoted = '"' + column.name + '"'
            query = f"SELECT DISTINCT CAST({quoted} AS VARCHAR) FROM {relation}"
            values = [value for (value,) in connection.execute(query).fetchall()]
            codes = {column.recoding.code(value) for value in values}
            assert None not in codes, column.name
            if not isinstance(column.recoding, Lookup):
                found = connection.execute(f"SELECT DISTINCT {column.recoding.sql(quoted)} FROM {relation}").fetchall()
                assert {code for (code,) in found} == codes
