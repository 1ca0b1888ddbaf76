"""A delta that guarantees next to nothing is refused, unless the policy accepts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdblend.errors import Infeasible
from crowdblend.guarantees import Differential
from crowdblend.kinds import plan
from crowdblend.policies import parse_policy
from tests.golden.releases import POLICIES, write_sources
from tests.policies.policies import bent

NO_DELTA = ("delta = 1e-6\n", "")
POINTS = """
[data]
source = "people.csv"
rows_are_people = true
[sampling]
rate = 0.8
[columns]
x = { from = 0, to = 8, resolution = 0.5, width = 2 }
[release]
kind = "points"
k = 5
epsilon = 0.1
noise_epsilon = 0.5
"""
OUTLIERS = """
[data]
source = "people.csv"
rows_are_people = true
[columns]
sex = { values = ["f", "m"] }
[outliers]
limit = 60
transition = 3
[release]
kind = "outlier-table"
epsilon = 0.01
"""
WEAK = {
    "table": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", "k = 3")),
    "microdata": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", "k = 3"), ('"table"', '"microdata"')),
    "noise": bent(NO_DELTA, ("rate = 0.1", "rate = 0.8"), ("k = 20", 'k = 3\nbelow_k = "noise"')),
    "stated": bent(("delta = 1e-6", "delta = 0.5")),
    "points": POINTS,
    "outlier-table": OUTLIERS,
}


@pytest.mark.parametrize("name", WEAK)
def test_a_large_delta_needs_a_word(name: str) -> None:
    with pytest.raises(Infeasible) as refused:
        plan(parse_policy(WEAK[name]))
    assert (refused.value.code, refused.value.where, refused.value.exit_code) == ("plan.delta", "[release] delta", 1)
    accepted = plan(parse_policy(WEAK[name].replace("[release]", "[release]\naccept_delta = true")))
    weak = any(isinstance(made, Differential) and made.delta > 1e-3 for made in accepted.certificate().guarantees)
    assert weak or name == "stated"  # there the certificate says what is proved, which is less


def test_delta_stays_below_one_over_the_people() -> None:
    few, many = (bent(('person = "id"', f'person = "id"\npeople = {people}')) for people in (999_999, 1_000_001))
    assert plan(parse_policy(few)).policy.people == 999_999
    with pytest.raises(Infeasible) as refused:
        plan(parse_policy(many))
    assert refused.value.code == "plan.delta"
    accepted = many.replace("[release]", "[release]\naccept_delta = true")
    assert plan(parse_policy(accepted)).policy.accept_delta


def test_every_release_that_is_published_keeps_to_the_limit(tmp_path: Path) -> None:
    write_sources(tmp_path)
    kinds = set()
    for text in POLICIES.values():
        made = plan(parse_policy(text, tmp_path))
        kinds.add(made.policy.kind)
        stated = made.certificate().differential()
        assert getattr(made.policy, "accept_delta", False) or stated is None or stated.delta <= 1e-3
    assert len(kinds) == 7
