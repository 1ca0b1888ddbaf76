"""Read a policy from TOML. Numbers are exact decimals until they become parameters, so 0.1 in a domain is a tenth."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from crowdblend.guarantees.parameters import check_type
from crowdblend.policies.columns import read_columns
from crowdblend.policies.key import Section, did_you_mean, read_keys, refusal, refuse_placeholder
from crowdblend.policies.policy import Part, Policy, parts_of, sections_of
from crowdblend.policies.registry import KINDS, has_columns, kinds_with, policy_class, sections
from crowdblend.policies.source import located
from crowdblend.policies.values import shown

_LARGEST_FILE = 10_000_000


def load_policy(path: Path | str) -> Any:
    """Read a policy file; the paths in it are relative to its folder."""
    check_type("load_policy", path, (str, os.PathLike), "a path")
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise refusal("encoding", f"{path.name!r} is not UTF-8 text.", "Save it as UTF-8.", path.name) from None
        why = error.strerror if isinstance(error, OSError) else "not a file name"
        raise refusal(
            "file", f"The policy {path.name!r} cannot be read: {why}.", "Check the path.", path.name
        ) from None
    if len(content) > _LARGEST_FILE:
        raise refusal("file", f"{path.name!r} is larger than 10 MB.", "Name a policy, not the data.", path.name)
    return parse_policy(text, path.absolute().parent)


def parse_policy(text: str, folder: Path | str = ".") -> Any:
    """Read a policy from its text; the paths in it are relative to `folder`. Its class is that of its kind."""
    check_type("parse_policy", text, str, "the text of a policy")
    try:
        parts = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise refusal(
            "toml", f"The policy is not TOML: {str(error)[:200].rstrip('.')}.", "Correct that line."
        ) from None
    return read_policy(parts, folder)


def read_policy(parts: Mapping[str, Any], folder: Path | str = ".") -> Any:
    """Read a policy from its sections, each a table of keys with their values, as TOML has them."""
    refuse_placeholder("", parts)
    sections_given = dict(parts)
    kind = _kind(sections_given)
    policy = policy_class(kind)
    _refuse_foreign(sections_given, kind)
    return policy(**_arguments(policy, sections_given, Path(folder)))


def _kind(parts: dict[str, Any]) -> str:
    release = parts.get("release")
    if not isinstance(release, Mapping):
        _refuse_misspelt(parts)
        raise refusal(
            "missing-section", "The policy has no section [release].", "Add it, with kind and epsilon.", "[release]"
        )
    if "kind" not in release:
        unknown = [name for name in release if not kinds_with("release", name)]
        extra = f", but a key {unknown[0][:60]!r}" if unknown else ""
        raise refusal(
            "missing-key", f"[release] has no kind{extra}.", f"Add kind = one of {', '.join(KINDS)}.", "[release] kind"
        )
    kind = release["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        near = did_you_mean(str(kind)[:100], KINDS)
        raise refusal("kind", f"kind in [release] is {shown(kind)}.", near, "[release] kind")
    return kind


def _refuse_misspelt(parts: dict[str, Any]) -> None:
    """Refuse a section that no kind has: it may be the one that is missing."""
    for name in parts:
        if not kinds_with(name):
            known = dict.fromkeys(section for kind in KINDS for section in sections(kind) if "." not in section)
            where = f"[{name[:60]}]"
            raise refusal("unknown-section", f"There is no section {where}.", did_you_mean(name, known), where)


def _refuse_foreign(parts: dict[str, Any], kind: str) -> None:
    """Refuse sections and keys that this kind does not have: they would be ignored."""
    known = sections(kind)
    for name, table in parts.items():
        if name not in known:
            raise _foreign(
                f"section {name[:60]!r}", f"[{name[:60]}]", kind, kinds_with(name), [n for n in known if "." not in n]
            )
        if name == "columns" or not isinstance(table, Mapping):
            continue
        for key in table:
            if key not in known[name] and f"{name}.{key}" not in known:
                raise _foreign(
                    f"key {key[:60]!r} in [{name}]", f"[{name}] {key[:60]}", kind, kinds_with(name, key), known[name]
                )


def _foreign(what: str, where: str, kind: str, kinds: list[str], known: Any) -> Exception:
    code = "unknown-section" if what.startswith("section") else "unknown-key"
    if kinds:
        others = " or ".join(f'"{one}"' for one in kinds)
        return refusal(code, f'kind = "{kind}" has no {what}.', f"Remove it, or use kind = {others}.", where)
    name = where.rpartition(" ")[2].strip("[]")
    return refusal(code, f'kind = "{kind}" has no {what}.', did_you_mean(name, known), where)


def _arguments(policy: type[Policy], parts: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The keyword arguments that make the policy."""
    given: dict[str, Any] = {}
    for name, keys in sections_of(policy).items():
        table = parts.get(name, {})
        if name == "release" and isinstance(table, Mapping):
            table = {key: value for key, value in table.items() if key != "kind"}
        given |= read_keys(policy, table, f"[{name}]", keys)
    if isinstance(given.get("source"), str) and given["source"].strip():
        given["source"] = located(given["source"], folder)
    nested = {declared.name for declared in parts_of(policy).values() if "." in declared.name}
    for attribute, declared in parts_of(policy).items():
        table = _table_of(declared, parts, nested)
        if table is not None:
            given[attribute] = _read_part(declared, table, folder)
    if has_columns(policy):
        given["columns"] = read_columns(parts.get("columns"), folder, axes=policy.kind == "points")
    return given


def _table_of(declared: Part, parts: dict[str, Any], nested: set[str]) -> Any:
    """What the policy says of a section, without the sections in it; None where it says nothing."""
    outer, _, inner = declared.name.partition(".")
    found = parts.get(outer)
    if inner:
        return found.get(inner) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        return {name: value for name, value in found.items() if f"{outer}.{name}" not in nested}
    return found


def _read_part(declared: Part, table: Any, folder: Path) -> Any:
    if not declared.many:
        return _build(declared, table, folder)
    if not isinstance(table, list):
        raise refusal(
            "section",
            f"{declared.title} is {shown(table)} instead of a list of tables.",
            f"Write {declared.title} with double brackets above each.",
            declared.title,
        )
    return tuple(_build(declared, item, folder) for item in table)


def _build(declared: Part, table: Any, folder: Path) -> Section:
    given = read_keys(declared.holder, table, declared.title)
    for name in ("vertices", "rates"):
        if isinstance(given.get(name), str) and given[name].strip():
            given[name] = located(given[name], folder)
    return partial(declared.holder, **given)()
