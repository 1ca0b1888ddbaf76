"""Guarantees as plain JSON and back, and a certificate's JSON read with bounds on what that may cost."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.trusted.calculus.folder_files import printable
from crowdblend.trusted.guarantees import aggregates, privacy, profiles, programme, statement_curves, utility
from crowdblend.trusted.guarantees.parameters import CheckedFields
from crowdblend.trusted.machine.regular_files import read_regular

Document = dict[str, Any]
# Two hundred times a usual certificate. Parsed, JSON of this size takes at most some 300 MB.
MOST_BYTES = 4 * 2**20
DEEPEST_JSON = 200
_KINDS: dict[str, type[CheckedFields]] = {
    name: kind
    for module in (aggregates, privacy, profiles, programme, statement_curves, utility)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, CheckedFields) and is_dataclass(kind) and name[0] != "_"
}
_FIELDS = {kind: {field.name for field in fields(kind)} for kind in _KINDS.values()}  # type: ignore[arg-type]
_RELATIONS = [relation.value for relation in privacy.Relation]


def encode(value: object) -> Any:
    """Return a value as JSON: a frozen value becomes an object that names its kind."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        named = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **named}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    return value


def decode(document: object) -> Any:
    """Return the frozen value that a JSON object describes."""
    if isinstance(document, list):
        return tuple(decode(item) for item in document)
    if not isinstance(document, dict):
        return document
    named = {name: decode(item) for name, item in document.items() if name != "kind"}
    kind = _KINDS.get(str(document.get("kind")))
    if kind is None or named.keys() != _FIELDS[kind]:
        raise DoesNotVerify("A guarantee is of an unknown kind, or lacks a field.")
    if "relation" in named:
        if named["relation"] not in _RELATIONS:
            raise DoesNotVerify(f"A relation is none of {', '.join(_RELATIONS)}.")
        named["relation"] = privacy.Relation(named["relation"])
    return kind(**named)


def read_text(path: Path) -> str:
    """Return the text of a certificate file."""
    try:
        return read_regular(path, MOST_BYTES).decode("utf-8")
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        message = f"{printable(str(path))} is not readable as a certificate: {why}."
        remedy = "Pass its path."
        raise InvalidInput(
            message, remedy=remedy, where=printable(str(path)), code="certificate.unreadable"
        ) from problem


def parse(text: str) -> Document:
    """The JSON object in a text; refuses names that occur twice, numbers that no double holds, and deep nesting."""
    # A text has at least as many bytes as characters.
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"The certificate has more than {MOST_BYTES:,} bytes.")
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(
            "This is no certificate, or a damaged one. Name the folder of a release, or its certificate.json.",
            where="certificate",
        ) from problem
    if not isinstance(document, dict):
        raise InvalidInput("The certificate is not a JSON object.")
    if _deeper_than(document, DEEPEST_JSON):
        raise InvalidInput(f"The certificate nests deeper than {DEEPEST_JSON} levels.")
    return document


def _deeper_than(document: object, most: int) -> bool:
    level = [document]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _unique(pairs: list[tuple[str, object]]) -> Document:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name occurs twice")
    return named


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float:
    """Return a number that a double holds; −0.0 is refused, as it equals 0.0 but is written differently."""
    value = float(text)
    if math.isinf(value) or (value == 0 and text.startswith("-")):
        raise ValueError(text)
    return value
