"""The page of every error code: its sentences and what to do, read off the places that raise them.

A refusal is a call that names its code: `InvalidInput(…, code="data.type")`, or a helper such as `refusal("type", …)`
whose own code is `f"policy.{code}"`. Sentences are templates: what depends on the case is shown as …
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import crowdblend
from crowdblend.errors import CrowdblendError
from crowdblend.notation import TOML, spell
from crowdblend.policies.key import Section
from crowdblend.policies.registry import KINDS, part
from crowdblend.policies.rules import KeyRule

ROOT = Path(crowdblend.__file__).parent
HEAD = """# Errors by code, and what to do

Generated from the code. Every refusal has a code that keeps its meaning, while sentences may be improved: `--json`
prints `{"error": {"code", "where", "message", "remedy"}}`, and in Python it is `error.code`. Search this page for the
code, or for words of the sentence; what depends on your case is shown as "…", and what to do in italics. Values of your
rows are in no message; `crowdblend check policy.toml` shows them [to you alone](sources.md#check-your-rows).
"""
FAMILIES = {
    "policy": "what a policy says",
    "data": "what an engine reads",
    "plan": "what cannot be planned",
    "command": "options of commands",
    "limit": "limits of a ledger",
    "approval": "approvals in a ledger",
    "ledger": "the ledger",
}
MOST = 3
# What stands in a template for what depends on the case: a name, so that keys are found around it.
_CASE = "depends_on_the_case"
Sentence = tuple[str, str]


@dataclass(frozen=True)
class Helper:
    """A function that makes errors: how their code begins, and where its arguments stand."""

    prefix: str
    parameters: tuple[str, ...]
    message: ast.expr | None
    remedy: ast.expr | None


def page() -> str:
    """The page: a list for every family of codes."""
    found = sentences()
    families = {code.partition(".")[0] if "." in code else "" for code in found}
    order = [*(name for name in FAMILIES if name in families), *sorted(families - {*FAMILIES, ""}), ""]
    return "\n".join([HEAD, *(_family(name, found) for name in order)])


def _family(family: str, found: dict[str, list[Sentence]]) -> str:
    words = f": {FAMILIES[family]}" if family in FAMILIES else ""
    title = f"{family}{words}" if family else "Codes of one word"
    lines = [f"## {title}\n"]
    for code in sorted(code for code in found if (code.partition(".")[0] if "." in code else "") == family):
        texts = [
            f"{_spelled(message) or '…'} {f'*{_spelled(remedy)}*' if remedy else ''}".rstrip()
            for message, remedy in found[code][:MOST]
        ]
        own = f" {texts[0]}" if len(texts) == 1 else "".join(f"\n  - {text}" for text in texts)
        lines.append(f"- `{code}`:{own}")
    return "\n".join([*lines, ""])


@cache
def sentences() -> dict[str, list[Sentence]]:
    """Every code with the sentences that it comes with, each once, in the order of the files; keys in backticks."""
    found: dict[str, dict[Sentence, None]] = defaultdict(dict)
    for code, message, remedy in [*_raised(), *_declared(), *_classes()]:
        found[code][_tidy(message), _tidy(remedy)] = None
    return {code: [one for one in own if one[0]] or list(own) for code, own in found.items()}


def _spelled(text: str) -> str:
    """A sentence with its keys as policy files have them, also where they depend on the case."""
    return spell(text.replace("…", _CASE), TOML).replace(_CASE, "…")


def _tidy(text: str) -> str:
    text = re.sub(r"(…[\s,]*)+…", "…", text.replace("<", "&lt;").replace("*", "\\*").replace("\n", " ")).strip()
    return text if text.strip(" .…") else ""


def _classes() -> Iterator[tuple[str, str, str]]:
    """The codes of errors that have none of their own, by class."""
    kinds = [CrowdblendError]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        if "usual_code" in vars(kind) and kind is not CrowdblendError:
            yield kind.usual_code, (kind.__doc__ or "").partition("\n")[0], "Do what its own last sentence says."


def _declared() -> Iterator[tuple[str, str, str]]:
    """What policies declare about keys that exclude or need each other, whichever kinds were loaded before."""
    for kind in KINDS:
        part(kind, "policy")
    classes = [Section]
    for holder in classes:
        classes.extend(sorted(holder.__subclasses__(), key=lambda one: (one.__module__, one.__qualname__)))
        for rule in vars(holder).get("rules", ()):
            remedy = "Give exactly one of them." if rule.relation == "one of" else "Add or remove the key."
            yield f"policy.{rule.code}", _rule(rule), remedy


def _rule(rule: KeyRule) -> str:
    first, *others = (name.replace(".", " ") for name in rule.keys)
    words = {"conflicts": "excludes", "needs": "needs", "one of": "or"}[rule.relation]
    listed = f" {words} {' or '.join(others)}" if others else " is not possible here"
    return f"{first}{listed}{f': {rule.because}' if rule.because else ''}."


@cache
def _nodes(within: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes of a tree, found once: each is looked through several times."""
    return tuple(ast.walk(within))


def _raised() -> Iterator[tuple[str, str, str]]:
    """What the sources raise with a code, as templates."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(ROOT.rglob("*.py"))}
    helpers = {file: _helpers(tree) for file, tree in trees.items()}
    for file, tree in trees.items():
        known = {**_imported(tree, helpers), **helpers[file]}
        known |= _wrappers(tree, known)
        for function in _nodes(tree):
            if isinstance(function, ast.FunctionDef):
                for call in _nodes(function):
                    if isinstance(call, ast.Call) and (_name(call) in known or _keyword(call, "code") is not None):
                        yield from _sentence(call, known, _assigned(function, call.lineno))


def _helpers(tree: ast.Module) -> dict[str, Helper]:
    """Functions of a file whose errors have a code with a parameter of theirs in it."""
    found = {}
    for function in _nodes(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        parameters = tuple(one.arg for one in function.args.args if one.arg != "self")
        for call in _nodes(function):
            code = _keyword(call, "code") if isinstance(call, ast.Call) else None
            if isinstance(code, ast.JoinedStr) and isinstance(code.values[0], ast.Constant) and "code" in parameters:
                assert isinstance(call, ast.Call)
                remedy = _keyword(call, "remedy")
                found[function.name] = Helper(str(code.values[0].value), parameters, call.args[0], remedy)
    return found


def _wrappers(tree: ast.Module, known: dict[str, Helper]) -> dict[str, Helper]:
    """Functions of a file that hand their own parameter `code` on to a helper."""
    found = {}
    for function in _nodes(tree):
        if isinstance(function, ast.FunctionDef) and function.name not in known:
            parameters = tuple(one.arg for one in function.args.args if one.arg != "self")
            for call in _nodes(function):
                helper = known.get(_name(call)) if isinstance(call, ast.Call) else None
                if helper is not None and isinstance(call, ast.Call) and "code" in parameters:
                    given = dict(zip(helper.parameters, call.args, strict=False))
                    if isinstance(given.get("code"), ast.Name):
                        found[function.name] = Helper(helper.prefix, parameters, given["message"], given["remedy"])
    return found


def _imported(tree: ast.Module, helpers: dict[Path, dict[str, Helper]]) -> dict[str, Helper]:
    """The helpers that a file takes from others."""
    found = {}
    for node in _nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("crowdblend"):
            file = ROOT.parent / f"{node.module.replace('.', '/')}.py"
            for name in node.names:
                if name.name in helpers.get(file, {}):
                    found[name.asname or name.name] = helpers[file][name.name]
    return found


def _assigned(function: ast.FunctionDef, line: int) -> dict[str, ast.expr]:
    """What names of a function were last given before a line."""
    found: dict[str, tuple[int, ast.expr]] = {}
    for node in _nodes(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and node.lineno < line:
            names, values = (
                (node.targets[0].elts, node.value.elts)
                if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
                else ([node.targets[0]], [node.value])
            )
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and node.lineno >= found.get(name.id, (0, value))[0]:
                    found[name.id] = node.lineno, value
    return {name: value for name, (_, value) in found.items()}


def _sentence(call: ast.Call, known: dict[str, Helper], names: dict[str, ast.expr]) -> Iterator[tuple[str, str, str]]:
    own = _keyword(call, "code")
    remedy = _keyword(call, "remedy")
    name = _name(call)
    for code in _constants(own) if call.args and name[:1].isupper() else ():
        yield code, *_split(_text(call.args[0], names), _text(remedy, names))
    helper = known.get(name)
    if helper is not None:
        given = dict(zip(helper.parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        texts: dict[str, ast.expr] = {name: ast.Constant(_text(value, names)) for name, value in given.items()}
        for code in _constants(given.get("code")):
            yield f"{helper.prefix}{code}", *_split(_text(helper.message, texts), _text(helper.remedy, texts))


def _split(message: str, remedy: str) -> Sentence:
    """A text without a remedy ends with it, as errors have it."""
    parts = re.split(r"(?<=[.?!]) (?=[A-Z])", message)
    return (" ".join(parts[:-1]), parts[-1]) if not remedy and len(parts) > 1 else (message, remedy)


def _constants(node: ast.expr | None) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "id", "") or getattr(call.func, "attr", ""))


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _text(node: ast.AST | None, names: dict[str, ast.expr], depth: int = 4) -> str:
    """A text as a template."""
    match node if depth else None:
        case ast.Constant(value=str(text)):
            found = text
        case ast.JoinedStr(values=parts):
            found = "".join(_text(part, names, depth) for part in parts)
        case ast.FormattedValue(value=ast.Name() as inside):
            found = _text(inside, names, depth)
        case ast.Name(id=name) if name in names:
            found = _text(names[name], {other: value for other, value in names.items() if other != name}, depth - 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = _text(left, names, depth) + _text(right, names, depth)
        case ast.IfExp(body=inside) | ast.Call(func=ast.Name(id="_cut"), args=[inside, *_]):
            found = _text(inside, names, depth)
        case None | ast.Constant(value=None):
            found = ""
        case _:
            found = "…"
    return found
