"""Recodings of several publications, each chosen by one more part of their sample."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.kinds import plan
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.kinds.shared.class_counts import ChoiceReading
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.lab.demo import town
from crowdblend.methods.designs.draw import shares_within
from crowdblend.methods.planning.certified_choice import CertifiedChoice, ExpectedPeople
from crowdblend.methods.planning.parts import smallest_k, suppressed_part
from crowdblend.policies.load import parse_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Uses
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartOfSample, PrivatePart
from crowdblend.trusted.randomness import ReleaseKey
from tests.cases import for_each
from tests.kinds.programme.programmes import COLUMNS, planned

KEY = bytes(range(32))
AGES = cb.intervals(0, 100, width=[5, 10, 50], top=True)


def choosing(**changes: Any) -> Policy:
    """Microdata and a table that choose, each by a fifth of its part, and a table that does not."""
    given: dict[str, Any] = {
        "person": "person_id",
        "sampling": cb.Poisson(0.5),
        "epsilon": 1.0,
        "delta": 1e-6,
        "columns": {"age": AGES, "sex": COLUMNS["sex"], "district": COLUMNS["district"]},
        "recoding": cb.Choosing(epsilon=0.5, using="split", share=0.2),
        "publish": [
            cb.Microdata("age", "sex", "district", name="people", share=0.5),
            cb.Table("age", "sex", name="by_age", share=0.3),
            cb.Table("district", name="by_district", share=0.2),
        ],
    }
    return Policy(**{**given, **changes})


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chosen") / "published"
    cb.release(town(5_000), choosing(), out=folder, ledger=None, key=KEY)
    return folder


def test_every_part_has_the_smallest_k_beside_those_that_choose() -> None:
    shares = (*shares_within(0.5, 0.2), *shares_within(0.3, 0.2), 0.2)
    assert shares == (0.1, 0.4, 0.06, 0.24, 0.2)
    for one, share in zip(planned(choosing()).planned, (0.4, 0.24, 0.2), strict=True):
        k = smallest_k(suppressed_part(share), shares, rate=0.5, epsilon=1.0, delta=1e-6)
        assert one.plan.mechanisms[0].k == k  # type: ignore[attr-defined]


def test_the_choice_and_the_release_are_certified_at_the_share_of_their_own_people() -> None:
    """A fifth of a part chooses, so that at each other's share δ would be far too small."""
    steps = [step for made in planned(choosing()).derived_guarantees for step in made.steps()]
    parts = {step.parameters["share"]: step for step in steps if isinstance(step.conclusion, PartOfSample)}
    assert {share for share, step in parts.items() if isinstance(step.conclusion, PrivatePart)} == {0.1, 0.06}
    crowds = [one.plan.mechanisms[0].k for one in planned(choosing()).planned]  # type: ignore[attr-defined]
    found = {share: step.conclusion.k for share, step in parts.items() if isinstance(step.conclusion, PartInCrowds)}
    assert found == dict(zip((0.4, 0.24, 0.2), crowds, strict=True))


def test_nobody_who_chooses_is_published() -> None:
    """Where every person is a class of their own, parts have the shares that are certified, and share nobody."""
    ids = [f"p{number:04d}" for number in range(1_000)]
    policy = choosing(
        person="name",
        columns={"who": ids, "age": cb.intervals(0, 4, width=[1, 2])},
        publish=[cb.Table("who", "age", name="a", share=0.6), cb.Table("who", name="b", share=0.3)],
    )
    with opened_frame(pd.DataFrame({"name": ids, "who": ids, "age": 1})) as held:
        made = plan(policy.with_source(DataSource(source="people", format="frame", frame=held)))
        assert isinstance(made, ProgrammePlan)
        readings = made.read(default_engine(), ReleaseKey(KEY)).readings
    first, second = readings["a"], readings["b"]
    assert isinstance(first, ChoiceReading)
    sampled = [first.deciding, first.released, second.sample]  # type: ignore[attr-defined]
    parts = [{one.labels[0][code] for code in one.codes[:, 0]} for one in sampled]
    assert len(set.union(*parts)) == sum(map(len, parts))
    # Binomial numbers: five standard deviations are missed once in a million.
    for found, rate in zip(parts, (0.06, 0.24, 0.15), strict=True):
        assert abs(len(found) - 1_000 * rate) < 5 * (1_000 * rate * (1 - rate)) ** 0.5


