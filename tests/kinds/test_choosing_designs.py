"""Recodings chosen by a part of a survey, of strata, of weights and of a biased sample: published, verified, forged."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.kinds import plan
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.methods import designs
from crowdblend.methods.designs.design import differential_of
from crowdblend.policies.sampling_section import Sampling
from crowdblend.trusted.calculus import Derivation
from crowdblend.trusted.guarantees.programme import PartOfSample, PrivatePart
from tests.cases import for_each
from tests.refusals import refuses

PEOPLE = 6_000
# The columns beside the age, and how many people everybody who is read stands for, where that is one number.
DESIGNS: dict[str, tuple[Sampling, tuple[str, ...], float]] = {
    "survey": (cb.Survey(PEOPLE, of=10 * PEOPLE, thin=0.8), (), 10),
    "strata": (cb.Strata("region", {"north": 0.4, "south": 0.5}), ("region",), 1),
    "biased": (cb.Biased(0.46, 0.5, rate=0.48), (), 1),
    "thinned strata": (cb.Strata("region", {"north": 0.1, "south": 0.1}, thin=0.8), ("region",), 10),
    "weights": (cb.Weights("weight", thin=0.8), ("weight",), 7.75),
    "biased before": (cb.Biased(0.46, 0.5, rate=0.48, already_drawn=True), (), 1 / 0.48),
}
KNOWN: dict[str, Any] = {"region": ["north", "south"], "weight": cb.breaks(5, 6, 7.5, 9, 10.501)}


def people() -> pd.DataFrame:
    chance = np.random.default_rng(3)
    columns = {"region": chance.choice(["north", "south"], PEOPLE), "age": chance.integers(0, 100, PEOPLE)}
    return pd.DataFrame({"id": np.arange(PEOPLE), **columns, "weight": chance.uniform(5, 10.5, PEOPLE)})


def policy(name: str, **changes: Any) -> cb.Policy:
    sampling, beside, _ = DESIGNS[name]
    given: dict[str, Any] = {"person": "id", "epsilon": 1.0, "delta": 1e-6, "sampling": sampling}
    given["columns"] = {"age": cb.intervals(0, 100, width=[10, 50])} | {one: KNOWN[one] for one in beside}
    given["recoding"] = cb.Choosing(epsilon=0.3, using="split", share=0.2)
    kind = cb.Microdata if name == "strata" else cb.Table
    return cb.Policy(**{**given, "publish": kind(*beside, "age"), **changes})


@for_each("name", DESIGNS, daily=3)
def test_a_part_of_the_sample_chooses_for_the_others(name: str, tmp_path: Path) -> None:
    cb.release(people(), policy(name), ledger=None).save(tmp_path / "out")
    guaranteed = differential_of(cb.verify(tmp_path / "out").derivations).conclusion
    assert (guaranteed.epsilon, guaranteed.delta <= 1e-6) == (1.0, True)
    # At least 100 people are counted of every tenth of all: 10 % are five standard errors of the sum of all.
    estimates = cb.read(tmp_path / "out").estimates().to_pandas()
    assert estimates["estimate"].sum() == pytest.approx(PEOPLE * DESIGNS[name][2], rel=0.1)


@for_each("name", DESIGNS)
def test_the_choice_and_the_release_are_certified_at_the_share_of_their_own_people(name: str) -> None:
    """A fifth of the sample chooses, also where every stratum has a mechanism."""
    steps = [step for made in plan(policy(name)).facts().derivations() for step in made.steps()]
    parts = [(isinstance(one.conclusion, PrivatePart), one.parameters["share"]) for one in steps if _is_part(one)]
    assert {*parts} == {(True, 0.2), (False, 0.8)}


def _is_part(step: Derivation) -> bool:
    return isinstance(step.conclusion, PartOfSample)


@for_each("name", DESIGNS, daily=3)
def test_facts_that_leave_out_what_the_choice_costs_are_refused(name: str) -> None:
    facts = plan(policy(name)).facts()
    document = to_json(facts)
    assert derive(read_facts(document)) == derive(facts)
    for changed in ({"share": None}, {"released_epsilon": 0.5}):
        with pytest.raises((DoesNotVerify, InvalidInput)):
            derive(read_facts({**document, "recoding": {**document["recoding"], **changed}}))
    dearer = {**document["recoding"]["choice"], "epsilon": 8.0}
    with pytest.raises(DoesNotVerify):
        derive(read_facts({**document, "recoding": {**document["recoding"], "choice": dearer}}))


@for_each("name", ["survey", "strata", "biased"], daily=1)
def test_publications_of_parts_choose_too(name: str, tmp_path: Path) -> None:
    beside = DESIGNS[name][1]
    publish = [cb.Table(*beside, "age", name="a"), cb.Microdata(*beside, "age", name="b")]
    made = policy(name, publish=publish, split="people")
    cb.release(people(), made, ledger=None).save(tmp_path / "out")
    assert differential_of(cb.verify(tmp_path / "out").derivations).conclusion.delta <= 1e-6


def test_what_no_part_can_choose_is_refused() -> None:
    everybody = cb.Choosing(epsilon=0.3, using="population")
    for name in ("strata", "biased", "weights"):
        with refuses("policy.recoding"):
            policy(name, recoding=everybody)
    with refuses("policy.recoding"):
        policy("survey", releases=3).plan()
    with refuses("policy.recoding"):
        policy("survey", person=None, rows_are_people=True).plan()
    hidden = {"columns": {"age": cb.intervals(0, 100, width=[10, 50])}, "publish": cb.Table("age")}
    with refuses("policy.recoding"):
        policy("strata", **hidden).plan()
    with refuses("policy.split"):
        policy("weights", sampling=cb.Weights("weight")).plan()
    with refuses("plan.choice-costs-all"):
        policy("survey", recoding=cb.Choosing(epsilon=2.0, using="split", share=0.2)).plan()
    with refuses("plan.delta-out-of-reach"):
        policy("survey", publish=cb.Table("age", k=2)).plan()


def test_the_dry_run_describes_this_sample_and_no_other() -> None:
    """No k of a survey without a choice; of a biased sample the rate that is drawn, and who has any."""
    assert "compared" not in dict(plan(policy("survey")).describe())
    said = dict(plan(policy("biased")).describe())["would sample"]
    assert said == "the sample will be drawn at rate 0.48, certified for rates between 0.46 and 0.5"
    before = designs.Biased(0.46, 0.5, exceptions=2, rate=0.48)
    assert before.description.endswith(
        "already drawn at rates between 0.46 and 0.5, but for up to 2 people, who have any"
    )
