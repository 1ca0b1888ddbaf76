"""Guarantees as plain JSON and back."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from crowdblend.errors import DoesNotVerify
from crowdblend.guarantees import aggregates, privacy, profiles, programme, strata, utility
from crowdblend.guarantees.parameters import CheckedFields

_KINDS: dict[str, type[CheckedFields]] = {
    name: kind
    for module in (aggregates, privacy, profiles, programme, strata, utility)
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
