"""What is said of a row that is not published is true of that very table, by a computation of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import binom

from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import DATA, CellTable, ReleaseFacts
from crowdblend.kinds.table.facts import TableFacts
from crowdblend.methods.designs import Strata, Stratum
from crowdblend.methods.estimates.cells import CellLaws, estimator_of
from crowdblend.methods.estimates.laws import (
    ExactCounts,
    GaussianOnEveryCell,
    NoiseBelowK,
    NoiseOnEveryCell,
    OutlierNoise,
)
from crowdblend.methods.mechanisms import SuppressedHistogram
from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere, ThresholdHistogram
from crowdblend.methods.mechanisms.outliers import OutlierHistogram
from crowdblend.methods.recoding.values import Values
from crowdblend.policies.load import parse_policy
from crowdblend.reading.notes import _off, sentences
from crowdblend.reading.readme import readme
from crowdblend.reading.release import PublishedRelease
from crowdblend.trusted.guarantees.wording import three_digits
from tests.cases import for_each
from tests.golden.releases import POLICIES, PROGRAMMES


def facts_of(name: str) -> ReleaseFacts:
    return plan(parse_policy(POLICIES[name], Path())).facts()


def said_of(facts: ReleaseFacts) -> str:
    (table,) = facts.tables.values()
    (said,) = [line for line in sentences(facts, table) if "is missing is not" in line]
    return said


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
    most = table.laws.largest_unpublished()
    assert most == largest(k - 1, 0.5)
    assert f"{most:,}" in said_of(facts)
    planned = plan(parse_policy(POLICIES[name], Path()))
    assert said_of(facts) in readme(PublishedRelease(Path(), planned.certificate()))


@for_each("name", ["table", "table-drawn", "microdata"])
def test_a_missing_row_may_hold_any_number_of_people_whose_other_rows_count(name: str) -> None:
    """Of people with more classes than rows_per_person no interval says in which of them they do not count."""
    facts = facts_of(name)
    said, several = (said_of(one) for one in (facts, replace(facts, rows_per_person=3)))
    assert "any number" not in said
    assert "people who count in it, and any number who have its labels; of larger ones" in several


def test_points_without_blocks_may_be_missing_in_every_block() -> None:
    facts = facts_of("points")
    blocks, k = 10, 60
    most = facts.tables["data"].laws.largest_unpublished()
    assert largest(blocks * (k - 1), 0.5) <= most <= 1.02 * largest(blocks * (k - 1), 0.5)
    assert f"A combination of labels that is missing is not empty: it may have up to {most:,} people" in said_of(facts)
    shown = replace(facts, show_blocks=True)
    assert f"A block that is missing is not empty: it may have up to {largest(k - 1, 0.5):,} people" in said_of(shown)


@for_each("name", ["programme-people", "programme-drawn", "programme-fresh"])
def test_every_publication_has_sentences_of_its_own_law(name: str) -> None:
    whole = plan(parse_policy(PROGRAMMES[name], Path())).facts()
    checked = 0
    for publication in whole.publications.values():
        for table in publication.tables.values():
            own = table.laws.estimator
            if own is None or not isinstance(own.law, ExactCounts):
                continue
            checked += 1
            most = largest(own.law.k - 1, own.stratum.low)
            assert f"at least {own.law.k:,} sampled people are in it" in said_of(publication)
            assert f"up to {most:,} people of the population; of larger ones fewer than 5" in said_of(publication)
            assert publication.crowds[DATA] == own.law.k
    assert checked == 2


def test_estimates_of_weights_are_not_called_right_on_average() -> None:
    """All weights of [100, 200) may be 101: estimates by a middle weight are then too large, in every sum."""

    def said(low: float, high: float) -> str:
        law, rates = NoiseBelowK(20, 1.0), Stratum(low, low, high)
        table = CellTable({}, CellLaws(None, {}, "w", {"[100, 200)": estimator_of(law, rates)}))
        return " ".join(sentences(facts_of("table"), table))

    assert "right on average" in said(0.01, 0.01)
    assert "right on average" not in said(0.005, 0.01)
    assert "too large where most weights are smaller" in said(0.005, 0.01)


def test_a_choice_by_the_sample_is_said_to_be_outside_of_the_proof() -> None:
    for name, chosen in (("table-split", True), ("table-population", False), ("table", False)):
        facts = facts_of(name)
        lines = sentences(facts, facts.tables[DATA])
        assert any("not proved to cover" in line for line in lines) == chosen
        assert ("fixed beforehand" in facts.meanings.get("low", ("", ""))[1]) == chosen


def test_a_biased_sample_is_not_said_to_have_one_rate() -> None:
    facts = facts_of("table-biased")
    assert isinstance(facts, TableFacts)
    said = sentences(facts, facts.tables[DATA])
    assert any("between 0.08 and 0.12, but for at most 3 people, which have any" in line for line in said)
    assert not any("stands for about" in line or "with probability 0.1" in line for line in said)
    assert any("Estimates divide by 0.1;" in line for line in said)
    plain = facts_of("table")
    assert any("with probability 0.5: one counted" in line for line in sentences(plain, plain.tables[DATA]))


def test_a_published_estimate_near_k_is_said_to_be_too_large() -> None:
    """The mean over what is shown of 60 people at rate 0.5 and k = 35 is 73."""
    x = np.arange(35, 61)
    masses = binom.pmf(x, 60, 0.5)
    assert round(float((2 * x * masses).sum() / masses.sum())) == 73
    for name, said in (("table", True), ("table-biased", True), ("points", False), ("table-noise", False)):
        facts = facts_of(name)
        assert any("too large on average" in line for line in sentences(facts, facts.tables[DATA])) == said


def by_strata(rates: Mapping[str, Stratum], crowds: Mapping[str, int]) -> TableFacts:
    """Return the facts of a table by strata with crowds of these sizes."""
    return TableFacts(
        software={},
        epsilon=1.0,
        delta=0.5,
        design=Strata("region", dict(rates)),
        columns={"region": Values(tuple(rates)).domain()},
        strata={name: SuppressedHistogram(crowds[name]) for name in rates},
    )


def test_a_missing_row_of_strata_may_hold_as_many_as_in_any_of_them() -> None:
    rates, crowds = {"north": 0.3, "south": 0.5}, {"north": 10, "south": 35}
    for order in (("north", "south"), ("south", "north")):
        facts = by_strata({name: Stratum.at_rate(rates[name]) for name in order}, crowds)
        most = max(largest(crowds[name] - 1, rates[name]) for name in order)
        assert f"it may have up to {most:,} people of the population" in said_of(facts)


@for_each("name", ["north", "south"])
def test_what_is_so_in_one_stratum_is_said_whichever_that_is(name: str) -> None:
    """Rates between two ends, and crowds that are too large to estimate anything."""
    equal, crowds = {one: Stratum.at_rate(0.3) for one in ("north", "south")}, {"north": 10, "south": 10}
    between = by_strata(equal | {name: Stratum(0.3, 0.2, 0.4)}, crowds)
    assert any("survey weights" in line for line in sentences(between, between.tables[DATA]))
    huge = by_strata(equal, crowds | {name: 10**6 + 1})
    (line,) = sentences(huge, huge.tables[DATA])
    assert "nothing is said about the population" in line


@pytest.mark.parametrize(
    "noise",
    [NoiseEverywhere(1.0), GaussianEverywhere(3.0), ThresholdHistogram(0.3, 20), OutlierHistogram(0.5, 19, 60, None)],
)
def test_noise_is_said_to_be_as_far_off_as_it_is(noise: Any) -> None:
    law, sizes = noise.law, (1_000, 0) if isinstance(noise, OutlierHistogram) else (1_000,)
    for people in sizes:
        places = np.arange(people - 400, people + 400)
        masses = law if isinstance(law, OutlierNoise | GaussianOnEveryCell) else NoiseOnEveryCell(noise.noise_epsilon)
        far = float(np.abs(places - people) @ masses.kernel(np.array([people]), places)[0])
        table = CellTable({}, CellLaws(estimator_of(law, Stratum.at_rate(0.5))))
        assert three_digits(far) in _off(table)


def test_strata_of_one_rate_are_as_private_as_the_one_with_the_smallest_crowds() -> None:
    strata = Strata("region", {name: Stratum(0.1, 0.1, 0.1) for name in ("north", "south")})
    for crowds in ((8, 20), (20, 8)):
        worst = strata.derivations([SuppressedHistogram(k) for k in crowds], 1.0)[1].conclusion
        alone = Strata("region", {"north": Stratum(0.1, 0.1, 0.1)}).derivations([SuppressedHistogram(8)], 1.0)
        assert worst.delta == alone[1].conclusion.delta
