"""A digest of what a policy says, so that a release is resumed under the policy that it was begun with."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from crowdblend.calculus import Assumption
from crowdblend.kinds.kind import AnyPolicy
from crowdblend.policies.key import Section, keys_of

# How much memory to use is no decision about what is published.
_LEFT_OUT = "memory"


def policy_digest(policy: AnyPolicy, assumptions: Sequence[Assumption] = ()) -> str:
    """SHA-256 of every decision in a policy: with one digest, the same data and key give the same release.

    Where an engine has assumptions of its own they are part of it, since the certificate states them: what a cluster
    has begun to draw is not resumed as if no cluster had held the key.
    """
    decided = _described(policy)
    if assumptions:
        decided = [decided, [one.name for one in assumptions]]
    described = json.dumps(decided, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(described.encode()).hexdigest()


def _described(value: Any) -> Any:  # noqa: PLR0911  one line for each type
    """Frozen values by type and fields, whatever they are nested in; numbers as Python writes them exactly."""
    if isinstance(value, Section):
        keys = keys_of(type(value))
        # Where files lie is no part of it: the ledger knows the source by its content, and what a hierarchy says is in
        # the recoding that was made of it.
        left_out = {name for name, key in keys.items() if key.kind == "path" or key.name == _LEFT_OUT}
        names = [name for name in value.__struct_fields__ if name not in left_out]
        return [type(value).__name__, {name: _described(getattr(value, name)) for name in names}]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, {field.name: _described(getattr(value, field.name)) for field in fields(value)}]
    if isinstance(value, enum.Enum):
        return [type(value).__name__, value.name]
    if isinstance(value, Mapping):
        return ["mapping", [[_described(key), _described(value[key])] for key in sorted(value, key=repr)]]
    if isinstance(value, list | tuple):
        return [_described(one) for one in value]
    if isinstance(value, set | frozenset):
        return ["set", sorted(map(repr, value))]
    return value if isinstance(value, str | bool | None) else [type(value).__name__, repr(value)]
