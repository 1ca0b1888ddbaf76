"""Surveys of a fixed number of people: thinned crowds, and noise on all of them, from the table to its readers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import crowdblend as cb
from crowdblend.errors import CrowdblendError, DoesNotCompose
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.methods.designs import Strata, Stratum, Survey, ThinnedSurvey
from crowdblend.methods.mechanisms import SuppressedHistogram
from crowdblend.policies.load import parse_policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.starter import init_policy
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from tests.cases import for_each

PEOPLE, ASKED = 20_000, 4_000
INCOME = cb.bounds(0, 100_000, resolution=100, outside="clamp")
SEX, REGION = cb.values("f", "m"), cb.values("a", "b", "c")
PLACES = {"x": cb.axis(0, 10, resolution=0.1, width=5), "y": cb.axis(0, 10, resolution=0.1, width=5)}
Case = tuple[Publication, float, dict[str, Any], float | None]
KINDS: dict[str, Case] = {
    "table": (cb.Table("sex", "region"), 0.8, {"sex": SEX, "region": REGION}, 1e-6),
    "noise below k": (cb.Table("sex", "region", below_k="noise"), 0.5, {"sex": SEX, "region": REGION}, 1e-6),
    "microdata": (cb.Microdata("sex"), 0.5, {"sex": SEX}, 1e-6),
    "points": (cb.Points("x", "y", noise_epsilon=1.0), 0.5, PLACES, 1e-6),
    "outlier-table": (cb.OutlierTable("sex", limit=100), 1, {"sex": SEX}, 1e-6),
    "statistics": (
        cb.Statistics(cb.fraction({"sex": "f"}, name="women"), cb.median("income", by="sex", name="middle")),
        1,
        {"sex": SEX, "income": INCOME},
        None,
    ),
    "synopsis": (cb.Synopsis("sex", "region", conjunctions=2), 1, {"sex": SEX, "region": REGION}, None),
}


@pytest.fixture(scope="module")
def everybody() -> pd.DataFrame:
    chance = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "id": range(PEOPLE),
            "sex": chance.choice(["f", "m"], PEOPLE),
            "region": chance.choice(["a", "b", "c"], PEOPLE, p=[0.6, 0.3, 0.1]),
            "income": chance.integers(0, 1_000, PEOPLE) * 100,
            "x": chance.integers(0, 100, PEOPLE) / 10,
            "y": chance.integers(0, 100, PEOPLE) / 10,
        }
    )


@pytest.fixture(scope="module")
def survey(everybody: pd.DataFrame) -> pd.DataFrame:
    return everybody.sample(ASKED, random_state=5)


def policy_of(name: str, **changes: Any) -> cb.Policy:
    publish, thin, columns, delta = KINDS[name]
    sampling = cb.Survey(ASKED, of=PEOPLE, thin=thin)
    said = {"person": "id", "sampling": sampling, "epsilon": 1.0, "delta": delta, "columns": columns}
    return cb.Policy(**{**said, "publish": publish, **changes})


@for_each("name", KINDS, daily=4)
def test_every_kind_is_published_from_a_survey(name: str, survey: pd.DataFrame, tmp_path: Path) -> None:
    """Planned, published, verified and explained; the certificate begins with what nobody has checked."""
    policy, folder = policy_of(name), tmp_path / name
    assert parse_policy(policy.to_toml()) == policy
    done = cb.release(survey, policy, out=folder, ledger=None)
    certificate = cb.verify(folder)
    assert certificate.assumptions()[0].assumption is Assumption.ASSUMED_SURVEY
    assert Assumption.ASSUMED_RATE not in certificate.stated
    known, replaced = certificate.guarantees[:2]
    assert isinstance(known, ZeroKnowledge)
    assert known.aggregate == RandomSamples(ASKED, PEOPLE)
    assert isinstance(replaced, Differential)
    assert replaced.relation is Relation.REPLACE
    assert replaced.epsilon <= 1.0
    assert replaced.delta <= (policy.terms.delta or 0.0)
    assert certificate.differential(Relation.ADD_REMOVE) is None
    assert done.certificate.guarantees == certificate.guarantees
    assert "drawn at random" in (folder / "report.html").read_text(encoding="utf-8")


def test_estimates_are_about_everybody(everybody: pd.DataFrame, survey: pd.DataFrame, tmp_path: Path) -> None:
    """One over the probability of being asked and kept; each interval misses at most once in twenty releases."""
    done = cb.release(survey, policy_of("table"), out=tmp_path / "out", ledger=None)
    truth = everybody.groupby(["sex", "region"]).size()
    rows = done.data.set_index(["sex", "region"])
    # A standard deviation of at most 275 people in 6,000: 6 of them are missed less than once in 10^8 times.
    assert all(abs(rows["estimate"][cell] - truth[cell]) < 1_650 for cell in truth.index)
    assert (rows["sampled"] * PEOPLE / ASKED / 0.8).to_numpy() == pytest.approx(rows["estimate"].to_numpy(), abs=0.051)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "A survey asked 4,000 of 20,000 people." in text
    assert "not who did not answer" in text


@for_each("name", ["table", "outlier-table", "statistics", "synopsis"])
def test_more_people_than_were_asked_are_refused(name: str, everybody: pd.DataFrame, tmp_path: Path) -> None:
    """The share of people asked would be understated."""
    with pytest.raises(CrowdblendError) as caught:
        cb.release(everybody, policy_of(name), out=tmp_path / "out", ledger=None)
    assert caught.value.code == "data.people"
    assert not (tmp_path / "out").exists()


@for_each("asked", [1, 2, 5, 30, 400, 4_000, 100_000])
@for_each("rate", [0.01, 0.3, 0.5, 0.8, 0.99, 1.0])
def test_no_honest_survey_is_refused_by_chance(asked: int, rate: float) -> None:
    """Where only those are counted whom a coin kept, there may be more of them than on average."""
    design = ThinnedSurvey(rate, asked, 10 * asked)
    most = design.most_people(kept_only=True)
    assert binom.sf(math.floor(most), asked, rate) <= 1e-9
    assert most <= design.most_people(kept_only=False) == asked
    assert most == asked or most < asked * rate + 4 * math.sqrt(asked)


def test_a_few_people_more_than_were_asked_are_refused(everybody: pd.DataFrame, tmp_path: Path) -> None:
    """Also where the people who were kept are fewer than were asked."""
    with pytest.raises(CrowdblendError) as caught:
        cb.release(everybody[: ASKED + 1], policy_of("table"), out=tmp_path / "out", ledger=None)
    assert caught.value.code == "data.people"
    cb.release(everybody[: ASKED - 1], policy_of("table"), out=tmp_path / "out", ledger=None)


def test_the_key_of_the_coins_may_be_sealed(survey: pd.DataFrame, tmp_path: Path) -> None:
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    sealed = policy_of("table", sampling=cb.Survey(ASKED, of=PEOPLE, thin=0.8, key="seal"))
    cb.release(survey, sealed, out=tmp_path / "out", ledger=ledger)
    assert [entry.key for entry in ledger.entries()] == ["sealed"]


def test_a_starter_policy_of_a_survey_is_thinned(tmp_path: Path) -> None:
    source = tmp_path / "survey.csv"
    source.write_text("id,sex\n1,f\n", encoding="utf-8")
    text = init_policy(source, person="id", design="survey")
    filled = text.replace('people = "FILL_IN"', "people = 10").replace('of = "FILL_IN"', "of = 100")
    policy = parse_policy(filled.replace('"FILL_IN"', '"f", "m"', 1))
    assert policy.sampling == cb.Survey(10, of=100, thin=0.8)


def test_the_ledger_refuses_a_second_look_at_a_survey(survey: pd.DataFrame, tmp_path: Path) -> None:
    """Amplified by one draw, releases of one survey do not add up, drawn from it anew or not."""
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    cb.release(survey, policy_of("table"), out=tmp_path / "first", ledger=ledger)
    again = (policy_of("microdata"), policy_of("statistics"), policy_of("table", sampling=cb.Poisson(0.5)))
    for number, policy in enumerate(again):
        with pytest.raises(DoesNotCompose):
            cb.release(survey, policy, out=tmp_path / f"again-{number}", ledger=ledger)


def test_a_survey_thinned_without_the_numbers_adds_up(survey: pd.DataFrame, tmp_path: Path) -> None:
    """Thinning alone rests on nothing about the survey, so that a second release with fresh coins is one more loss."""
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    for number in range(2):
        thinned = policy_of("table", sampling=cb.Poisson(0.5), population="survey")
        done = cb.release(survey, thinned, out=tmp_path / f"out-{number}", ledger=ledger)
        assert not {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY} & {*done.certificate.stated}
    total = ledger.budget("survey").differential
    assert total is not None
    assert total.epsilon > 1.0


@for_each(
    ("rate", "asked", "of", "k"),
    [(0.5, 1, 2, 30), (0.5, 1, 100, 14), (0.8, 1, 10, 58), (0.8, 1, 1_000, 31), (0.9, 1, 100, 88)],
    daily=3,
)
def test_the_smallest_crowd(rate: float, asked: int, of: int, k: int) -> None:
    """The planned k keeps to delta, and k - 1 does not."""
    columns = {"sex": SEX}
    sampling = cb.Survey(asked * 1_000, of=of * 1_000, thin=rate)
    policy = cb.Policy(
        person="id", sampling=sampling, epsilon=1.0, delta=1e-6, columns=columns, publish=cb.Table("sex")
    )
    assert policy.plan().k == k
    design = ThinnedSurvey(rate, asked, of)
    deltas = [design.derivations((SuppressedHistogram(size),), 1.0)[1].conclusion.delta for size in (k - 1, k)]
    assert deltas[1] <= 1e-6 < deltas[0]


def test_a_series_of_surveys() -> None:
    """Three surveys, each drawn anew, need a larger crowd, and far from three times the loss."""
    one, three = (policy_of("table", releases=releases).plan().k for releases in (1, 3))
    assert one is not None
    assert three is not None
    assert one < three < 1.5 * one


def test_facts_of_a_survey_that_contradict_its_certificate(survey: pd.DataFrame, tmp_path: Path) -> None:
    """Crowds without coins, a smaller share of people asked, and everybody's totals follow from no facts."""
    done = cb.release(survey, policy_of("table"), out=tmp_path / "table", ledger=None)
    facts = dict(done.certificate.facts)
    design = facts["design"]
    assert design == {"design": "thinned", "rate": 0.8, "people": ASKED, "of": PEOPLE}
    stated = [made.conclusion for made in derive(read_facts(facts))]
    for changed in ({"rate": 1.0}, {"people": PEOPLE + 1}, {"people": 3 * ASKED}, {"rate": 0.95}):
        with pytest.raises(CrowdblendError):
            derive(read_facts({**facts, "design": {**design, **changed}}))
    fewer = derive(read_facts({**facts, "design": {**design, "people": ASKED // 2}}))
    assert [made.conclusion for made in fewer] != stated
    done = cb.release(survey, policy_of("statistics"), out=tmp_path / "statistics", ledger=None)
    facts = dict(done.certificate.facts)
    assert facts["design"]["already_drawn"] is True
    everybody = {name: {**one, "way": "everybody"} for name, one in facts["statistics"].items()}
    with pytest.raises(CrowdblendError):
        derive(read_facts({**facts, "statistics": everybody}))


def test_a_survey_of_everybody_is_not_amplified() -> None:
    whole = Survey(10, 10).inclusion
    assert whole is not None
    assert (whole.low, ThinnedSurvey(0.5, 10, 10).inclusion.low) == (1.0, 0.5)


def test_the_plan_compares_rates_and_noise() -> None:
    """By the error of a cell, which falls with the rate, and by the cells that are missing, which rises with it."""
    lines = policy_of("table").plan().describe()
    said = [how for what, how in lines if what == "compared"]
    assert [one.split(":")[0] for one in said[:3]] == ["thin = 0.5", "thin = 0.8", "thin = 0.9"]
    assert said[1].startswith(f"thin = 0.8: k = {policy_of('table').plan().k}; ")
    series = policy_of("table").replace(releases=3).plan()
    assert any(how.startswith(f"thin = 0.8: k = {series.k}; ") for _, how in series.describe())
    assert "compared" not in dict(policy_of("noise below k").plan().describe()), "nothing is missing there"
    off = [float(one.split("off by up to ")[1].split(" (")[0]) for one in said]
    assert off == sorted(off, reverse=True)
    missing = [int(one.split("below about ")[1].split(" ")[0].replace(",", "")) for one in said[:3]]
    assert missing == sorted(missing)
    assert ("rests on", "your word that 4,000 of 20,000 people were drawn at random, which nobody checks") in lines


@for_each("name", ["table", "noise below k", "outlier-table", "statistics", "synopsis"])
def test_a_survey_is_rehearsed(name: str) -> None:
    """With people who are drawn now, in crowds of the planned size."""
    policy = policy_of(name)
    found = cb.rehearse(policy, times=1)
    assert (found.people, found.k) == (PEOPLE, policy.plan().k)
    assert found.delta == getattr(policy.plan().guarantees[0], "delta", None)


def test_thinned_strata_are_rehearsed_with_the_crowds_of_their_coin() -> None:
    policy = cb.Policy(
        columns={"sex": SEX, "region": REGION},
        person="id",
        epsilon=1.0,
        delta=1e-6,
        sampling=cb.Strata("sex", {"f": 0.05, "m": 0.1}, thin=0.8),
        publish=cb.Table("sex", "region"),
    )
    found = cb.rehearse(policy, people=20_000, times=1)
    assert found.k == policy.plan().k == 135
    assert found.delta == getattr(policy.plan().guarantees[0], "delta", None)


def test_several_publications_of_a_survey_are_told_what_is_certified() -> None:
    two = [cb.Table("sex", name="a"), cb.Table("region", name="b")]
    given: dict[str, Any] = {"columns": {"sex": SEX, "region": REGION}, "person": "id", "epsilon": 1.0, "delta": 1e-6}
    for thin in (None, 1):
        with pytest.raises(CrowdblendError, match=r"thin=0\.8"):
            cb.Policy(sampling=cb.Survey(ASKED, of=PEOPLE, thin=thin), publish=two, **given).plan()
    assert cb.Policy(sampling=cb.Survey(ASKED, of=PEOPLE, thin=0.5), publish=two, **given).plan()


@pytest.mark.slow
@for_each("name", ["table", "synopsis"])
def test_a_survey_is_audited(name: str) -> None:
    assert not cb.audit(policy_of(name), runs=1_000).finding


SHARES = {"a": 0.1, "b": 0.2, "c": 0.5}


def stratified(**changes: Any) -> cb.Policy:
    """A fixed number of people in every region, kept by coins."""
    return policy_of("table", **{"sampling": cb.Strata("region", SHARES, thin=0.8), **changes})


def test_strata_of_fixed_sizes_are_thinned(everybody: pd.DataFrame, tmp_path: Path) -> None:
    """One k for all strata, that of the coins; nothing is assumed; estimates divide by what was asked and kept."""
    groups = everybody.groupby("region")
    survey = pd.concat([own.sample(int(len(own) * SHARES[str(name)]), random_state=3) for name, own in groups])
    policy = stratified()
    assert parse_policy(policy.to_toml()) == policy
    plain = policy_of("table", sampling=cb.Poisson(0.8)).plan()
    assert policy.plan().k == plain.k
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    done = cb.release(survey, policy, out=tmp_path / "out", ledger=ledger)
    certificate = cb.verify(tmp_path / "out")
    assert not {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY} & {*certificate.stated}
    assert certificate.differential(Relation.ADD_REMOVE) == plain.certificate().differential(Relation.ADD_REMOVE)
    assert set(done.data["region"]) == {"a", "b", "c"}
    for row in done.data.to_dict("records"):
        assert row["estimate"] == pytest.approx(row["sampled"] / (SHARES[row["region"]] * 0.8), abs=0.051)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "rests on nothing about how they were chosen" in text
    # With coins of its own a second release of the survey is one more loss, and no second look at a sample.
    cb.release(survey, stratified(publish=cb.Microdata("sex", "region")), out=tmp_path / "again", ledger=ledger)


def test_weights_of_a_survey_are_thinned(survey: pd.DataFrame, tmp_path: Path) -> None:
    weighed = survey.assign(weight=np.where(survey["region"] == "a", 4.0, 8.0))
    columns = {"weight": cb.breaks(3, 5, 10), "sex": SEX}
    policy = policy_of(
        "table", sampling=cb.Weights("weight", thin=0.5), columns=columns, publish=cb.Table("weight", "sex")
    )
    done = cb.release(weighed, policy, out=tmp_path / "out", ledger=None)
    assert policy.plan().k == 35
    assert not {Assumption.ASSUMED_RATE, Assumption.ASSUMED_SURVEY} & {*cb.verify(tmp_path / "out").stated}
    for row in done.data.to_dict("records"):
        assert row["low"] < row["estimate"] < row["high"]


@for_each(
    ("changes", "code"),
    [
        ({"publish": cb.Table("sex")}, "thin"),
        ({"delta": None, "people": PEOPLE, "publish": cb.Statistics(cb.count({"sex": "f"}, name="women"))}, "thin"),
    ],
)
def test_what_no_theorem_covers_of_thinned_strata_is_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(CrowdblendError) as caught:
        stratified(**changes).plan()
    assert caught.value.code == f"policy.{code}"


def test_thinned_strata_assume_no_coins() -> None:
    with pytest.raises(CrowdblendError, match=r"Remove sampling.already_drawn"):
        cb.Strata("region", {"a": 0.1}, already_drawn=True, thin=0.8)


def test_whose_rows_are_chosen_after_the_coin_cannot_be_counted_before_it() -> None:
    with pytest.raises(CrowdblendError, match="as many rows as people were asked"):
        cb.Policy(
            columns={"sex": SEX},
            person="id",
            duplicates="one",
            epsilon=1.0,
            delta=1e-6,
            sampling=cb.Survey(ASKED, of=PEOPLE, thin=0.5),
            publish=cb.Table("sex"),
        )


@pytest.mark.parametrize("name", ["table", "microdata", pytest.param("points", marks=pytest.mark.slow)])
def test_a_survey_that_shows_more_people_than_it_has_does_not_verify(
    name: str, survey: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever publishes by a program of their own could say that fewer were asked, which would guarantee more."""
    monkeypatch.setattr("crowdblend.kinds.shared.class_counts.check_survey", lambda *_, **__: None)
    publication, _, columns, delta = KINDS[name]
    given: dict[str, Any] = {"columns": columns, "person": "id", "epsilon": 1.0, "delta": delta}
    policy = cb.Policy(sampling=cb.Survey(100, of=PEOPLE, thin=0.8), publish=publication, **given)
    cb.release(survey, policy, out=tmp_path / "out", ledger=None)
    with pytest.raises(CrowdblendError, match="more people than its survey has"):
        cb.verify(tmp_path / "out")


def test_strata_are_counted_where_they_were_asked_and_their_coin_keeps_them() -> None:
    drawn: dict[str, Any] = {"column": "sex", "strata": {"f": Stratum(0.5, 0.5, 0.5), "m": Stratum(0.4, 0.4, 0.4)}}
    thinned = Strata(**drawn, thin=0.5)
    assert [one.rate for one in thinned.counting_strata.values()] == [0.25, 0.2]
    assert {one.high for one in thinned.coins} == {0.5}
    with pytest.raises(ValueError, match="thinned here, or was drawn before"):
        Strata(**drawn, thin=0.5, already_drawn=True)
