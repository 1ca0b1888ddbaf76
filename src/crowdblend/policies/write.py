"""A policy as TOML: every key that differs from its default, so that what is read back is an equal policy."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.policies.key import Key, Section, keys_of, parts_of, sections_of
from crowdblend.policies.source import STDIN

_FIRST = ("[data]", "[sampling]", "[columns]", "[release]")


def write_policy(policy: Section, kind: str, path: Path | None = None, *, force: bool = False) -> str:
    """Return the text of a policy; written to `path` where one is given, with paths relative to its folder."""
    folder = Path() if path is None else path.parent
    blocks = {f"[{name}]": [_lines(policy, keys, folder)] for name, keys in sections_of(type(policy)).items()}
    blocks["[release]"][0].insert(0, f"kind = {toml_text(kind)}")
    for attribute, part in parts_of(type(policy)).items():
        value = getattr(policy, attribute)
        items = value if part.many else () if value == part.default else (value,)
        blocks[part.title] = [_lines(item, keys_of(type(item)), folder) for item in items]
    if "columns" in policy.__struct_fields__:
        blocks["[columns]"] = [[_column(column, folder) for column in getattr(policy, "columns", ())]]
    titles = sorted(blocks, key=lambda title: _FIRST.index(title) if title in _FIRST else len(_FIRST))
    required = [part.title for part in parts_of(type(policy)).values()]
    text = "\n\n".join(
        "\n".join([title, *lines]) for title in titles for lines in blocks[title] if lines or title in required
    )
    if path is not None:
        _write(path, text + "\n", force=force)
    return text + "\n"


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
        raise column.refusal("no-toml", "was made from a recoding, which TOML cannot say.", "Declare its domain.")
    keys = ", ".join(_lines(column.domain, keys_of(type(column.domain)), folder))
    return f"{toml_name(column.name)} = {{ {keys} }}"


def _lines(holder: Section, keys: Mapping[str, Key], folder: Path) -> list[str]:
    """Return one line for each key that does not have its default."""
    lines = []
    for attribute, key in keys.items():
        value = getattr(holder, attribute)
        if key.is_given(value):
            lines.append(f"{key.name} = {toml_value(_relative(value, folder) if key.is_path(value) else value)}")
    return lines


def _relative(path: str, folder: Path) -> str:
    """A path in the folder relative to it, any other as a whole one: both are found again from there."""
    if path == STDIN or "://" in path:
        return path
    inside = os.path.relpath(path, folder)
    return os.path.abspath(path) if inside.startswith("..") else Path(inside).as_posix()


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_name(name)} = {toml_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | datetime.date):
        return toml_text(value) if isinstance(value, str) else value.isoformat()
    return _number(str(value) if isinstance(value, Decimal) else repr(value))


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
