"""The JSON schema of a policy, for editors that complete and check TOML; made from the same declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import json

from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Key, Section, keys_of, parts_of, sections_of
from crowdblend.policies.registry import KINDS, policy_class

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DECIMAL = {"type": "string", "format": "decimal"}


def policy_schema() -> dict[str, Any]:
    """Return the schema, in JSON Schema draft 2020-12: what every kind has, and for each kind what it has not."""
    properties: dict[str, Any] = {name: _section(keys.values()) for name, keys in every_section().items()}
    for section in ("data", "release", "sampling"):
        # What one kind requires, another may not have.
        properties[section]["required"] = ["kind"] if section == "release" else []
    properties["release"]["properties"]["kind"] = {"enum": list(KINDS), "description": "What is published."}
    for name, (meaning, keys) in every_list().items():
        made = {"type": "array", "description": meaning, "items": _section(keys.values())}
        outer, _, inner = name.partition(".")
        if inner:
            properties[outer]["properties"][inner] = {**made, "minItems": 1}
        else:
            properties[name] = made
    domains: list[type[Section]] = [*DOMAINS.values(), AxisDomain]
    properties["columns"] = {
        "type": "object",
        "description": "The published columns; domains are declared, never read off the data.",
        "minProperties": 1,
        "additionalProperties": {"oneOf": [_section(keys_of(one).values()) for one in domains]},
    }
    return {
        "$schema": _DIALECT,
        "title": "crowdblend policy",
        "type": "object",
        "properties": properties,
        "required": ["data", "release"],
        "additionalProperties": False,
    }


def every_section() -> dict[str, dict[str, Key]]:
    """Return the sections of all kinds with all their keys, by name in TOML."""
    found: dict[str, dict[str, Key]] = {}
    for policy in map(policy_class, KINDS):
        parts = (part for part in parts_of(policy).values() if not part.many)
        for name, keys in (*sections_of(policy).items(), *((part.name, keys_of(part.holder)) for part in parts)):
            for key in keys.values():
                known = found.setdefault(name, {}).get(key.name)
                if known is None or len(known.choices) < len(key.choices):
                    found[name][key.name] = key
    return found


def every_list() -> dict[str, tuple[str, dict[str, Key]]]:
    """Return the sections that may be repeated, with their meaning and keys."""
    parts = (part for kind in KINDS for part in parts_of(policy_class(kind)).values() if part.many)
    return {part.name: (part.meaning, {key.name: key for key in keys_of(part.holder).values()}) for part in parts}


def _section(declared: Iterable[Key]) -> dict[str, Any]:
    keys = tuple(declared)
    return {
        "type": "object",
        "properties": {key.name: _numbers(json.schema(key.takes)) for key in keys},
        "required": [key.name for key in keys if key.required],
        "additionalProperties": False,
    }


def _numbers(schema: Any) -> Any:
    """Return a schema in which exact decimals are numbers, as TOML writes them."""
    if schema == _DECIMAL:
        return {"type": "number"}
    if isinstance(schema, dict):
        return {name: _numbers(value) for name, value in schema.items()}
    return [_numbers(item) for item in schema] if isinstance(schema, list) else schema
