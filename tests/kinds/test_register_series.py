"""A register published every year: epsilon is for all years together."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import crowdblend as cb
from crowdblend.errors import DoesNotVerify
from crowdblend.kinds import plan
from crowdblend.kinds.shared.crowd_facts import CrowdFacts
from crowdblend.kinds.table.facts import EverywhereFacts
from crowdblend.lab.demo import town
from crowdblend.methods.mechanisms.everywhere import NoiseEverywhere
from crowdblend.trusted.guarantees.guessing import lead


def register(**changes: Any) -> cb.Policy:
    given: dict[str, Any] = {
        "columns": {"sex": ["female", "male"]},
        "sampling": cb.Everybody(),
        "person": "person_id",
        "epsilon": 1.0,
        "publish": cb.Table("sex"),
    }
    return cb.Policy(**{**given, **changes})


def facts_of(policy: cb.Policy) -> EverywhereFacts:
    found = plan(policy.only).facts()
    assert isinstance(found, EverywhereFacts)
    return found


def loss(facts: EverywhereFacts) -> float:
    assert isinstance(facts.mechanism, NoiseEverywhere)
    return facts.mechanism.noise_epsilon


def test_every_release_has_its_share_of_epsilon() -> None:
    once = loss(facts_of(register(releases=7)))
    assert 7 * Fraction(once) <= 1 < 7 * Fraction(once * (1 + 1e-12))


def test_the_number_of_releases_is_a_parameter_where_there_are_several() -> None:
    assert facts_of(register(releases=7)).parameters["releases"] == 7
    assert "releases" not in facts_of(register()).parameters


def test_the_folder_verifies_and_more_releases_than_planned_do_not(tmp_path: Path) -> None:
    policy = register(releases=50)
    cb.release(town(2_000), policy, out=tmp_path / "out", ledger=None)
    assert cb.verify(tmp_path / "out").differential() is not None
    facts = facts_of(policy)
    for change in ({"releases": 51}, {"delta": 1e-6}, {"epsilon": 0.99}):
        with pytest.raises(DoesNotVerify):
            structs.replace(facts, **change).derivations()


def test_a_series_of_noise_on_a_sample_is_held_against_its_epsilon_too() -> None:
    """Noise everywhere has no delta at any epsilon, so that its own loss decides how many releases keep to a total."""
    sampled = plan(register(sampling=cb.Poisson(0.5), delta=1e-6).only).facts()
    shared = {name: getattr(sampled, name) for name in CrowdFacts.__struct_fields__}
    noisy = EverywhereFacts(**{**shared, "releases": 1}, mechanism=NoiseEverywhere(1.2))
    assert noisy.derivations()
    with pytest.raises(DoesNotVerify, match="guarantee less together"):
        structs.replace(noisy, releases=1_000).derivations()


def test_the_sentence_of_a_series_is_about_all_of_it() -> None:
    alone, series = (lead(plan(register(releases=releases).only).guarantees, releases) for releases in (1, 10))
    assert alone is not None
    assert series is not None
    all_of_it = alone.replace("this release", "all 10 releases of the series")
    assert all_of_it != alone
    assert series == f"{all_of_it} This is one of 10 releases that were planned under one budget."
