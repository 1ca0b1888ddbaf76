"""Choices typed field by field make the policy that the same choices make in Python, for every kind."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.policies.registry import KINDS
from crowdblend.studio.model.choices import (
    Choices,
    choices_of,
    column_of,
    policy_of,
    start,
    toml_parts,
    with_another,
    with_design,
    with_kind,
    without,
)
from tests.cases import for_each
from tests.refusals import refuses
from tests.studio.model.kinds_of_choices import CASES


@for_each("case", CASES)
def test_choices_make_the_policy_of_python(case: str, tmp_path: Path) -> None:
    choices, in_python = CASES[case]
    made = policy_of(choices, tmp_path)
    assert made == in_python(tmp_path)
    made.save(tmp_path / "policy.toml")
    assert cb.load_policy(tmp_path / "policy.toml") == made


@for_each("case", CASES)
def test_a_policy_becomes_choices_and_the_same_policy_again(case: str, tmp_path: Path) -> None:
    policy = CASES[case][1](tmp_path)
    choices = choices_of(policy, ("sex", "unused"))
    assert policy_of(choices, tmp_path) == policy
    assert msgspec.json.decode(msgspec.json.encode(choices), type=Choices) == choices
    assert choices.design == CASES[case][0].design


def test_every_kind_has_a_case() -> None:
    assert {choices.kind for choices, _ in CASES.values()} == {*KINDS, "programme"}


@for_each("kind", KINDS)
@for_each("case", CASES)
def test_another_kind_keeps_nothing_that_it_does_not_have(case: str, kind: str, tmp_path: Path) -> None:
    changed = with_kind(CASES[case][0], kind)
    assert _refusal(changed, tmp_path) not in ("policy.unknown-key", "policy.unknown-section")


def _refusal(choices: Choices, folder: Path) -> str | None:
    try:
        policy_of(choices, folder)
    except CrowdblendError as refused:
        return refused.code
    return None


def test_a_design_has_keys_of_its_own() -> None:
    sampled = with_design(start("table"), "coins")
    assert toml_parts(sampled)["sampling"] == {"design": "coins"}
    everybody = with_design(sampled.with_texts("sampling", {"rate": "0.3"}), "everybody")
    assert toml_parts(everybody)["sampling"] == {"design": "everybody"}
    assert not everybody.text("privacy", "delta")
    drawn = with_design(everybody, "poisson")
    assert drawn.sections["sampling"] == {"rate": "0.5"}
    assert drawn.text("privacy", "delta") == "1e-6"


@for_each("design", ("coins", "biased", "strata"))
def test_the_rate_of_another_design_is_not_made_up(design: str) -> None:
    for before in ("poisson", "everybody"):
        sampled = with_design(with_design(start("table"), before), design)
        assert not sampled.text("sampling", "rate")


def test_a_design_that_a_kind_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no design"):
        with_design(start("microdata"), "everybody")


def test_publications_are_added_named_and_removed() -> None:
    one = start("table").with_publication(0, {"k": "20"})
    three = with_another(with_another(one, "table"), "points")
    assert [choice.name for choice in three.publish] == ["table", "table-2", "points"]
    assert three.publish[2].texts["noise_epsilon"] == "1.0"  # what is usual for its kind
    assert three.publish[0].texts["k"] == "20"
    assert three.designs == ("poisson", "coins", "survey", "strata", "weights", "biased")
    shared = replace(three, split="people").with_publication(0, {"share": "0.5"})
    alone = without(without(shared, 2), 1)
    assert (alone.split, alone.publish[0].texts) == ("", {"k": "20", "name": "table"})
    assert without(alone, 0) == alone


def test_a_column_is_an_axis_of_the_map_that_names_it() -> None:
    both = with_another(start("statistics"), "points").with_publication(1, {"columns": "east\nnorth"})
    assert "width" in both.ways("east")["resolution"]
    assert "width" not in both.ways("income")["resolution"]


@for_each(
    ("texts", "code"),
    [
        ({"way": "width", "from": "0", "to": "ten", "width": "1"}, "policy.type"),
        ({"way": "width", "from": "0", "to": "10"}, "policy.column-domain"),
        ({"way": "breaks", "breaks": "3, 2"}, "policy.domain"),
        ({"way": "resolution", "from": "3", "to": "2", "resolution": "1"}, "recoding.order"),
        ({"way": "hierarchy", "hierarchy": "missing.csv", "level": "0"}, "policy.domain"),
    ],
)
def test_a_domain_is_refused_as_in_a_file(texts: dict[str, str], code: str, tmp_path: Path) -> None:
    with refuses(code):
        column_of(start("statistics").with_column("age", texts), "age", tmp_path)