def test_a_programme_that_chose_is_verified_and_read_at_the_rate_of_those_who_are_shown(published: Path) -> None:
    stated = cb.verify(published).differential()
    assert stated is not None
    assert (stated.epsilon, stated.delta <= 1e-6) == (1.0, True)
    rules = json.loads((published / "certificate.json").read_text())
    assert "exponential" in json.dumps(rules)
    cells = cb.read(published).estimates(table="by_age").to_pandas().dropna(subset=["sampled"])
    # Four fifths of 0.3 of a half are published: 0.12.
    assert np.allclose(cells["estimate"], cells["sampled"] / 0.12, atol=0.06)
    said = (published / "README.md").read_text()
    assert "- by_age: sampled is about a random sample, which has each person with probability 0.12: one" in said
    (chosen,) = (line for line in said.splitlines() if ": A part of the sample chose the labels, and is in" in line)
    assert "by_age" in chosen.partition(":")[0]
    assert "by_district" not in chosen
    page = (published / "report.html").read_text()
    assert page.count("A part of the sample made the choice; nobody in that part is published.") == 2


def test_the_policy_is_the_same_in_toml() -> None:
    policy = choosing()
    assert parse_policy(policy.to_toml()) == policy
    assert [one.plan.policy.recoding is not None for one in planned(policy).planned] == [True, True, False]


def test_a_series_keeps_the_budget_together() -> None:
    once, years = planned(choosing()), planned(choosing(releases=3, recoding=cb.Choosing(epsilon=0.2, using="split")))
    assert years.derived_guarantees
    assert all(
        later.plan.mechanisms[0].k >= one.plan.mechanisms[0].k  # type: ignore[attr-defined]
        for one, later in zip(once.planned, years.planned, strict=True)
    )


def _fresh(facts: Any) -> None:
    facts["split"] = "fresh"
    for one in facts["published"].values():
        del one["share"]
        one["facts"]["design"]["rate"] = 0.5


UNPAID = {"score": 1.0, "mean_error": 1.0, "near": [{"column": "age", "step": 1, "score": 3.0}]}


@for_each(
    "change",
    [
        _fresh,
        lambda facts: facts["published"]["by_age"]["facts"]["recoding"].pop("share"),
        lambda facts: facts["published"]["by_age"]["facts"]["recoding"].update(released_epsilon=0.5),
        lambda facts: facts["published"]["by_age"]["facts"]["recoding"]["choice"].update(epsilon=3.0),
        lambda facts: facts["published"]["by_age"]["facts"]["recoding"].update(around=UNPAID),
    ],
)
def test_no_guarantee_follows_from_another_choice(change: Callable[[Any], object], published: Path) -> None:
    facts = json.loads((published / "certificate.json").read_text())["facts"]
    derive(read_facts(facts))
    change(facts)
    with pytest.raises(DoesNotVerify):
        derive(read_facts(facts))


NO_CHOICE = {"age": cb.intervals(0, 100, width=10, top=True), "sex": ["female", "male"], "district": ["Mills"]}


@for_each(
    ("changes", "what"),
    [
        ({"split": "fresh"}, "chosen by parts of their one sample"),
        ({"recoding": cb.Choosing(epsilon=0.5, using="population")}, "chosen by parts of their one sample"),
        ({"columns": NO_CHOICE}, "nothing to choose"),
        ({"recoding": None}, "nothing says how to choose"),
        ({"recoding": cb.Choosing(epsilon=2.0, using="split")}, "loses 2; in a part of this sample 1.49 is allowed"),
    ],
)
def test_choices_that_are_not_certified_are_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(CrowdblendError, match=what):
        choosing(**changes).plan()


@pytest.mark.parametrize("share", [0.25, 0.7])
def test_whoever_chooses_counts_with_their_whole_share(share: float) -> None:
    choice = CertifiedChoice(ExpectedPeople(5, 0.25, 1, 1), 0.5, choices=2)
    stated = choice.claim_in_a_part(share=share).conclusion
    assert stated == PrivatePart(share, (Uses(ClosenessCurve(0.5, 0.0), 1),))
