"""How the source is written: refusals with codes, no refrains, imports at the top, docstrings on everything public."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import crowdblend
from crowdblend import errors

SOURCE = Path(crowdblend.__file__).parent
REFUSALS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
# Here every refusal has a code and a place of its own; the trusted base names the parameter in its message.
STRUCTURED = (
    "api",
    "cli",
    "engines",
    "kinds",
    "ledger",
    "mechanisms",
    "networks",
    "planning",
    "policies",
    "publishing",
    "randomness",
    "reading",
    "recoding",
    "reports",
    "selection",
    "signatures",
    "studio",
)
REFRAINS = re.compile(
    r"must [^.\"]*, and (is|are|has|have|does|do)( not\b| none\b| other|\.)"
    r"|NOBODY_|Nobody wants|THEORY [0-9]|\bis not there\b"
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file of the source, read when a test first asks: not where tests are only collected."""
    return {file.relative_to(SOURCE): ast.parse(file.read_text()) for file in sorted(SOURCE.rglob("*.py"))}


def test_refusals_have_a_code_and_a_place() -> None:
    bare = [
        f"{file}:{call.lineno}"
        for file, tree in trees().items()
        if file.parts[0] in STRUCTURED
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REFUSALS
        if not {"code", "where"} <= {keyword.arg for keyword in call.keywords}
    ]
    assert bare == []


def test_imports_stand_at_the_top_of_a_file() -> None:
    inside = [
        f"{file}:{node.lineno}"
        for file, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, DEFINITIONS)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_a_code_is_words_in_lower_case() -> None:
    codes = [
        str(keyword.value.value)
        for tree in trees().values()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    ]
    assert len(codes) > 50
    assert [code for code in codes if not re.fullmatch(r"([a-z]+\.)?[a-z]+(-[a-z]+)*", code)] == []


def test_no_refrains() -> None:
    texts = {str(file): ast.unparse(tree) for file, tree in trees().items()}
    assert len(texts) > 200
    assert {file: found[0] for file, text in texts.items() if (found := REFRAINS.search(text))} == {}


def test_the_search_for_refrains_finds_them() -> None:
    for sentence in ("x must be y, and is not.", "the data must have rows, and have none.", "Choosing is not there."):
        assert REFRAINS.search(sentence)


def test_everything_public_has_a_docstring() -> None:
    documented = {
        (owner.name, one.name)
        for owner in classes()
        for one in owner.body
        if isinstance(one, DEFINITIONS) and ast.get_docstring(one)
    }
    bases = {owner.name: [base_name(base) for base in owner.bases] for owner in classes()}

    def inherits(owner: str, name: str) -> bool:
        return any((base, name) in documented or inherits(base, name) for base in bases.get(owner, ()) if base != owner)

    silent = [
        f"{file}:{one.lineno} {one.name}"
        for file, tree in trees().items()
        for owner, one in definitions(tree)
        if not ast.get_docstring(one) and not (owner and inherits(owner, one.name))
    ]
    assert silent == []


def classes() -> Iterator[ast.ClassDef]:
    """Every class of the source."""
    for tree in trees().values():
        yield from (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))


def base_name(base: ast.expr) -> str:
    """The name of a base class, without its module and parameters."""
    if isinstance(base, ast.Subscript):
        base = base.value
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def definitions(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """What is public in a module or class, with the name of its class; overloads are described by what follows them."""
    for one in tree.body:
        if not isinstance(one, (*DEFINITIONS, ast.ClassDef)) or one.name.startswith("_"):
            continue
        if any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in one.decorator_list):
            continue
        yield tree.name if isinstance(tree, ast.ClassDef) else "", one
        if isinstance(one, ast.ClassDef):
            yield from definitions(one)
