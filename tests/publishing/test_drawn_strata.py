"""Everybody is drawn at the rate of their own stratum, whichever way strata are published, listed and read."""

from typing import Any

import numpy as np
import pandas as pd

import crowdblend as cb
from crowdblend.kinds import plan
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each

KEY, EACH = bytes(range(32)), 3_000
# Neither rising nor falling, and two strata have one rate.
RATES = {"west": 0.13, "north": 0.05, "south": 0.2, "islands": 0.05, "east": 0.08}
# The towns tell who is of which region where the region is not published.
TOWNS = {"west": "A", "north": "B", "south": "C", "islands": "D", "east": "E"}
REGION, TOWN = cb.values(*RATES), cb.values(*sorted(TOWNS.values(), reverse=True))
CASES: dict[str, dict[str, Any]] = {
    "published": {"columns": {"region": REGION, "town": TOWN}},
    "published last": {"columns": {"town": TOWN, "region": REGION}},
    "not published": {"columns": {"town": TOWN}},
    "labels in another order": {"columns": {"region": cb.values(*sorted(RATES)), "town": TOWN}},
    "rows with coins of their own": {"columns": {"region": REGION, "town": TOWN}, "rows_per_person": 2},
    "microdata": {"columns": {"region": REGION, "town": TOWN}, "publish": cb.Microdata()},
    "rows that are people": {"columns": {"town": TOWN}, "person": None, "rows_are_people": True},
}


def people() -> pd.DataFrame:
    regions = np.random.default_rng(2).permutation(np.repeat(list(RATES), EACH))
    return pd.DataFrame({"id": np.arange(len(regions)), "region": regions, "town": [TOWNS[one] for one in regions]})


@for_each("name", CASES)
def test_people_are_drawn_at_the_rate_of_their_stratum(name: str) -> None:
    """Six standard deviations are missed less than once in a hundred million times."""
    given: dict[str, Any] = {"person": "id", "epsilon": 1.0, "delta": 1e-4, "sampling": cb.Strata("region", RATES)}
    policy = cb.Policy(**{**given, "publish": cb.Table(), **CASES[name]})
    with opened_frame(people()) as held:
        planned = plan(policy.with_source(DataSource(source="people", format="frame", frame=held)))
        drawn = planned.read(default_engine(), ReleaseKey(KEY)).sample
    at = list(drawn.columns).index("town")
    found = dict.fromkeys(TOWNS.values(), 0)
    for code, count in zip(drawn.codes[:, at], drawn.counts, strict=True):
        found[drawn.labels[at][code]] += int(count)
    for region, rate in RATES.items():
        assert abs(found[TOWNS[region]] - EACH * rate) < 6 * (EACH * rate * (1 - rate)) ** 0.5, region
