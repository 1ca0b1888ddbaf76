"""Kinds and designs are places of their own: nobody looks up facts by text, or asks for a kind by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import crowdblend
from crowdblend.policies.registry import KINDS

SOURCE = Path(crowdblend.__file__).parent
# The trusted base reads one fact, which files there are, before anybody knows the kind.
BEFORE_KINDS = {"calculus/checker.py", "cli/verify.py"}


def nodes(word: str) -> Iterator[tuple[str, ast.AST]]:
    """Every node of the files in which the word is written."""
    for path in sorted(SOURCE.rglob("*.py")):
        if word in (text := path.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(text)):
                yield path.relative_to(SOURCE).as_posix(), node


def looks_up_facts(node: ast.AST) -> bool:
    """Whether it is facts["…"] or facts.get("…"), of whatever has facts."""
    if isinstance(node, ast.Subscript):
        found: ast.expr = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        found = node.func.value
    else:
        return False
    return (isinstance(found, ast.Attribute) and found.attr == "facts") or (
        isinstance(found, ast.Name) and found.id == "facts"
    )


def names_a_kind(node: ast.AST) -> bool:
    """Whether something is compared with the name of a kind."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    values = [
        one for side in sides for one in (side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side])
    ]
    named = any(isinstance(one, ast.Constant) and one.value in KINDS for one in values)
    return named and any("kind" in ast.unparse(side) for side in sides)


def test_nobody_looks_up_facts_by_text() -> None:
    found = {f"{path}:{node.lineno}" for path, node in nodes("facts") if looks_up_facts(node) and hasattr(node, "lineno")}
    assert {place for place in found if place.partition(":")[0] not in BEFORE_KINDS} == set()
    assert looks_up_facts(ast.parse('release.facts["k"]', mode="eval").body)
    assert looks_up_facts(ast.parse('facts.get("k")', mode="eval").body)


def test_nobody_compares_with_a_kind_s_name_outside_its_folder() -> None:
    found = {f"{path}:{node.lineno}" for path, node in nodes("kind") if names_a_kind(node) and hasattr(node, "lineno")}
    assert {place for place in found if not (place.startswith("kinds/") and place.count("/") > 1)} == set()
    assert names_a_kind(ast.parse('policy.kind in ("table", "points")', mode="eval").body)
