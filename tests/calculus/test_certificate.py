"""Certificates survive a round trip, and no single edit survives the checker."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdblend import plan, verify
from crowdblend.calculus import RULES, Certificate, verify_file
from crowdblend.calculus.certificate import digest
from crowdblend.errors import DoesNotVerify, InvalidInput

PLANS = {
    "suppression": {"rate": 0.1, "k": 20, "epsilon": 0.5},
    "below -ln(1-rate)": {"rate": 0.5, "k": 30, "epsilon": 0.1},
    "noise": {"rate": 0.1, "k": 20, "epsilon": 1.0, "blend_epsilon": 0.5},
    "biased": {"low": 0.08, "high": 0.12, "exceptions": 1, "max_rate": 0.12, "k": 15, "epsilon": 1.0},
}


@pytest.fixture(params=PLANS, ids=list(PLANS))
def document(request: pytest.FixtureRequest) -> dict:
    return json.loads(plan(**PLANS[request.param]).certificate().to_json())


def leaves(node: object, path: tuple = ()) -> list[tuple]:
    """Every place in a document that holds a number, a word or a flag."""
    if isinstance(node, dict):
        return [leaf for name, item in node.items() for leaf in leaves(item, (*path, name))]
    if isinstance(node, list):
        return [leaf for index, item in enumerate(node) for leaf in leaves(item, (*path, index))]
    return [path]


def at(document: dict, path: tuple) -> object:
    for step in path:
        document = document[step]
    return document


def edited(document: dict, path: tuple, value: object) -> dict:
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value * (1 - 2**-50) if value else 1e-9
    if isinstance(value, int):
        return value + 1
    return f"{value} " if isinstance(value, str) else "something"


def resealed(document: dict) -> str:
    """The document with a digest that fits: an editor who knows how the digest is made."""
    body = {name: part for name, part in document.items() if name != "digest"}
    return json.dumps({**body, "digest": digest(body)})


def test_round_trip(document: dict) -> None:
    certificate = verify(json.dumps(document))
    assert certificate.to_dict() == document
    assert [g.strength for g in certificate.guarantees] == sorted(
        (g.strength for g in certificate.guarantees), reverse=True
    )


def test_any_single_edit_is_refused(document: dict) -> None:
    for path in leaves(document):
        with pytest.raises(DoesNotVerify):
            verify(json.dumps(edited(document, path, other(at(document, path)))))


def test_edited_numbers_and_words_are_refused_even_with_a_fitting_digest(document: dict) -> None:
    """Beyond the digest: what the checker recomputes cannot be edited at all, one place at a time."""
    # A parameter may be edited only into another true derivation, with the same conclusions.
    derived = [path for path in leaves(document) if path[0] not in ("digest", "stated") and "parameters" not in path]
    assert len(derived) > 30
    for path in derived:
        with pytest.raises(DoesNotVerify):
            verify(resealed(edited(document, path, other(at(document, path)))))


def test_removed_and_reordered_parts_are_refused(document: dict) -> None:
    for name in document:
        with pytest.raises(DoesNotVerify):
            verify(json.dumps({part: value for part, value in document.items() if part != name}))
    backwards = {**document, "promises": document["promises"][::-1]}
    with pytest.raises(DoesNotVerify):
        verify(resealed(backwards))
    fewer = {**document, "assumptions": document["assumptions"][1:]}
    with pytest.raises(DoesNotVerify):
        verify(resealed(fewer))


def test_the_others_are_shown() -> None:
    node = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_dict()["promises"][0]["derivation"]["premises"][0]
    assert node["rule"] == "choice.sampling"
    assert [premise["rule"] for premise in node["premises"]] == [
        "suppression.exact",
        "suppression.published",
        "blending.explicit",
    ]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{", '{"format": 1, "format": 1}', '{"x": NaN}', "[" * 100_000],
    ids=["empty", "list", "null", "half", "twice", "nan", "deep"],
)
def test_not_a_certificate(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        verify(text)
    assert "\n" not in str(refused.value)


def test_unknown_rules_and_endless_trees_are_refused(document: dict) -> None:
    path = ("promises", 0, "derivation")
    with pytest.raises(DoesNotVerify, match="known rule"):
        verify(resealed(edited(document, (*path, "rule"), "wishful.thinking")))
    node = at(document, path)
    for _ in range(80):
        node = {**node, "premises": [node]}
    with pytest.raises(DoesNotVerify, match="deep"):
        verify(resealed(edited(document, path, node)))


def test_a_certificate_must_promise_something() -> None:
    with pytest.raises(DoesNotVerify, match="promise"):
        verify(Certificate(()).to_json())


def test_files_and_folders(tmp_path: Path) -> None:
    text = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_json()
    (tmp_path / "certificate.json").write_text(text, encoding="utf-8")
    assert verify_file(tmp_path).to_json() == verify_file(tmp_path / "certificate.json").to_json() == text
    with pytest.raises(InvalidInput, match="readable"):
        verify_file(tmp_path / "missing.json")


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    k=st.integers(1, 2000),
    rate=st.floats(1e-4, 0.99),
    epsilon=st.floats(1e-3, 10),
    blend=st.sampled_from([0.0, 0.0, 0.3, 2.0]),
)
def test_every_plan_verifies(k: int, rate: float, epsilon: float, blend: float) -> None:
    try:
        planned = plan(k=k, rate=rate, epsilon=epsilon, blend_epsilon=blend)
    except InvalidInput:
        assert blend > 0
        return
    assert verify(planned.certificate().to_json()).guarantees[0].delta <= planned.delta


def test_every_rule_has_a_distinct_id() -> None:
    assert len(RULES) == len({rule.id for rule in RULES.values()}) >= 55
