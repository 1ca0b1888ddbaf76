"""Programmes of surveys that are thinned, of weights and of biased samples: planned, published, verified, forged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.programme.facts import ProgrammeFacts
from crowdblend.kinds.shared.facts import DATA, derive, from_json, read_facts, to_json
from crowdblend.methods.designs import Biased, Strata, Stratum, ThinnedSurvey, Weights
from crowdblend.methods.designs.design import differential_of
from crowdblend.methods.designs.draw import Coin, Everybody, StratifiedCoin, parts_of
from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere
from crowdblend.methods.mechanisms.histograms import SuppressedHistogram
from crowdblend.methods.mechanisms.statistics import NoisyStatistics
from crowdblend.policies.publication import Publication
from crowdblend.policies.sampling_section import Sampling
from crowdblend.trusted.guarantees.aggregates import RandomSamples
from crowdblend.trusted.guarantees.privacy import Differential, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, CrowdCurve, ReplacedCurve, SurveyCurve, Uses
from crowdblend.trusted.guarantees.programme import OneSampleCurve, PartInCrowds, PrivatePart, ProgrammeCurve
from crowdblend.trusted.randomness import DrawKey, ReleaseKey
from tests.cases import for_each
from tests.kinds.programme.programmes import planned
from tests.refusals import refuses

TABLE, ROWS = cb.Table("region", "sex", name="table"), cb.Microdata("region", "sex", name="rows")
NOISY = [cb.Table("region", "sex", name=name, below_k="noise") for name in "ab"]
OUTLIERS = cb.OutlierTable("region", "sex", name="outliers", limit=60)
SURVEY = cb.Survey(4_000, of=80_000, thin=0.8)
STRATA = cb.Strata("region", {"north": 0.02, "south": 0.05}, thin=0.8)
BIASED = cb.Biased(0.48, 0.5, rate=0.5)
CASES: dict[str, tuple[Sampling, str, list[Publication]]] = {
    "survey, parts": (SURVEY, "people", [TABLE, OUTLIERS]),
    "survey, fresh": (SURVEY, "fresh", [TABLE, ROWS]),
    "survey, budget": (SURVEY, "budget", NOISY),
    "thinned strata, parts": (STRATA, "people", [TABLE, ROWS]),
    "thinned strata, budget": (STRATA, "budget", NOISY),
    "strata, budget": (cb.Strata("region", {"north": 0.2, "south": 0.5}), "budget", NOISY),
    "biased, parts": (BIASED, "people", [TABLE, OUTLIERS]),
    "biased, fresh": (BIASED, "fresh", [TABLE, ROWS]),
    "biased, budget": (BIASED, "budget", NOISY),
}
# How many a person of the north and of the south stands for: of a table that is drawn from here, one.
STANDS_FOR = {"survey": (20, 20), "thinned": (50, 20)}


def people() -> pd.DataFrame:
    chance, size = np.random.default_rng(3), 4_000
    columns = {"region": chance.choice(["north", "south"], size), "sex": chance.choice(["f", "m"], size)}
    return pd.DataFrame({"id": np.arange(size), **columns, "weight": chance.uniform(2, 4, size)})


def policy(name: str, **changes: Any) -> cb.Policy:
    sampling, split, publish = CASES[name]
    given: dict[str, Any] = {
        "person": "id",
        "ids": "table",
        "population": "people",
        "epsilon": 1.0,
        "delta": 1e-6,
        "columns": {"region": ["north", "south"], "sex": ["f", "m"]},
        "sampling": sampling,
        "split": split,
        "publish": publish,
    }
    return cb.Policy(**{**given, **changes})


@for_each("name", CASES, daily=3)
def test_it_is_published_and_verified(name: str, tmp_path: Path) -> None:
    made = cb.release(people(), policy(name), ledger=None)
    made.save(tmp_path / "out")
    stated = cb.verify(tmp_path / "out").derivations
    guaranteed = [one.conclusion for one in stated if isinstance(one.conclusion, Differential)]
    assert guaranteed[0].epsilon <= 1
    assert guaranteed[0].delta <= 1e-6
    # Of a survey of a fixed size one person's data are replaced: both numbers of people are public.
    relation = Relation.REPLACE if name.startswith("survey") else Relation.ADD_REMOVE
    assert guaranteed[0].relation is relation
    assert isinstance(stated[0].conclusion, ZeroKnowledge)
    if name.startswith("survey"):
        assert stated[0].conclusion.aggregate == RandomSamples(4_000, 80_000)
    stands_for = next((held for start, held in STANDS_FOR.items() if name.startswith(start)), (1, 1))
    true = people().groupby(["region", "sex"]).size() * np.repeat(stands_for, 2)
    for table in made.tables.values():
        if "estimate" in table:
            # At least 160 people are counted in a cell: 40 % are five standard errors (false alarms below 1e-5).
            found = table.set_index(["region", "sex"])["estimate"]
            assert (abs(found / true - 1) < 0.4).all()


def test_estimates_of_a_survey_by_strata_divide_by_both_probabilities() -> None:
    """With which people were asked, and with which the coin kept them."""
    found = plan(policy("strata, budget", sampling=STRATA, split=None, publish=TABLE).only).facts().tables[DATA].laws
    assert found.estimates(np.array([4, 4]), np.array(["north", "south"])).tolist() == [250.0, 100.0]


def test_statistics_of_a_survey_refuse_more_people_than_it_has() -> None:
    two = [cb.Statistics(cb.count({"sex": "f"}), name=name) for name in "ab"]
    larger = cb.Survey(people=3_999, of=80_000, thin=1.0)
    with refuses("data.people"):
        made = policy("survey, budget", sampling=larger, columns={"sex": ["f", "m"]}, publish=two)
        cb.release(people(), made, ledger=None)
    exact, rows = cb.Survey(people=4_000, of=80_000, thin=1.0), pd.concat([people(), people()])
    several = {"rows_per_person": 2, "sampling": exact, "delta": None, "split": None}
    made = policy("survey, budget", columns={"sex": ["f", "m"]}, publish=two[:1], **several)
    assert len(cb.release(rows, made, ledger=None).data)  # people are counted, not their rows


def test_a_survey_of_parts_amplifies_once_and_crowds_are_those_of_the_coin() -> None:
    plan = planned(policy("survey, parts"))
    assert plan.sample == ThinnedSurvey(0.8, 4_000, 80_000)
    facts = plan.facts()
    shares = [one.share for one in plan.planned]
    assert all(share is not None for share in shares)
    for one, share in zip(plan.planned, shares, strict=True):
        assert one.plan.facts().sample == ThinnedSurvey(0.8 * (share or 0), 4_000, 80_000)
    (use,) = facts.derivations()[1].premises[0].conclusion.uses
    assert isinstance(use.curve, SurveyCurve)
    assert (use.curve.samples, use.curve.population) == (4_000, 80_000)
    # The same coins without the survey promise less: almost nobody of the 80,000 was asked.
    coins = planned(policy("survey, parts", sampling=cb.Poisson(0.8)))
    assert (plan.planned[0].plan.k or 0) < (coins.planned[0].plan.k or 0)


def test_a_survey_states_the_curves_that_are_enumerated() -> None:
    """tests/truth/test_survey_programmes.py enumerates these curves: every mechanism in them, one coin, one survey."""
    design, crowds = ThinnedSurvey(0.8, 40, 800), (SuppressedHistogram(k=20), SuppressedHistogram(k=30))
    each, noisy = [(one,) for one in crowds], (NoiseEverywhere(0.5), NoiseEverywhere(0.25))
    parts = tuple(PartInCrowds(share, k, 0.0) for share, k in ((0.25, 20), (0.5, 30)))
    fresh = tuple(Uses(ReplacedCurve(CrowdCurve(k, 0.0, 0.8)), 1) for k in (20, 30))
    one_sample = OneSampleCurve(0.8, tuple(Uses(ClosenessCurve(loss, 0.0), 1) for loss in (0.25, 0.5)))
    for derived, curves in (
        (design.parts_derivations(each, (0.25, 0.5), 2.0), (Uses(ReplacedCurve(ProgrammeCurve(0.8, parts)), 1),)),
        (design.fresh_derivations(each, 2.0), fresh),
        (design.together(noisy, 2.0), (Uses(ReplacedCurve(one_sample), 1),)),
    ):
        profile = differential_of(derived).premises[0].conclusion
        assert profile.uses == (Uses(SurveyCurve(40, 800, False, curves), 1),)


def test_a_coin_keeps_the_people_of_a_survey_whatever_part_they_are_in() -> None:
    (part, _), key = parts_of(DrawKey(bytes(32)), (0.5, 0.5)), DrawKey(bytes([1] * 32))
    for one in (None, part):
        assert ThinnedSurvey(0.8, 40, 800).draw(key, one) == Coin(key, 0.8, one)
        strata = {"north": Stratum(0.02, 0.02, 0.02), "south": Stratum(0.5, 0.5, 0.5)}
        assert Strata("region", strata, thin=0.8).draw(key, one) == Coin(key, 0.8, one)
        assert Strata("region", strata).draw(key, one) == StratifiedCoin(key, "region", (0.02, 0.5), part=one)
        assert ThinnedSurvey(1.0, 40, 800).draw(key, one) == Everybody(one, row_key=key)


def test_parts_of_a_biased_sample_are_biased_samples() -> None:
    """tests/truth/test_biased_parts.py enumerates this curve: every crowd, all noise, everybody's rate."""
    plan = planned(policy("biased, parts", sampling=cb.Biased(0.46, 0.5, rate=0.48, exceptions=2, max_rate=0.6)))
    (use,), shares = differential_of(plan.derived_guarantees).premises[0].conclusion.uses, []
    assert (use.curve.low, use.curve.high, use.curve.exceptions, use.curve.max_rate) == (0.46, 0.5, 2, 0.6)
    for one in plan.planned:
        assert one.share is not None
        low, high, most, rate = (rate * one.share for rate in (0.46, 0.5, 0.6, 0.48))
        assert one.plan.facts().sample == Biased(low, high, 2, most, rate, already_drawn=False)
        shares.append(one.share)
    assert [type(part) for part in use.curve.publications] == [PartInCrowds, PrivatePart]
    assert sorted(part.share for part in use.curve.publications) == sorted(shares)
    (part, _), key = parts_of(DrawKey(bytes(32)), (0.5, 0.5)), DrawKey(bytes([1] * 32))
    assert Biased(0.2, 0.3, rate=0.25, already_drawn=False).draw(key, part) == Coin(key, 0.25, part)
    assert Biased(0.2, 0.3).draw(key, part) == Everybody(part, row_key=key)


