"""The JSON schema of a policy, for editors that complete and check TOML; made from the same declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crowdblend.guarantees.parameters import PARAMETERS
from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Key, keys_of
from crowdblend.policies.policy import parts_of, sections_of
from crowdblend.policies.registry import KINDS, policy_class
from crowdblend.policies.values import Kind

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": ["string", "integer", "boolean"]}, "minItems": 1},
    "flag": {"type": "boolean"},
    "path": {"type": "string"},
    "number": {"type": "number"},
    "decimal": {"type": "number"},
    "whole": {"type": "integer"},
    "numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1},
    "wholes": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "level": {"anyOf": [{"type": "integer"}, {"const": "choose"}]},
    "periods": {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1},
    "widths": {"type": ["number", "array"], "items": {"type": "number"}, "minItems": 1},
    "ends": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    },
    "rates": {
        "type": ["object", "string"],
        "minProperties": 1,
        "additionalProperties": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    },
    "day": {"type": "string", "format": "date"},
    "where": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": ["string", "integer", "array"], "items": {"type": ["string", "integer"]}},
    },
    "conditions": {
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"type": ["string", "integer"]}, "minProperties": 1},
        "minItems": 1,
    },
}


def policy_schema() -> dict[str, Any]:
    """The schema, in JSON Schema draft 2020-12: what every kind has, and for each kind what it has not."""
    properties: dict[str, Any] = {name: _section(keys.values()) for name, keys in every_section().items()}
    lists = every_list()
    for name, (meaning, keys) in lists.items():
        made = {"type": "array", "description": meaning, "items": _section(keys.values())}
        outer, _, inner = name.partition(".")
        if inner:
            properties[outer]["properties"][inner] = {**made, "minItems": 1}
        else:
            properties[name] = made
    properties["columns"] = {
        "type": "object",
        "description": "The published columns; domains are declared, never read off the data.",
        "minProperties": 1,
        "additionalProperties": {"oneOf": [_section(keys_of(one).values()) for one in (*DOMAINS.values(), AxisDomain)]},
    }
    properties["release"]["properties"]["kind"] = {"enum": list(KINDS), "description": "What is published."}
    properties["release"]["required"] = ["kind"]
    for section in ("data", "release", "sampling"):
        # What one kind requires, another may not have.
        properties[section]["required"] = ["kind"] if section == "release" else []
    return {
        "$schema": _DIALECT,
        "title": "crowdblend policy",
        "type": "object",
        "properties": properties,
        "required": ["data", "release"],
        "additionalProperties": False,
    }


def every_section() -> dict[str, dict[str, Key]]:
    """The sections of all kinds with all their keys, by name in TOML."""
    found: dict[str, dict[str, Key]] = {}
    for kind in KINDS:
        policy = policy_class(kind)
        named = {name: keys.values() for name, keys in sections_of(policy).items()}
        parts = [part for part in parts_of(policy).values() if not part.many]
        for name, keys in (*named.items(), *((part.name, keys_of(part.holder).values()) for part in parts)):
            for key in keys:
                known = found.setdefault(name, {}).get(key.name)
                if known is None or len(known.choices) < len(key.choices):
                    found[name][key.name] = key
    return found


def every_list() -> dict[str, tuple[str, dict[str, Key]]]:
    """The sections that may be repeated, with their meaning and keys."""
    found = {}
    for kind in KINDS:
        for part in parts_of(policy_class(kind)).values():
            if part.many:
                found[part.name] = (part.meaning, {key.name: key for key in keys_of(part.holder).values()})
    return found


def _section(declared: Iterable[Key]) -> dict[str, Any]:
    keys = tuple(declared)
    return {
        "type": "object",
        "properties": {key.name: _key(key) for key in keys},
        "required": [key.name for key in keys if key.required],
        "additionalProperties": False,
    }


def _key(key: Key) -> dict[str, Any]:
    schema = {**_TYPES[key.kind], "description": key.meaning}
    if key.choices:
        schema["enum"] = list(key.choices)
    if key.between is not None:
        schema |= {"minimum": key.between[0], "maximum": key.between[1]}
    if key.ranged:
        schema.update(_range(key.name))
    return schema


def _range(name: str) -> dict[str, float]:
    parameter = PARAMETERS[name]
    ends: dict[str, float] = {"exclusiveMinimum" if parameter.low_open else "minimum": parameter.low}
    if parameter.high != float("inf"):
        ends["exclusiveMaximum" if parameter.high_open else "maximum"] = parameter.high
    return ends
