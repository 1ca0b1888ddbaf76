"""Choices typed field by field make the policy that the same choices make in Python, for every kind."""

from __future__ import annotations

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
    with_design,
    with_kind,
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
    assert {choices.kind for choices, _ in CASES.values()} == set(KINDS)


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
    assert drawn.sections["sampling"] == {"rate": "0.1"}
    assert drawn.text("privacy", "delta") == "1e-6"


@for_each("design", ("coins", "biased", "strata"))
def test_the_rate_of_another_design_is_not_made_up(design: str) -> None:
    for before in ("poisson", "everybody"):
        sampled = with_design(with_design(start("table"), before), design)
        assert not sampled.text("sampling", "rate")


def test_a_design_that_a_kind_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no design"):
        with_design(start("statistics"), "biased")


def test_a_policy_of_several_publications_is_refused_in_a_sentence() -> None:
    tables = [cb.Table("sex", name="by_sex"), cb.Table("age", name="by_age")]
    columns = {"sex": cb.values("f", "m"), "age": cb.intervals(0, 90, width=10)}
    policy = cb.Policy(person="id", sampling=cb.Poisson(0.1), epsilon=1, delta=1e-6, columns=columns, publish=tables)
    with pytest.raises(InvalidInput, match="has 2 publications, and the studio works on one"):
        choices_of(policy)


@for_each(
    ("texts", "code"),
    [
        ({"way": "width", "from": "0", "to": "ten", "width": "1"}, "policy.type"),
        ({"way": "width", "from": "0", "to": "10"}, "policy.column-domain"),
        ({"way": "breaks", "breaks": "3, 2"}, "policy.domain"),
        ({"way": "hierarchy", "hierarchy": "missing.csv", "level": "0"}, "policy.domain"),
    ],
)
def test_a_domain_is_refused_as_in_a_file(texts: dict[str, str], code: str, tmp_path: Path) -> None:
    with refuses(code):
        column_of(start("table").with_column("age", texts), "age", tmp_path)
