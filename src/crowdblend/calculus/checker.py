"""Re-derive a certificate from its leaves and refuse anything that does not follow.

The checker trusts the registered rules and nothing else. It reads from the document only rule ids, parameters
and the shape of the tree, computes every conclusion anew with outward rounding, and then compares the whole
document with the one it would have written itself. So an edit of anything derived is found: in a number, a word or
the order. Stated assumptions and facts are not derived; only the digest guards them, and it has no key.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from crowdblend.calculus.assumptions import Assumption
from crowdblend.calculus.certificate import FORMAT, Certificate, digest
from crowdblend.calculus.encoding import decode
from crowdblend.calculus.theorem import RULES, Derivation
from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput

DEEPEST = 60
MOST_STEPS = 500
# Two levels of JSON per step, and some for what surrounds them.
DEEPEST_JSON = 2 * DEEPEST + 80


def verify(text: str) -> Certificate:
    """The certificate that a JSON text states, re-derived; raises DoesNotVerify when anything is off."""
    document = _read(text)
    if set(document) != {"format", "promises", "assumptions", "stated", "facts", "digest"}:
        raise DoesNotVerify(
            "a certificate must have exactly its six parts, and this one does not; ask for the original."
        )
    if document["format"] != FORMAT:
        raise DoesNotVerify(
            f"the format must be {FORMAT!r}, got {document['format']!r}; use the version that wrote it."
        )
    if digest({name: part for name, part in document.items() if name != "digest"}) != document["digest"]:
        raise DoesNotVerify("the digest must match the content, and it does not: the certificate was edited.")
    if not isinstance(document["facts"], dict):
        raise DoesNotVerify("the facts must be names with values, and they are something else.")
    try:
        steps = count(1)
        certificate = Certificate(
            promises=tuple(_derive(promise["derivation"], steps) for promise in document["promises"]),
            stated=tuple(Assumption[name] for name in document["stated"]),
            facts=document["facts"],
        )
    except InvalidInput as refused:
        raise DoesNotVerify(str(refused)) from refused
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise DoesNotVerify(
            "every step must have a rule, parameters, premises and a conclusion; one does not."
        ) from problem
    rebuilt = certificate.to_dict()
    difference = _first_difference(rebuilt, document, "certificate")
    if difference:
        raise DoesNotVerify(
            f"{difference} must be what the derivation gives, and it is not: the certificate was edited."
        )
    return certificate


def verify_file(path: Path) -> Certificate:
    """Verify a certificate file, or a release folder: its certificate and the hash of every file in it."""
    if path.is_dir():
        certificate = verify_file(path / "certificate.json")
        _check_files(path, certificate.facts.get("files", {}))
        return certificate
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"the certificate must be a readable file, got {path}; pass its path.") from problem
    return verify(text)


def sha256_of(path: Path) -> str:
    """The hash of a file, as certificates state it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_files(folder: Path, stated: Any) -> None:
    if not isinstance(stated, dict):
        raise DoesNotVerify("the facts must list the files of the release with their hashes, and they do not.")
    found = {file.name for file in folder.iterdir()} - {"certificate.json", "report.html"}
    if found != set(stated):
        raise DoesNotVerify("the folder must hold exactly the files that the certificate lists, and it does not.")
    for name, expected in stated.items():
        if not (folder / name).is_file() or sha256_of(folder / name) != expected:
            raise DoesNotVerify(f"{name} must be the file that was certified, and it is not: it was edited.")


def _derive(node: dict[str, Any], steps: Iterator[int], depth: int = 0) -> Derivation:
    if depth > DEEPEST:
        raise DoesNotVerify(f"a derivation must be at most {DEEPEST} steps deep, and this one is deeper.")
    if next(steps) > MOST_STEPS:
        raise DoesNotVerify(f"a certificate must have at most {MOST_STEPS} steps, and this one has more.")
    rule = RULES.get(node["rule"])
    if rule is None:
        raise DoesNotVerify(f"every step must use a known rule, got {node['rule']!r}; it may need a newer crowdblend.")
    premises = tuple(_derive(premise, steps, depth + 1) for premise in node["premises"])
    try:
        derivation = rule(*premises, **node["parameters"])
    except DoesNotVerify:
        raise
    except CrowdblendError as refused:
        raise DoesNotVerify(f"the step {rule.id} must apply to its premises, and it does not: {refused}") from refused
    if _stated_conclusion(node) != derivation.conclusion:
        raise DoesNotVerify(f"the conclusion of {rule.id} must be what the rule gives, and it is not.")
    return derivation


def _stated_conclusion(node: dict[str, Any]) -> Any:
    try:
        return decode(node["conclusion"])
    except InvalidInput as refused:
        raise DoesNotVerify(f"every conclusion must be a guarantee, and one is not: {refused}") from refused


def _read(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput("a certificate must be a JSON file; this is something else or damaged.") from problem
    if not isinstance(document, dict):
        raise InvalidInput("a certificate must be a JSON object; this is something else.")
    if _deeper_than(document, DEEPEST_JSON):
        raise InvalidInput(f"a certificate must nest at most {DEEPEST_JSON} levels; this one nests deeper.")
    return document


def _deeper_than(document: Any, most: int) -> bool:
    level = [document]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    """A number that a double holds; −0.0 is refused, as it equals 0.0 but is written differently."""
    value = float(text)
    if math.isinf(value) or (value == 0 and text.startswith("-")):
        raise ValueError(text)
    return value


def _first_difference(mine: Any, theirs: Any, path: str) -> str | None:
    """Where two documents part, as a path of names; None when they are the same to the last type."""
    if type(mine) is not type(theirs):
        return path
    if isinstance(mine, dict):
        if list(mine) != list(theirs):
            return path
        pairs = [(mine[name], theirs[name], f"{path}.{name}") for name in mine]
    elif isinstance(mine, list):
        if len(mine) != len(theirs):
            return path
        pairs = [(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(mine, theirs, strict=True))]
    else:
        return None if mine == theirs else path
    return next((found for found in (_first_difference(*pair) for pair in pairs) if found), None)
