"""The JSON schema of a policy, for editors that complete and check TOML; made from the same declarations."""

from __future__ import annotations

from typing import Any

from crowdblend.guarantees.parameters import PARAMETERS
from crowdblend.policies.keys import AXIS, COLUMN_KINDS, GRAPH, GRAPH_STATISTICS, LISTS, SECTIONS, Key, Kind

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
    "ends": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
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
    """The schema, in JSON Schema draft 2020-12."""
    properties: dict[str, Any] = {name: _section(keys) for name, keys in SECTIONS.items()}
    properties["columns"] = {
        "type": "object",
        "description": "The published columns; domains are declared, never read off the data.",
        "minProperties": 1,
        "additionalProperties": {"oneOf": [_section(keys) for keys in (*COLUMN_KINDS.values(), AXIS)]},
    }
    meanings = {
        "tables": "Several tables from one sample.",
        "boxes": "Blocks of points, one by one.",
        "statistics": "The statistics to publish.",
        "quadtree": "Regions where blocks of points are small.",
    }
    for name, keys in LISTS.items():
        properties[name] = {"type": "array", "description": meanings[name], "items": _section(keys)}
    properties["graph"] = _section(GRAPH)
    properties["graph"]["properties"]["statistics"] = {
        "type": "array",
        "description": "The statistics of a network, one after the other.",
        "items": _section(GRAPH_STATISTICS),
        "minItems": 1,
    }
    return {
        "$schema": _DIALECT,
        "title": "crowdblend policy",
        "type": "object",
        "properties": properties,
        "required": ["data", "release"],
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