def test_strata_that_are_not_published_are_parts_of_a_biased_sample() -> None:
    two = [cb.Table("sex", name="table"), cb.Microdata("sex", name="rows")]
    hidden: dict[str, Any] = {"sampling": cb.Strata("region", {"north": 0.48, "south": 0.5}), "publish": two}
    plan = planned(policy("biased, parts", **hidden))
    assert isinstance(plan.sample, Biased)
    assert (plan.sample.low, plan.sample.high) == (0.48, 0.5)
    assert plan.draws(ReleaseKey(bytes(32)))[0][0].part is not None
    with refuses("policy.split", "[data] duplicates"):
        planned(policy("biased, parts", **hidden, duplicates="one"))
    weighted = {"sampling": cb.Weights("weight", low=0.2, high=0.5), "publish": two, "columns": {"sex": ["f", "m"]}}
    with refuses("policy.split", "[sampling] column"):
        planned(policy("biased, parts", **weighted))


def test_noise_on_a_biased_sample_is_amplified_by_the_largest_rate_of_anyone() -> None:
    derived = Biased(low=0.2, high=0.3, max_rate=0.5).derivations_in_copies(NoiseEverywhere(0.5).claim(), (1,))
    assert derived[1].conclusion.epsilon == pytest.approx(math.log1p(0.5 * math.expm1(0.5)))


