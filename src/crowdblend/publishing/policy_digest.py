"""Digests of what a policy says: a release is resumed under its own policy, and no two plans share their randomness."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

from crowdblend.kinds.shared.plan import AnyPolicy
from crowdblend.policies.key import Section, fields_of, keys_of
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import COMMON, Publication
from crowdblend.policies.publication_policy import PublicationPolicy
from crowdblend.policies.source import READING_KEYS
from crowdblend.trusted.calculus import Assumption
from crowdblend.trusted.randomness.source import subkey

# How much memory to use is no decision about what is published.
_RESOURCES = frozenset({"memory"})
# Nor is where rows lie, how they are written there, how many threads read them, in which format the same numbers
# appear, with which words, and what becomes of the key. A query chooses rows, so it is one.
_NOT_COMPUTED = (
    _RESOURCES
    | {"threads", "source_format", "format", "about", "accept_epsilon", "accept_delta", "key", "called"}
    | {name for name in READING_KEYS if name != "query"}
)


def policy_digest(policy: AnyPolicy, assumptions: Sequence[Assumption] = ()) -> str:
    """SHA-256 of every decision in a policy: with one digest, the same data and key give the same release.

    Where an engine has assumptions of its own they are part of it, since the certificate states them: what a cluster
    has begun to draw is not resumed as if no cluster had held the key.
    """
    decided = _describe_value(policy, _RESOURCES)
    if assumptions:
        decided = [decided, [one.name for one in assumptions]]
    return _digest(decided).hex()


def plan_secret(policy: AnyPolicy, secret: bytes) -> bytes:
    """Return the secret of everything random in a release: coins, marks and noise, from its key and what it computes.

    Noise that is drawn twice cancels out, and two tables from one sample may single someone out. The ledger refuses a
    key that it has seen, and what another ledger has seen it cannot know: so one key gives other coins and other noise
    to another plan, or to people of another name. It gives the same to the same rows in a frame, a file or a database,
    on one machine or many, in whichever format they appear.
    """
    return subkey(secret, b"plan of a release", _digest(_describe_value(policy, _NOT_COMPUTED)))


def _digest(decision: object) -> bytes:
    described = json.dumps(decision, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(described.encode()).digest()


def _describe_value(value: Any, left_out: frozenset[str]) -> Any:  # noqa: PLR0911  one line for each type
    """Frozen values by type and fields, whatever they are nested in; numbers as Python writes them exactly."""
    if isinstance(value, Policy) and not value.is_programme:
        return _describe_value(value.only, left_out)
    if isinstance(value, Policy):
        parts = (value.terms, value.split, value.publish)
        return ["Policy", [_describe_value(one, left_out) for one in parts]]
    if isinstance(value, PublicationPolicy):
        (name, terms), (_, own) = (_describe_section(one, left_out) for one in (value, value.publication))
        called = {} if value.publication.name is None or "called" in left_out else {"called": value.publication.name}
        return [name, {**terms, **{key: said for key, said in own.items() if key not in COMMON}, **called}]
    if isinstance(value, Publication):
        common = {name: _describe_value(getattr(value, name), left_out) for name in COMMON}
        own = {field: getattr(value, field) for field in value.__struct_fields__ if field not in COMMON}
        keys = keys_of(type(value))
        given = {f: one for f, one in own.items() if (keys[f].is_given(one) if f in keys else one not in (None, ()))}
        return [type(value).__name__, {**common, "keys": _describe_value(given, left_out)}]
    if isinstance(value, Section):
        return _describe_section(value, left_out)
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: _describe_value(getattr(value, field.name), left_out) for field in fields(value)}
        return [type(value).__name__, found]
    if isinstance(value, Mapping):
        names = sorted(value, key=repr)
        return [
            "mapping",
            [[_describe_value(name, left_out), _describe_value(value[name], left_out)] for name in names],
        ]
    if isinstance(value, list | tuple):
        return [_describe_value(one, left_out) for one in value]
    if isinstance(value, set | frozenset):
        return ["set", sorted(map(repr, value))]
    return value if isinstance(value, str | bool | None) else [type(value).__name__, repr(value)]


def _describe_section(value: Section, left_out: frozenset[str]) -> tuple[str, dict[str, Any]]:
    """Return the type and the fields that differ from their defaults.

    A key that is added later leaves policies that do not say it as they were, and what they publish. Where files lie is
    no part of it: the ledger knows the source by its content, and what a hierarchy says is in the recoding that was
    made of it.
    """
    paths = {name for name, key in keys_of(type(value)).items() if key.kind in ("path", "paths")}
    said = {}
    for field in fields_of(type(value)):
        one = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
        differs = one != default or type(one) is not type(default)
        if differs and field.name not in {*left_out, *paths, "publication"}:
            said[field.name] = _describe_value(one, left_out)
    return type(value).__name__, said
