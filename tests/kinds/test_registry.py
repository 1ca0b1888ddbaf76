"""The registry is the only list of kinds, and every kind has a folder with its parts."""

import ast
from inspect import signature
from pathlib import Path

import pytest

import crowdblend
from crowdblend.errors import InvalidInput
from crowdblend.kinds import ReleasePlan, plan
from crowdblend.kinds.shared.facts import read_facts, to_json
from crowdblend.policies.load import parse_policy
from crowdblend.policies.registry import KINDS, is_kind, kind_of, part
from tests.cases import for_each
from tests.golden.releases import POLICIES

# The parts of a kind, and what each must offer.
PARTS = {"plan": "method", "view": "view", "verify": "check", "rehearse": "subject"}
SOURCE = Path(crowdblend.__file__).parent


def folder(kind: str) -> str:
    return kind.replace("-", "_")


@for_each("kind", KINDS)
@for_each(("name", "offers"), PARTS.items())
def test_every_kind_has_its_parts(kind: str, name: str, offers: str) -> None:
    assert callable(getattr(part(kind, name), offers))


@for_each("kind", KINDS)
def test_every_kind_has_a_policy_and_facts_of_its_own(kind: str) -> None:
    policy = parse_policy(POLICIES[kind]).only
    whole = plan(policy).facts()
    facts = whole.publications.get(kind, whole)  # synthetic rows stand beside their tables
    for own, name in ((policy, "policy"), (facts, "facts")):
        assert own.kind == kind
        # Of a kind with several methods, the facts of each are facts of the kind.
        assert f"{kind.title().replace('-', '')}{name.title()}" in [one.__name__ for one in type(own).__mro__]
        assert type(own).__module__ == f"{kind_of(kind).package}.{name}"
    assert read_facts(to_json(whole)) == whole


@for_each("kind", KINDS)
def test_every_kind_has_a_plan_of_three_typed_steps(kind: str) -> None:
    planned = plan(parse_policy(POLICIES[kind]))
    assert isinstance(planned, ReleasePlan)
    assert type(planned).__name__.endswith("Plan")
    assert type(planned).__module__.startswith(f"{kind_of(kind).package}.")
    read, publish = signature(type(planned).read), signature(type(planned).publish)
    assert list(read.parameters) == ["self", "engine", "key", "progress", "draw"]
    assert list(publish.parameters) == ["self", "reading", "key", "progress"]
    # Plans of several methods may publish what each of them reads.
    assert publish.parameters["reading"].annotation in (read.return_annotation, "ReadingT")
    assert publish.return_annotation == "Result"


def test_no_other_file_lists_the_kinds() -> None:
    """A second list would be a second place to forget a kind in: most kinds in one literal are such a list."""
    names = {*KINDS, *map(folder, KINDS)}
    lists = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if sum(name in text for name in names) < len(KINDS) - 1:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
                # Rows of a table, and calls that make them, lie within the literal.
                texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                if len(texts & names) >= len(KINDS) - 1:
                    lists.append(path.relative_to(SOURCE).as_posix())
    assert lists == ["policies/registry.py"]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        kind_of("sculpture")
    assert refused.value.code == "policy.kind"
    assert not is_kind("sculpture")
