"""Read a policy from TOML. Numbers are exact decimals until they become parameters, so 0.1 in a domain is a tenth."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check_type
from crowdblend.policies.columns import read_columns
from crowdblend.policies.key import Part, keys_of, parts_of, sections_of
from crowdblend.policies.policy import has_columns
from crowdblend.policies.refusals import did_you_mean, refusal, shown
from crowdblend.policies.registry import KINDS, all_kinds, is_kind, kinds_with, policy_class, sections
from crowdblend.policies.source import read_keys
from crowdblend.regular_files import read_regular

PLACEHOLDER = "FILL_IN"
# tomllib takes time with the square of the parts of a key, and recursion follows their depth.
_DEEP = re.compile(r"""(?<![\w"'-])(?:(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*\.[ \t]*){99}""")


def load_policy(path: Path | str) -> Any:
    """Read a policy file; the paths in it are relative to its folder."""
    check_type("load_policy", path, (str, os.PathLike), "a path")
    path = Path(path)
    try:
        text = read_regular(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise refusal("encoding", f"{path.name!r} is not UTF-8 text.", "Save it as UTF-8.", path.name) from None
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        message = f"The policy {path.name!r} cannot be read: {why}."
        raise refusal("file", message, "Name a policy, not the data.", path.name) from None
    return parse_policy(text, path.absolute().parent)


def parse_policy(text: str, folder: Path | str = ".") -> Any:
    """Read a policy from its text; the paths in it are relative to `folder`. Its class is that of its kind."""
    check_type("parse_policy", text, str, "the text of a policy")
    if _DEEP.search(text):
        raise refusal("toml", "The policy is not TOML that can be read: a key has 100 parts.", "Correct that line.")
    try:
        parts = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError) as error:
        message = f"The policy is not TOML: {str(error)[:200].rstrip('.')}."
        raise refusal("toml", message, "Correct that line.") from None
    return read_policy(parts, folder)


def read_policy(parts: Mapping[str, Any], folder: Path | str = ".") -> Any:
    """Read a policy from its sections, each a table of keys with their values, as TOML has them."""
    _refuse_placeholder("", parts)
    policy, place = policy_class(_kind(parts)), Path(folder)
    _refuse_foreign(parts, policy.kind)
    given: dict[str, Any] = {}
    for name, keys in sections_of(policy).items():
        table = parts.get(name, {})
        if name == "release":
            table = {key: value for key, value in table.items() if key != "kind"}
        given |= read_keys(keys, table, f"[{name}]", place)
    for attribute, part in parts_of(policy).items():
        inside = [one.name.removeprefix(f"{part.name}.") for one in parts_of(policy).values()]
        read = _read_part(part, parts, place, inside)
        if read is not None:
            given[attribute] = read
    if has_columns(policy):
        given["columns"] = read_columns(parts.get("columns"), place, axes=policy.has_axes)
    return policy(**given)


def _read_part(part: Part, parts: Mapping[str, Any], folder: Path, inside: Collection[str]) -> object:
    """Return a section of its own, or None where the policy does not have it."""
    outer, _, inner = part.name.partition(".")
    table: Any = parts.get(outer)
    if inner:
        table = table.get(inner) if isinstance(table, Mapping) else None
    elif isinstance(table, Mapping):
        table = {name: value for name, value in table.items() if name not in inside}
    if table is None:
        if part.required:
            message = f"The policy has no section {part.title}."
            raise refusal("missing-section", message, f"Add it: {part.meaning}", part.title)
        return None
    if part.many and not isinstance(table, list):
        message = f"{part.title} is {shown(table)} instead of a list of tables."
        raise refusal("section", message, f"Write {part.title} with double brackets above each.", part.title)
    keys = keys_of(part.holder)
    made = [part.holder(**read_keys(keys, item, part.title, folder)) for item in (table if part.many else [table])]
    return tuple(made) if part.many else made[0]


def _kind(parts: Mapping[str, Any]) -> str:
    release = parts.get("release")
    if not isinstance(release, Mapping):
        # A section that no kind has may be the one that is missing.
        misspelt = next((name for name in parts if not kinds_with(name)), None)
        if misspelt is not None:
            known = dict.fromkeys(section for kind in KINDS for section in sections(kind) if "." not in section)
            where = f"[{misspelt[:60]}]"
            raise refusal("unknown-section", f"There is no section {where}.", did_you_mean(misspelt, known), where)
        message = "The policy has no section [release]."
        raise refusal("missing-section", message, "Add it, with kind and epsilon.", "[release]")
    if "kind" not in release:
        unknown = [name for name in release if not kinds_with("release", name)]
        message = f"[release] has no kind{f', but a key {unknown[0][:60]!r}' if unknown else ''}."
        raise refusal("missing-key", message, f"Add kind = one of {', '.join(all_kinds())}.", "[release] kind")
    kind = release["kind"]
    if not isinstance(kind, str) or not is_kind(kind):
        near = did_you_mean(str(kind)[:100], all_kinds())
        raise refusal("kind", f"kind in [release] is {shown(kind)}.", near, "[release] kind")
    return kind


def _refuse_foreign(parts: Mapping[str, Any], kind: str) -> None:
    """Refuse sections and keys that this kind does not have: they would be ignored."""
    known = sections(kind)
    for section, table in parts.items():
        if section not in known:
            raise _foreign(kind, f"[{section[:60]}]", section, None, [name for name in known if "." not in name])
        for key in table if section != "columns" and isinstance(table, Mapping) else ():
            if key not in known[section] and f"{section}.{key}" not in known:
                raise _foreign(kind, f"[{section}] {key[:60]}", section, key, known[section])


def _foreign(kind: str, where: str, section: str, key: str | None, known: Iterable[str]) -> InvalidInput:
    what = f"section {section[:60]!r}" if key is None else f"key {key[:60]!r} in [{section}]"
    kinds = " or ".join(f'"{one}"' for one in kinds_with(section, key))
    remedy = f"Remove it, or use kind = {kinds}." if kinds else did_you_mean((key or section)[:60], known)
    return refusal(
        "unknown-section" if key is None else "unknown-key", f'kind = "{kind}" has no {what}.', remedy, where
    )


def _refuse_placeholder(where: str, value: object) -> None:
    """Refuse a starter policy that was not completed."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            _refuse_placeholder(f"{where}.{name}" if where else name, item)
    elif isinstance(value, list):
        for item in value:
            _refuse_placeholder(where, item)
    elif isinstance(value, str) and PLACEHOLDER in value:
        raise refusal("placeholder", f"{where} still says {PLACEHOLDER}.", "Write what you know beforehand.", where)
