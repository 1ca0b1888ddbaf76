"""The JSON schema of a policy, for editors that complete and check TOML; made from the same declarations."""

from __future__ import annotations

from typing import Any

from crowdblend.guarantees.parameters import PARAMETERS
from crowdblend.release.keys import COLUMN_KINDS, SECTIONS, TABLES, Key, Kind

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1},
    "flag": {"type": "boolean"},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1},
    "wholes": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "level": {"anyOf": [{"type": "integer"}, {"const": "choose"}]},
    "widths": {"type": ["number", "array"], "items": {"type": "number"}, "minItems": 1},
    "day": {"type": "string", "format": "date"},
    "conditions": {
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"type": ["string", "integer"]}, "minProperties": 1},
        "minItems": 1,
    },
}


def policy_schema() -> dict[str, Any]:
    """The schema, in JSON Schema draft 2020-12."""
    properties: dict[str, Any] = {name: _section(keys) for name, keys in SECTIONS.items()}
    properties["columns"] = {
        "type": "object",
        "description": "The published columns; domains are declared, never read off the data.",
        "minProperties": 1,
        "additionalProperties": {"oneOf": [_section(keys) for keys in COLUMN_KINDS.values()]},
    }
    properties["tables"] = {
        "type": "array",
        "description": "Several tables from one sample.",
        "items": _section(TABLES),
    }
    return {
        "$schema": _DIALECT,
        "title": "crowdblend policy",
        "type": "object",
        "properties": properties,
        "required": ["data", "columns", "release"],
        "additionalProperties": False,
    }


def _section(keys: tuple[Key, ...]) -> dict[str, Any]:
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
    if key.ranged:
        schema.update(_range(key.name))
    return schema


def _range(name: str) -> dict[str, float]:
    parameter = PARAMETERS[name]
    ends: dict[str, float] = {"exclusiveMinimum" if parameter.low_open else "minimum": parameter.low}
    if parameter.high != float("inf"):
        ends["exclusiveMaximum" if parameter.high_open else "maximum"] = parameter.high
    return ends
