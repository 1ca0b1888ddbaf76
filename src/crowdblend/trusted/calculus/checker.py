"""Re-derive a certificate from its leaves and refuse anything that does not follow.

The checker trusts the registered rules and nothing else. It reads from the document only rule ids, parameters
and the shape of the tree, computes every conclusion anew with outward rounding, and then compares the whole
document with the one it would have written itself. So an edit of anything derived is found. Stated assumptions and
facts are not derived; only the digest guards them, and it has no key.

`verify` proves the derivations. That the data beside a certificate are the certified ones only `verify_folder` checks.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput
from crowdblend.trusted.calculus.assumptions import Assumption
from crowdblend.trusted.calculus.certificate import FORMAT, Certificate, digest
from crowdblend.trusted.calculus.encoding import Document, decode, parse, read_text
from crowdblend.trusted.calculus.folder_files import CERTIFICATE, check_files
from crowdblend.trusted.calculus.theorem import RULES, Derivation
from crowdblend.trusted.guarantees.parameters import check_type
from crowdblend.trusted.guarantees.privacy import CrowdBlending
from crowdblend.trusted.guarantees.profiles import Profile

Derivations = tuple[Derivation, ...]
DEEPEST = 60
MOST_STEPS = 500
# Steps that only name a mechanism or a curve cost nothing, and a series has as many as it has releases.
MOST_NAMES = 10_000
NAMING = (CrowdBlending, Profile)
PARTS = {"format", "guarantees", "release", "assumptions", "stated", "derivations", "facts", "digest"}


def verify(text: str) -> Certificate:
    """Return the certificate that a JSON text states, re-derived; raise DoesNotVerify when anything is off.

    The data are not looked at.
    """
    document = sealed(text)
    return certificate_of(document, lambda: _steps_of(document))


def sealed(text: str) -> Document:
    """Return the parts of a certificate, whose digest holds; nothing is derived."""
    check_type("verify", text, str, "the JSON text of a certificate")
    document = parse(text)
    if document.get("format") != FORMAT:
        raise DoesNotVerify(f"The format must be {FORMAT!r}. Use the version that wrote this certificate.")
    if set(document) != PARTS:
        raise DoesNotVerify(f"A certificate has exactly {len(PARTS)} parts, and this one has others.")
    if digest({name: part for name, part in document.items() if name != "digest"}) != document["digest"]:
        raise DoesNotVerify("The digest does not match the content: the certificate was edited.")
    if not isinstance(document["facts"], dict):
        raise DoesNotVerify("The facts are not names with values.")
    return document


def certificate_of(document: Document, derive: Callable[[], Derivations]) -> Certificate:
    """Return the certificate with these derivations, if it is the one that the parts of a certificate state."""
    try:
        certificate = Certificate(
            derivations=derive(),
            stated=tuple(Assumption[name] for name in document["stated"]),
            facts=document["facts"],
        )
    except InvalidInput as refused:
        raise DoesNotVerify(str(refused)) from refused
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise DoesNotVerify("A step lacks a rule, parameters, premises or a conclusion.") from problem
    difference = _first_difference(certificate.to_dict(), document, "certificate")
    if difference:
        raise DoesNotVerify(f"{difference} is not what the derivation gives: the certificate was edited.")
    return certificate


def verify_file(path: Path) -> Certificate:
    """Verify a certificate file, without its data, or a release folder with them."""
    return verify_folder(path) if path.is_dir() else verify(read_text(path))


def verify_folder(folder: Path) -> Certificate:
    """Verify a release folder: its certificate, and that every file it lists is the certified one."""
    certificate = verify(read_text(folder / CERTIFICATE))
    check_files(folder, certificate.facts.get("files", {}))
    return certificate


def sha256_of(path: Path) -> str:
    """Return the hash of a file, as certificates state it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _steps_of(document: Document) -> Derivations:
    """Return the derivations that a document writes down, each step applied anew."""
    steps: Counter[bool] = Counter()
    return tuple(_derive(tree, steps) for tree in document["derivations"])


def _derive(node: Document, steps: Counter[bool], depth: int = 0) -> Derivation:
    """Return a step with all that it rests on; `steps` counts those that only name something, and the others."""
    if depth > DEEPEST:
        raise DoesNotVerify(f"A derivation is more than {DEEPEST} steps deep.")
    rule = RULES.get(node["rule"])
    if rule is None:
        raise DoesNotVerify("A step uses an unknown rule. It may need a newer crowdblend.")
    naming = rule.conclusion in NAMING
    steps[naming] += 1
    if steps[naming] > (most := MOST_NAMES if naming else MOST_STEPS):
        raise DoesNotVerify(f"The certificate has more than {most} steps.")
    premises = tuple(_derive(premise, steps, depth + 1) for premise in node["premises"])
    try:
        derivation = rule(*premises, **node["parameters"])
    except DoesNotVerify:
        raise
    except CrowdblendError as refused:
        raise DoesNotVerify(f"The step {rule.id} does not apply to its premises: {refused}") from refused
    if _stated_conclusion(node) != derivation.conclusion:
        raise DoesNotVerify(f"The conclusion of {rule.id} is not what the rule gives.")
    return derivation


def _stated_conclusion(node: Document) -> object:
    try:
        return decode(node["conclusion"])
    except InvalidInput as refused:
        raise DoesNotVerify(f"A conclusion is not a guarantee: {refused}") from refused


def _first_difference(mine: object, theirs: object, path: str) -> str | None:
    """Return the path at which two documents differ; None if they are equal, types included."""
    if mine is theirs:
        return None
    if type(mine) is not type(theirs):
        return path
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if set(mine) != set(theirs):
            return path
        pairs = [(mine[name], theirs[name], f"{path}.{name}") for name in mine]
    elif isinstance(mine, list) and isinstance(theirs, list):
        if len(mine) != len(theirs):
            return path
        pairs = [(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(mine, theirs, strict=True))]
    else:
        return None if mine == theirs else path
    return next((found for found in (_first_difference(*pair) for pair in pairs) if found), None)
