"""Samples by stratum, and values that went to `other`: the same on a cluster as on one machine."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Coin, Draw, Exactly, StratifiedCoin
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes, default_engine
from crowdblend.sources.engines.engine import ClassCounts
from crowdblend.sources.engines.spark.engine import SparkEngine
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.policies.policies import policy_text

KEY = DrawKey(bytes(range(32)))
BY_STRATUM = StratifiedCoin(KEY, "region", (0.1, 0.5, 0.25))
REGIONS = ("north", "south", "west")
POLICY = policy_text(
    data='source = "people/*.parquet"\n{people}',
    sampling='design = "strata"\ncolumn = "region"\nrates = {{ north = 0.1, south = 0.5, west = 0.25 }}',
    columns=(
        'region = {{ values = ["north", "south", "west"] }}',
        'town = {{ values = ["a", "b"], other = "elsewhere" }}',
    ),
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)
NUMBERS = 'person = "id"'
WAYS = {
    "texts": 'person = "name"',
    "one row of several": f'{NUMBERS}\nduplicates = "one"',
    "rows": "rows_are_people = true",
}


def people(folder: Path, *, repeated: bool) -> None:
    """4,000 rows in three files; some people have two rows, in two files, where that is asked for."""
    chance = np.random.default_rng(2)
    ids = np.arange(4_000) % (3_000 if repeated else 4_000)
    frame = pd.DataFrame({"id": ids, "name": [f"p{number}" for number in ids]})
    frame["region"] = chance.choice(REGIONS, len(frame))
    frame["town"] = chance.choice(["a", "b", "Aachen", "Bern", None], len(frame))
    (folder / "people").mkdir()
    for part in range(3):
        frame.iloc[part::3].to_parquet(folder / "people" / f"{part}.parquet", index=False)


def found(counted: ClassCounts) -> Any:
    classes = counted.classes
    return classes.labels, classes.codes.tolist(), classes.counts.tolist(), counted.dropped, counted.outside


@for_each("way", WAYS)
def test_the_same_people_are_drawn_by_stratum(way: str, tmp_path: Path, engine: SparkEngine) -> None:
    people(tmp_path, repeated="several" in way)
    policy: Any = parse_policy(POLICY.format(people=WAYS[way]), tmp_path)
    here, there = (found(count_classes(policy, BY_STRATUM, each)) for each in (default_engine(), engine))
    assert here == there
    assert sum(here[2]) > 500
    assert here[4]["town"].values[0][1] > 100


def test_a_second_row_is_refused_by_stratum(tmp_path: Path, engine: SparkEngine) -> None:
    people(tmp_path, repeated=True)
    policy: Any = parse_policy(POLICY.format(people=NUMBERS), tmp_path)
    with pytest.raises(InvalidInput) as refused:
        count_classes(policy, BY_STRATUM, engine)
    assert refused.value.code == "data.repeated-person"


@for_each("draw", [Coin(KEY, 0.5), Exactly(KEY, 300, 4_000)], daily=1)
def test_what_went_to_other_is_told_as_on_one_machine(draw: Draw, tmp_path: Path, engine: SparkEngine) -> None:
    people(tmp_path, repeated=False)
    policy: Any = parse_policy(POLICY.format(people=NUMBERS), tmp_path)
    here, there = (count_classes(policy, draw, each).outside for each in (default_engine(), engine))
    assert here == there
    assert {value for value, _ in there["town"].values} == {"Aachen", "Bern", None}
