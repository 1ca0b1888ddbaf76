"""A policy as the Python that makes it: every key that differs from its default."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from crowdblend.policies.domains import (
    AxisDomain,
    BreakDomain,
    DateDomain,
    Domain,
    HierarchyDomain,
    IntervalDomain,
    NumberDomain,
    PrefixDomain,
    ValueDomain,
)
from crowdblend.policies.key import keys_of
from crowdblend.policies.policy import parts_of
from crowdblend.policies.registry import has_columns

# For every domain: the function of `crowdblend` that makes it, the keys it takes by place, and those it spreads.
_FUNCTIONS: dict[type[Domain], tuple[str, tuple[str, ...], str | None]] = {
    ValueDomain: ("values", (), "values"),
    IntervalDomain: ("intervals", ("start", "stop"), None),
    BreakDomain: ("breaks", (), "breaks"),
    PrefixDomain: ("prefix", ("prefix",), None),
    DateDomain: ("date", ("date", "start", "stop"), None),
    HierarchyDomain: ("hierarchy", ("hierarchy",), None),
    NumberDomain: ("bounds", ("start", "stop"), None),
    AxisDomain: ("axis", ("start", "stop"), None),
}


def python_of(policy: Any, *, out: str, root: Path | None = None) -> str:
    """The program that publishes the policy; paths are relative to `root` where they lie in it."""
    given = [f"{name}={_code(value, root)}" for name, value in _given(policy, root).items()]
    for attribute, part in parts_of(type(policy)).items():
        value = getattr(policy, attribute)
        if part.many and value:
            items = "".join(f"        {_call(item, root)},\n" for item in value)
            given.append(f"{attribute}=(\n{items}    )")
        elif not part.many and value is not None and value != getattr(type(policy), attribute, None):
            given.append(f"{attribute}={_call(value, root)}")
    if has_columns(type(policy)):
        columns = "".join(f"        {column.name!r}: {_domain(column.domain, root)},\n" for column in policy.columns)
        given.append(f"columns={{\n{columns}    }}")
    lines = "".join(f"    {one},\n" for one in given)
    about = "from crowdblend.policies import About\n" if policy.about is not None else ""
    release = f"cb.release(None, policy, out={out!r})"
    return f"import crowdblend as cb\n{about}\npolicy = cb.{type(policy).__name__}(\n{lines})\n{release}\n"


def _given(holder: Any, root: Path | None) -> dict[str, Any]:
    """The keys that do not have their default, by the name of their field."""
    found = {}
    for attribute, key in keys_of(type(holder)).items():
        value = getattr(holder, attribute)
        if value is not None and (value != key.default or key.required):
            found[attribute] = _path(value, root) if key.kind == "path" else value
    return found


def _path(path: str, root: Path | None) -> str:
    if root is None or "://" in path:
        return path
    inside = os.path.relpath(path, root)
    return path if inside.startswith("..") else inside


def _call(section: Any, root: Path | None) -> str:
    name = type(section).__name__
    arguments = ", ".join(f"{key}={_code(value, root)}" for key, value in _given(section, root).items())
    return f"{'' if name == 'About' else 'cb.'}{name}({arguments})"


def _domain(domain: Any, root: Path | None) -> str:
    function, places, spread = _FUNCTIONS[type(domain)]
    given = _given(domain, root)
    arguments = [_code(value, root) for value in given.pop(spread)] if spread else []
    last = max((at for at, name in enumerate(places) if name in given), default=-1)
    arguments += [_code(given.pop(name, None), root) for name in places[: last + 1]]
    arguments += [f"{name}={_code(value, root)}" for name, value in given.items()]
    return f"cb.{function}({', '.join(arguments)})"


def _code(value: Any, root: Path | None) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime.date):
        return repr(value.isoformat())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_code(item, root)}" for name, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_code(item, root) for item in value) + "]"
    return repr(value)
