"""The value of a key from the text that somebody types into a field, and the text of a value.

A field is text whatever the key holds: lists of texts have one a line, lists of numbers have blanks or commas between
them, and what has names in it is written as TOML writes it. What does not fit is passed on as it is, so that the key
refuses it in its own words.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from crowdblend.policies.values import Kind

_INLINE: tuple[Kind, ...] = ("ends", "where", "conditions", "rates")
_LISTS: tuple[Kind, ...] = ("numbers", "wholes")


def typed_value(kind: Kind, text: str) -> Any:  # noqa: PLR0911  one line for each kind
    """The value that a text stands for.

    >>> typed_value("texts", "Female\\n Male "), typed_value("widths", "5, 10"), typed_value("whole", "20")
    (['Female', 'Male'], [5, 10], 20)
    >>> typed_value("periods", "year"), typed_value("periods", "day, month")
    ('year', ['day', 'month'])
    >>> typed_value("rates", "north = 0.1\\nsouth = 0.5"), typed_value("rates", "rates.csv")
    ({'north': Decimal('0.1'), 'south': Decimal('0.5')}, 'rates.csv')
    """
    if kind == "texts":
        return [line.strip() for line in text.splitlines() if line.strip()]
    text = text.strip()
    if kind == "flag":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind in ("number", "decimal", "whole"):
        return _number(text)
    if kind in _LISTS or (kind == "widths" and re.search(r"[\s,;]", text)):
        return [_number(part) for part in re.split(r"[\s,;]+", text) if part]
    if kind == "periods" and re.search(r"[\s,;]", text):
        return [part for part in re.split(r"[\s,;]+", text) if part]
    if kind in ("widths", "level"):
        return _number(text)
    if kind == "periods":
        listed = [part for part in re.split(r"[\s,;]+", text) if part]
        return listed if len(listed) > 1 else text
    if kind == "day":
        with suppress(ValueError):
            return datetime.date.fromisoformat(text)
    if kind in _INLINE:
        return _inline(kind, text)
    return text


def typed_text(kind: Kind, value: Any) -> str:
    """The text that stands for a value, as `typed_value` reads it."""
    from crowdblend.policies.write import toml_value  # noqa: PLC0415

    if isinstance(value, bool):
        return str(value).lower()
    if kind == "texts":
        return "\n".join(map(str, value))
    if kind in _INLINE:
        return toml_value(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _number(text: str) -> Any:
    plain = text.replace("_", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        return Decimal(plain)
    except InvalidOperation:
        return text


def _inline(kind: Kind, text: str) -> Any:
    """A table or list as TOML writes it; the braces of a table may be left out."""
    candidates = [text] if kind == "conditions" else [text, f"{{ {', '.join(text.splitlines())} }}"]
    for candidate in candidates:
        with suppress(tomllib.TOMLDecodeError):
            found: Mapping[str, Any] = tomllib.loads(f"value = {candidate}", parse_float=Decimal)
            return found["value"]
    return text