@for_each("unequal", "ns")
def test_the_rates_of_every_stratum_are_looked_at(unequal: str) -> None:
    """The ends of all rates are stated, whichever stratum has them; only strata of one rate each have parts."""
    strata = Strata("region", {name: Stratum(0.25, 0.2, 0.3 if name == unequal else 0.25) for name in "ns"})
    assert strata.largest_rate == 0.3
    by_curve = differential_of(strata.together([NoiseEverywhere(0.5)], 1.0)).premises[0]
    assert by_curve.parameters == {"low": 0.2, "high": 0.3, "exceptions": 0, "max_rate": 0.3}
    one_wide = Strata("region", {name: Stratum(0.25, 0.2 if name == unequal else 0.25, 0.25) for name in "ns"})
    with refuses("policy.split"):
        one_wide.parts_derivations([(SuppressedHistogram(k=20),) * 2] * 2, (0.5, 0.5), 2.0)
    with refuses("policy.split"):
        one_wide.require_parts()


def test_noise_on_one_unequal_sample_is_amplified_by_the_largest_rate() -> None:
    unequal = planned(policy("strata, budget"))
    equal = planned(policy("strata, budget", sampling=cb.Poisson(0.5)))
    losses = [sum(one.noise_epsilon for one in plan.mechanisms) for plan in (unequal, equal)]  # type: ignore[attr-defined]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert losses[0] >= math.log1p((math.e - 1) / 0.5) * (1 - 1e-3)


