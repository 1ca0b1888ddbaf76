"""What is said of a row that is not published is true of that very table, by a computation of its own."""

from __future__ import annotations

from pathlib import Path

from scipy.stats import binom

from crowdblend.designs import Strata, Stratum
from crowdblend.kinds import plan
from crowdblend.kinds.facts import ReleaseFacts
from crowdblend.mechanisms import SuppressedHistogram
from crowdblend.policies.load import parse_policy
from crowdblend.reading.notes import sentences
from crowdblend.reading.readme import readme
from tests.cases import for_each
from tests.golden.releases import POLICIES


def facts_of(name: str) -> ReleaseFacts:
    return plan(parse_policy(POLICIES[name], Path())).facts()


def largest(sampled: int, rate: float) -> int:
    """The largest number of people of whom so few, or fewer, are sampled with a probability of at least 1/20."""
    people = sampled
    while binom.cdf(sampled, people + 1, rate) >= 0.05:
        people += 1
    return people


@for_each(("name", "k"), [("table", 35), ("table-drawn", 35), ("microdata", 35)])
def test_a_missing_row_may_hold_almost_k_people_of_the_sample(name: str, k: int) -> None:
    facts = facts_of(name)
    ((_, table),) = facts.tables.items()
    most = table.laws.unpublished(table.columns)
    assert most == largest(k - 1, 0.5)
    (said,) = [line for line in sentences(facts, table) if "missing" in line]
    assert f"{most:,}" in said
    planned = plan(parse_policy(POLICIES[name], Path()))
    assert said in readme(planned.certificate({"data.parquet": ""})).replace("\\", "")


def test_strata_of_one_rate_are_as_private_as_the_one_with_the_smallest_crowds() -> None:
    strata = Strata("region", {name: Stratum(0.1, 0.1, 0.1) for name in ("north", "south")})
    for crowds in ((8, 20), (20, 8)):
        worst = strata.derivations([SuppressedHistogram(k) for k in crowds], 1.0)[1].conclusion
        alone = Strata("region", {"north": Stratum(0.1, 0.1, 0.1)}).derivations([SuppressedHistogram(8)], 1.0)
        assert worst.delta == alone[1].conclusion.delta
