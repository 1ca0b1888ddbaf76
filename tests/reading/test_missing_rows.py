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
from tests.golden.releases import POLICIES


def facts_of(name: str) -> ReleaseFacts:
    return plan(parse_policy(POLICIES[name], Path())).facts()


def largest(sampled: int, rate: float) -> int:
    """The largest number of people of whom so few, or fewer, are sampled with a probability of at least 1/40."""
    people = sampled
    while binom.cdf(sampled, people + 1, rate) >= 0.025:
        people += 1
    return people


def test_a_missing_sum_may_hold_almost_k_in_each_of_its_finest_cells() -> None:
    tables = facts_of("table-several").tables
    for name, inside in (("by_age", 8), ("by_district", 20)):
        table = tables[name]
        most = table.laws.unpublished(table.columns)
        assert most is not None
        assert largest(inside * 34, 0.5) <= most <= largest(inside * 34, 0.5) + 1
        (said,) = [line for line in sentences(facts_of("table-several"), table) if "missing" in line]
        assert f"the {inside} finest cells" in said
        assert f"{most:,}" in said


def test_every_table_of_a_folder_has_its_own_sentence() -> None:
    for name in ("table-several", "table-parts"):
        planned = plan(parse_policy(POLICIES[name], Path()))
        text = readme(planned.certificate({f"{table}.parquet": "" for table in planned.facts().tables}))
        for table in planned.facts().tables:
            escaped = table.replace("_", "\\_")
            assert f"- Table {escaped}: " in text, (name, table)


def test_strata_of_one_rate_are_as_private_as_the_one_with_the_smallest_crowds() -> None:
    strata = Strata("region", {name: Stratum(0.1, 0.1, 0.1) for name in ("north", "south")})
    for crowds in ((8, 20), (20, 8)):
        worst = strata.derivations([SuppressedHistogram(k) for k in crowds], 1.0)[1].conclusion
        alone = Strata("region", {"north": Stratum(0.1, 0.1, 0.1)}).derivations([SuppressedHistogram(8)], 1.0)
        assert worst.delta == alone[1].conclusion.delta