@for_each(
    "name",
    ["survey, parts", "survey, fresh", "survey, budget", "thinned strata, budget", "biased, parts", "biased, budget"],
)
def test_what_contradicts_the_guarantee_is_refused(name: str) -> None:
    facts = planned(policy(name)).facts()
    document = to_json(facts)
    assert derive(read_facts(document)) == derive(facts)

    def forged(**changes: Any) -> ProgrammeFacts:
        return from_json({**document, **changes}, ProgrammeFacts)

    with pytest.raises(DoesNotVerify):
        derive(forged(epsilon=0.5))
    with pytest.raises(DoesNotVerify):
        derive(forged(design={**document["design"], **_weaker(document["design"])}))
    if name == "biased, budget":
        # Exceptions have any rate, so that nobody's noise counts on having been left out.
        sampling = cb.Biased(0.48, 0.5, rate=0.5, exceptions=2)
        assert planned(policy(name, sampling=sampling)).sample.largest_rate == 1
    if name.startswith("survey"):
        with pytest.raises(DoesNotVerify):
            derive(forged(split="fresh" if facts.split == "people" else "people"))


@for_each(
    "sampling", [cb.Weights("weight", low=0.2, high=0.5, thin=0.8), cb.Strata("region", {"north": 0.1}, thin=0.8)]
)
def test_a_survey_is_thinned_where_its_rates_are_published(sampling: Sampling) -> None:
    two = [cb.OutlierTable("sex", name=name, limit=300) for name in "ab"]
    with pytest.raises(InvalidInput, match="divide by the rates of"):
        planned(policy("survey, budget", sampling=sampling, columns={"sex": ["f", "m"]}, publish=two))


@for_each("split", ["people", "fresh", "budget"])
def test_statistics_of_strata_are_certified_by_the_most_that_anyone_counts(split: str) -> None:
    """Somebody of the north counts 25 times, so that noise hides 25 steps of each sum where one would do."""
    columns = {"region": ["north", "south"], "income": cb.bounds(0, 10, resolution=1), "sex": ["f", "m"]}
    beside = cb.Table("region", "sex", name="b", below_k="suppress" if split == "people" else "threshold")
    given: dict[str, Any] = {"columns": columns, "split": split, "people": 4_000, "epsilon": 1.0}
    given |= {"sampling": cb.Strata("region", {"north": 0.02, "south": 0.5})}
    made = planned(policy("survey, budget", publish=[cb.Statistics(cb.total("income"), name="a"), beside], **given))
    ((noise,), *_) = (one.plan.mechanisms for one in made.planned)
    facts = made.facts()
    share = facts.published["a"].share
    assert (share is None) == (split != "people")
    assert isinstance(noise, NoisyStatistics)
    assert noise.copies == (25, 1)
    loss = noise.claim().conclusion.epsilon
    assert loss * 25 <= math.log1p(math.expm1(1.0) / 0.02)
    assert differential_of(derive(facts)).conclusion.epsilon <= 1
    # Facts with four times less noise are refused.
    document = to_json(facts)
    document["published"]["a"]["facts"]["statistics"]["sum of income"]["noise_epsilon"] *= 4
    with pytest.raises(DoesNotVerify):
        derive(read_facts(document))


def _weaker(design: dict[str, Any]) -> dict[str, Any]:
    """The same sample with more people in it."""
    if design["design"] == "thinned":
        return {"rate": 1.0}
    return {"thin": 0.99} if "thin" in design else {"high": 0.6, "max_rate": 0.6}


def test_weights_are_thinned_for_parts_and_without_it_refused() -> None:
    columns = {"region": ["north", "south"], "sex": ["f", "m"], "weight": cb.breaks(2, 2.5, 3, 3.5, 4.001)}
    publish = [cb.Table("weight", "sex", name="table"), cb.Microdata("weight", "region", name="rows")]
    given: dict[str, Any] = {"columns": columns, "publish": publish}
    plan = planned(policy("survey, fresh", sampling=cb.Weights("weight", thin=0.8), split="people", **given))
    assert isinstance(plan.sample, Weights)
    assert {one.plan.facts().sample.thin for one in plan.planned} == {0.4}
    with pytest.raises(InvalidInput, match="thin="):
        planned(policy("survey, fresh", sampling=cb.Weights("weight"), split="people", **given))


@for_each(
    "sampling",
    [cb.Strata("region", {"north": 0.2, "south": 0.5}), BIASED, cb.Weights("weight", low=0.2, high=0.5)],
    daily=1,
)
@for_each("publish", [cb.OutlierTable("region", "sex", limit=60), cb.Table("region", "sex", below_k="threshold")])
def test_noise_of_an_unequal_sample(sampling: Sampling, publish: Publication, tmp_path: Path) -> None:
    made = cb.release(people(), policy("survey, budget", sampling=sampling, publish=publish, split=None), ledger=None)
    made.save(tmp_path / "out")
    known, differential, *_ = cb.verify(tmp_path / "out").derivations
    assert differential.conclusion.epsilon <= 1
    assert differential.rule.id == "profile.delta"
    assert known.conclusion.aggregate.high <= 0.5
