"""The registry is the only list of kinds, and every kind has a module of its name in every layer."""

from __future__ import annotations

import ast
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import crowdblend
from crowdblend.errors import InvalidInput
from crowdblend.kinds import KINDS, ReleasePlan, plan
from crowdblend.kinds.registry import file_name
from crowdblend.policies.load import parse_policy
from tests.cases import for_each
from tests.golden.releases import POLICIES

# The layers that know kinds, and what a kind's module must offer there.
PARTS = {
    "kinds": "plan",
    "rehearsal": "subject",
    "reports.views": "view",
    "publishing.verification": "check",
}
SOURCE = Path(crowdblend.__file__).parent


@for_each("kind", KINDS)
@for_each(("layer", "offers"), PARTS.items())
def test_every_kind_has_its_parts(kind: str, layer: str, offers: str) -> None:
    module = import_module(f"crowdblend.{layer}.{file_name(kind)}")
    assert callable(getattr(module, offers))


@for_each("kind", KINDS)
def test_every_kind_has_a_plan_of_three_typed_steps(kind: str) -> None:
    planned = plan(parse_policy(POLICIES[kind]))
    assert isinstance(planned, ReleasePlan)
    assert type(planned).__name__ == f"{kind.title().replace('-', '')}Plan"
    assert type(planned).__module__ == f"crowdblend.kinds.{file_name(kind)}"
    read, publish = signature(type(planned).read), signature(type(planned).publish)
    assert list(read.parameters) == ["self", "engine", "key", "progress"]
    assert list(publish.parameters) == ["self", "reading", "key", "progress"]
    assert read.return_annotation == publish.parameters["reading"].annotation
    assert publish.return_annotation == "Publication"


def test_no_other_file_lists_the_kinds() -> None:
    """A second list would be a second place to forget a kind in: most kinds in one literal are such a list."""
    names = {*KINDS, *map(file_name, KINDS)}
    lists = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if sum(name in text for name in names) < len(KINDS) - 1:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
                parts = node.keys if isinstance(node, ast.Dict) else node.elts
                texts = {part.value for part in parts if isinstance(part, ast.Constant)}
                if len(texts & names) >= len(KINDS) - 1:
                    lists.append(path.relative_to(SOURCE).as_posix())
    assert lists == ["policies/registry.py"]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InvalidInput):
        file_name("sculpture")
