"""Draws by stratum: each person at the rate of their stratum, the same people whatever the order."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Coin, StratifiedCoin
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.sources.engines.engine import ClassCounts
from crowdblend.trusted.randomness import DrawKey
from tests.policies.policies import policy_text

KEY = bytes(range(32))
# All statistical tests here together raise a false alarm with at most this probability.
FALSE_ALARM = 1e-6
RATES = {"north": 0.1, "south": 0.5, "west": 0.25}
POLICY = policy_text(
    data='source = "people.parquet"\n{people}',
    sampling='design = "strata"\ncolumn = "region"\nrates = {{ north = 0.1, south = 0.5, west = 0.25 }}',
    columns='region = {{ values = ["north", "south", "west"] }}\nsex = {{ values = ["F", "M"] }}',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)


def policy(folder: Path, people: str = 'person = "id"') -> Any:
    return parse_policy(POLICY.format(people=people), folder)


def draw(key: bytes = KEY) -> StratifiedCoin:
    return StratifiedCoin(DrawKey(key), "region", tuple(RATES.values()))


def frame(people: int = 6_000) -> pd.DataFrame:
    chance = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "id": np.arange(people),
            "region": chance.choice(list(RATES), people),
            "sex": chance.choice(["F", "M"], people),
        }
    )


def by_stratum(counted: ClassCounts) -> dict[str, int]:
    classes = counted.classes
    place = classes.columns.index("region")
    found = dict.fromkeys(RATES, 0)
    for codes, count in zip(classes.codes, classes.counts.tolist(), strict=True):
        found[classes.labels[place][codes[place]]] += count
    return found


@pytest.mark.parametrize("people", ['person = "id"', "rows_are_people = true"])
def test_every_stratum_is_drawn_at_its_rate(people: str, tmp_path: Path) -> None:
    given = frame()
    given.to_parquet(tmp_path / "people.parquet")
    sizes = given.region.value_counts()
    found = by_stratum(count_classes(policy(tmp_path, people), draw()))
    for region, rate in RATES.items():
        assert stats.binomtest(found[region], int(sizes[region]), rate).pvalue > FALSE_ALARM / 12


def test_the_order_does_not_matter_and_the_key_does(tmp_path: Path) -> None:
    given = frame(900)
    given.to_parquet(tmp_path / "people.parquet")
    first = count_classes(policy(tmp_path), draw()).classes.counts.tolist()
    given.sample(frac=1, random_state=3).to_parquet(tmp_path / "people.parquet")
    again = count_classes(policy(tmp_path), draw()).classes.counts.tolist()
    assert first == again
    assert count_classes(policy(tmp_path), draw(bytes(32))).classes.counts.tolist() != again


def test_a_stratum_has_the_people_that_a_coin_at_its_rate_draws(tmp_path: Path) -> None:
    """One mark decides: who is drawn at 0.1 is drawn at 0.5 as well."""
    given = frame(900)
    given.to_parquet(tmp_path / "people.parquet")
    both = by_stratum(count_classes(policy(tmp_path), draw()))
    for region, rate in RATES.items():
        alone = by_stratum(count_classes(policy(tmp_path), Coin(DrawKey(KEY), rate)))
        assert both[region] == alone[region]


def test_somebody_with_rows_in_two_strata_is_refused_even_if_not_drawn(tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": [1, 2, 1], "region": ["north", "south", "south"], "sex": ["F", "M", "F"]})
    rows.to_parquet(tmp_path / "people.parquet")
    for key in (KEY, bytes(32), bytes([7]) * 32):
        with pytest.raises(InvalidInput, match="several rows"):
            count_classes(policy(tmp_path), draw(key))


def test_one_row_is_chosen_before_the_coin(tmp_path: Path) -> None:
    """Everybody has a row in the north (0.1) and one in the south (0.5): half of the people in each stratum, and of
    them a share at its rate. A coin before the choice would keep 0.05 and 0.45 of all."""
    people = 8_000
    rows = pd.DataFrame({"id": np.repeat(np.arange(people), 2), "region": ["north", "south"] * people})
    rows.assign(sex="F").to_parquet(tmp_path / "people.parquet")
    one = 'person = "id"\nduplicates = "one"'
    found = by_stratum(count_classes(policy(tmp_path, one), draw()))
    for region, share in (("north", 0.05), ("south", 0.25)):
        assert stats.binomtest(found[region], people, share).pvalue > FALSE_ALARM / 12


def test_values_outside_the_strata_are_refused_whoever_is_drawn(tmp_path: Path) -> None:
    given = frame(20)
    given.loc[19, "region"] = "east"
    given.to_parquet(tmp_path / "people.parquet")
    with pytest.raises(InvalidInput, match="'region' has blanks, or values outside its declared domain") as refused:
        count_classes(policy(tmp_path), draw())
    assert "east" not in str(refused.value)


def test_a_draw_needs_rates_that_are_probabilities() -> None:
    with pytest.raises(InvalidInput, match="above 0 and below 1"):
        StratifiedCoin(DrawKey(KEY), "region", (0.1, 1.0))
