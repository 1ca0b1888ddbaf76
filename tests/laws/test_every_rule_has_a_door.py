"""Every rule that `verify` accepts can be met in a certificate: by a release, by `compose`, or by a documented call.

A rule that nothing applies would only widen what is trusted. The code that plans and certifies names its rules by
function or by id; `compose` and the ledger name theirs; the calls of docs/derivations.md are run, and every certificate
that they write down is verified.
"""

import ast
import doctest
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import crowdblend
from crowdblend.trusted.calculus import RULES, Certificate
from crowdblend.trusted.calculus.rules import composition

SOURCE = Path(crowdblend.__file__).parent
FUNCTIONS = {rule.function.__name__: rule_id for rule_id, rule in RULES.items()}
PAGE = SOURCE.parent.parent / "docs" / "derivations.md"


def rules_named_in(path: Path) -> Iterator[str]:
    """The rules that a file names: by the function, by the id, or by an id that is put together from its parts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # What a table looks up is met in a derivation, and not made.
    keys = {key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    for node in ast.walk(tree):
        if node in keys:
            continue
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
        if name in FUNCTIONS:
            yield FUNCTIONS[name]
        if isinstance(node, ast.Constant) and node.value in RULES:
            yield str(node.value)
        if isinstance(node, ast.JoinedStr):
            parts = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else "[a-z-]+" for one in node.values]
            if re.match(r"[a-z-]+\\\.", text := "".join(parts)):
                yield from (rule_id for rule_id in RULES if re.fullmatch(text, rule_id))


@cache
def of_releases() -> frozenset[str]:
    """The rules that are named where releases are planned, certified and entered in a ledger."""
    files = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    # A rule's own file names it; attacks, audits and the papers' tables publish nothing.
    used = [path for path in files if path.parts[:3] != ("trusted", "calculus", "rules") and path.parts[0] != "lab"]
    # They say how rules were checked, and what a guarantee means for several people.
    told = {"evidence.py", "description.py", "groups.py"}
    return frozenset(rule for path in used if path.name not in told for rule in rules_named_in(SOURCE / path))


@cache
def of_compose() -> frozenset[str]:
    """The rules that `compose` applies."""
    function = ast.parse(Path(composition.__file__).read_text(encoding="utf-8"))
    return frozenset(
        node.value
        for part in function.body
        if isinstance(part, ast.Assign | ast.FunctionDef) and not getattr(part, "decorator_list", None)
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and node.value in RULES
    )


@cache
def of_researchers() -> frozenset[str]:
    """The rules in the certificates that the documented calls write down, each of which verifies."""
    found: set[str] = set()
    names: dict[str, object] = {}
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), names, PAGE.name, str(PAGE), 0)
    usual = Certificate.to_json

    def noted(certificate: Certificate) -> str:
        found.update(step.rule.id for step in certificate.steps())
        return usual(certificate)

    Certificate.to_json = noted  # type: ignore[method-assign]
    try:
        assert doctest.DocTestRunner().run(test).failed == 0
    finally:
        Certificate.to_json = usual  # type: ignore[method-assign]
    return frozenset(found)


def test_every_rule_has_a_door() -> None:
    doors = of_releases() | of_compose() | of_researchers()
    assert sorted(RULES.keys() - doors) == []
    # None of the three is empty, so that each was looked through.
    assert min(map(len, (of_releases(), of_compose(), of_researchers()))) >= 5


def test_a_rule_without_a_door_would_be_found() -> None:
    """Those that only the documented calls apply are named nowhere else."""
    alone = of_researchers() - of_releases() - of_compose()
    assert {"graph.sampler.connected", "laplace.everybody", "dps.lower-rate", "zero-knowledge.group"} <= alone
