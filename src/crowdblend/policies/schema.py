"""Sections and keys of a policy for every kind and design, and the JSON schema for editors.

Everything follows from the declarations that the reader checks by, so that the starter, the studio, docs/policy.md and
editors know the same keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import json
from msgspec.structs import replace

from crowdblend.notation import TOML, spell
from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Key, Section, keys_of, parts_of, sections_of
from crowdblend.policies.policy import SPLITS
from crowdblend.policies.registry import KINDS, WORDS, common_keys, policy_class, publication_class, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DECIMAL = {"type": "string", "format": "decimal"}
# Rows of a network are links, which belong to two people.
_OF_PEOPLE = ("person", "rows_are_people", "ids", "duplicates")


def kind_sections(
    kind: str, design: str = "", *, several: bool = False, texts: Mapping[str, str] = MappingProxyType({})
) -> dict[str, dict[str, Key]]:
    """Return what a policy with a publication of a kind may say once: its keys by section and by name in TOML.

    Keys that are refused with the design are left out, and so are choices of a key; without a design there is no
    section [sampling]. `several` adds how one of several publications has its part, and `texts` are choices that the
    publication has made: a table with a threshold has other keys than one without.
    """
    policy, publication = policy_class(kind), publication_class(kind)
    excluded, refused = _refused_fields(kind, design, texts)
    missing = excluded | {*publication.lacks, *(_OF_PEOPLE if publication.rows_are_links else ())}
    found = {
        section: _by_name(key for field, key in keys.items() if field not in missing)
        for section, keys in sections_of(policy).items()
    }
    if design:
        found["sampling"] = _by_name(keys_of(DESIGNS[design]).values())
        if "of" in found["sampling"]:
            found["data"].pop("people", None)  # it is said there
    for field, part in parts_of(policy).items():
        if part.name in ("recoding", "about") and field not in missing:
            found[part.name] = _by_name(keys_of(part.holder).values())
    divided = ("weight",) if design and DESIGNS[design].everybody else ("share", "weight")
    shared = ("name", "columns", *(name for name in divided if several or (name == "weight" and name in texts)))
    common = [common_keys(kind)[name] for name in shared if name in common_keys(kind)]
    own = (
        replace(key, choices=tuple(one for one in key.choices if one not in refused.get(field, ())))
        for field, key in publication_keys(kind).items()
        if field not in excluded
    )
    return {**found, "publish": _by_name((*common, *own))}


def kind_lists(kind: str, design: str = "") -> dict[str, dict[str, Key]]:
    """Return the sections inside a publication of a kind that may be repeated, with their keys by name in TOML."""
    excluded, _ = _refused_fields(kind, design, {})
    return {
        part.name: _by_name(key for name, key in keys_of(part.holder).items() if f"{field}.{name}" not in excluded)
        for field, part in parts_of(publication_class(kind)).items()
        if not part.inline
    }


def _refused_fields(kind: str, design: str, texts: Mapping[str, str]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the fields that the rules of a kind refuse with a design, whatever else is said, and refused choices.

    A field that has no choice left is refused as a whole.
    """
    drawn = {f"sampling.{name}" for name in vars(DESIGNS[design])} if design else set()
    drawn |= {f"{name}={text}" for name, text in texts.items()}
    declared = keys_of(policy_class(kind)) | publication_keys(kind)
    found: set[str] = set()
    choices: dict[str, set[str]] = {}

    def refuse(one: str) -> None:
        field, _, choice = one.partition("=")
        choices.setdefault(field, set()).add(choice)
        left = set(declared[field].choices if field in declared else ()) - choices[field]
        if not choice or len(left) < 2:
            found.add(field)

    for rule in (rule for owner in policy_class(kind).__mro__ for rule in vars(owner).get("rules", ())):
        first, others = rule.keys[0], rule.keys[1:]
        if rule.unless and rule.unless in drawn:
            continue
        if rule.relation == "conflicts" and first in drawn:
            for one in others:
                refuse(one)
        elif (rule.relation == "conflicts" and drawn & set(others)) or (
            rule.relation == "needs"
            and not drawn & set(others)
            and all(one.startswith("sampling.") or one in found for one in others)
        ):
            refuse(first)
    return found, choices


def _by_name(keys: Iterable[Key]) -> dict[str, Key]:
    return {key.name: key for key in keys}


def policy_schema() -> dict[str, Any]:
    """Return the schema of policies, in JSON Schema draft 2020-12."""
    properties: dict[str, Any] = {name: _section(keys.values()) for name, keys in sections_of(Terms).items()}
    split = {"enum": list(SPLITS), "description": "How several publications share the sample or the budget."}
    properties["privacy"]["properties"]["split"] = split
    for part in parts_of(Terms).values():
        if part.name != "sampling":
            properties[part.name] = _section(keys_of(part.holder).values())
    designs = [_section(keys_of(holder).values(), {"design": (name, holder.words)}) for name, holder in DESIGNS.items()]
    properties["sampling"] = {"description": "How people are drawn.", "oneOf": designs}
    domains: list[type[Section]] = [*DOMAINS.values(), AxisDomain]
    properties["columns"] = {
        "type": "object",
        "description": "The published columns; domains are declared, never read off the data.",
        "minProperties": 1,
        "additionalProperties": {"oneOf": [_section(keys_of(one).values()) for one in domains]},
    }
    publications = [_publication(kind) for kind in KINDS]
    properties["publish"] = {"type": "array", "minItems": 1, "items": {"oneOf": publications}}
    return {
        "$schema": _DIALECT,
        "title": "crowdblend policy",
        "type": "object",
        "properties": properties,
        "required": ["publish"],
        "additionalProperties": False,
    }


def _publication(kind: str) -> dict[str, Any]:
    keys = (*common_keys(kind).values(), *publication_keys(kind).values())
    found = _section(keys, {"kind": (kind, WORDS[kind].publishes)})
    for part in parts_of(publication_class(kind)).values():
        if not part.inline:
            items = _section(keys_of(part.holder).values())
            made = {"type": "array", "description": spell(part.meaning, TOML), "items": items}
            found["properties"][part.name.removeprefix("publish.")] = made
    return found


def _section(declared_keys: Iterable[Key], publication: Mapping[str, tuple[str, str]] | None = None) -> dict[str, Any]:
    """Return the schema of a section; `publication` are keys that have one value, with what it means."""
    keys = tuple(declared_keys)
    fixed = {name: {"const": value, "description": meaning} for name, (value, meaning) in (publication or {}).items()}
    return {
        "type": "object",
        "properties": {**fixed, **{key.name: _numbers(json.schema(key.takes)) for key in keys}},
        "required": [*fixed, *(key.name for key in keys if key.required)],
        "additionalProperties": False,
    }


def _numbers(schema: Any) -> Any:
    """Return a schema in which exact decimals are numbers, as TOML writes them."""
    if schema == _DECIMAL:
        return {"type": "number"}
    if isinstance(schema, dict):
        return {name: _numbers(value) for name, value in schema.items()}
    return [_numbers(item) for item in schema] if isinstance(schema, list) else schema
