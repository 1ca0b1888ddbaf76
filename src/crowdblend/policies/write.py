"""A policy as TOML: every key that differs from its default, so that what is read back is an equal policy."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.key import Key, keys_of, refusal
from crowdblend.policies.source import STDIN

if TYPE_CHECKING:
    from crowdblend.policies.columns import Column
    from crowdblend.policies.policy import Policy


def write_policy(policy: Policy, path: Path | None = None, *, force: bool = False) -> str:
    """The text of a policy; written to `path` where one is given, with paths relative to its folder."""
    from crowdblend.policies.policy import parts_of, sections_of  # noqa: PLC0415

    folder = Path() if path is None else path.parent
    blocks = []
    for name, keys in sections_of(type(policy)).items():
        lines = _lines(policy, keys, folder)
        if name == "release":
            lines.insert(0, f"kind = {toml_text(policy.kind)}")
        if lines:
            blocks.append("\n".join([f"[{name}]", *lines]))
    for attribute, declared in parts_of(type(policy)).items():
        value = getattr(policy, attribute)
        for item in value if declared.many else [value]:
            if item is None:
                continue
            lines = _lines(item, keys_of(type(item)), folder)
            # A section without keys says something where its absence would say something else.
            if lines or (not declared.many and item != getattr(type(policy), attribute, None)):
                blocks.append("\n".join([declared.title, *lines]))
    columns: Any = getattr(policy, "columns", ())
    if "columns" in policy.__dataclass_fields__:
        blocks.append("\n".join(["[columns]", *(_column(column, folder) for column in columns)]))
    order = {"[data]": 0, "[sampling]": 1, "[columns]": 2, "[release]": 3}
    blocks.sort(key=lambda block: order.get(block.partition("\n")[0], 4))
    text = "\n\n".join(blocks) + "\n"
    if path is not None:
        _write(path, text, force=force)
    return text


def _write(path: Path, text: str, *, force: bool) -> None:
    if path.exists() and not force:
        raise InvalidInput(
            f"{path.name!r} exists.", remedy="Pass force=True to overwrite it.", where=str(path), code="output.exists"
        )
    # A link that is put there meanwhile is not followed.
    with path.open("w" if force else "x", encoding="utf-8") as file:
        file.write(text)


def _column(column: Column, folder: Path) -> str:
    if column.domain is None:
        raise refusal(
            "no-toml",
            f"column {column.name!r} was made from a recoding, which TOML cannot say.",
            "Declare its domain.",
            f"column {column.name!r}",
        )
    keys = ", ".join(_lines(column.domain, keys_of(type(column.domain)), folder))
    return f"{toml_name(column.name)} = {{ {keys} }}"


def _lines(holder: Any, keys: Mapping[str, Key], folder: Path) -> list[str]:
    """One line for each key that does not have its default."""
    lines = []
    for attribute, key in keys.items():
        value = getattr(holder, attribute)
        if value is not None and (value != key.default or key.required):
            is_path = key.kind == "path" or (key.kind == "rates" and isinstance(value, str))
            value = _relative(value, folder) if is_path else value
            lines.append(f"{key.name} = {toml_value(value)}")
    return lines


def _relative(path: str, folder: Path) -> str:
    """A path in the folder relative to it, any other as a whole one: both are found again from there."""
    if path == STDIN or "://" in path:
        return path
    inside = os.path.relpath(path, folder)
    return os.path.abspath(path) if inside.startswith("..") else Path(inside).as_posix()


def toml_value(value: Any) -> str:  # noqa: PLR0911  one line for each type
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_name(name)} = {toml_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return _number(str(value))
    return _number(repr(value))


def _number(text: str) -> str:
    """A number as TOML wants it: digits on both sides of the point, a plain exponent."""
    digits, mark, exponent = text.lower().partition("e")
    return digits + (f"e{int(exponent)}" if mark else "")


def toml_text(text: str) -> str:
    """A text in quotes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_name(name: str) -> str:
    """A key, in quotes where it needs them."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_text(name)
