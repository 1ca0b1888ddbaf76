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

from crowdblend.policies.write import toml_value

_INLINE = ("ends", "where", "conditions", "rates")
_NUMBERS = ("number", "decimal", "whole", "level", "widths", "numbers", "wholes")
_LISTS = ("widths", "periods")


def typed_value(kind: str, text: str) -> object:
    """Return the value that a text stands for.

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
    if kind == "day":
        with suppress(ValueError):
            return datetime.date.fromisoformat(text)
    if kind in _INLINE:
        return _inline(kind, text)
    parts: list[object] = [part for part in re.split(r"[\s,;]+", text) if part]
    read = _number if kind in _NUMBERS else str
    listed = kind in ("numbers", "wholes") or (kind in _LISTS and len(parts) > 1)
    return [read(str(part)) for part in parts] if listed else read(text)


def typed_text(kind: str, value: object) -> str:
    """Return the text that stands for a value, as `typed_value` reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if kind in _INLINE:
        return toml_value(value)
    if isinstance(value, list | tuple):
        return ("\n" if kind == "texts" else ", ").join(map(str, value))
    return str(value)


def _number(text: str) -> object:
    plain = text.replace("_", "")
    with suppress(ValueError):
        return int(plain)
    with suppress(InvalidOperation):
        return Decimal(plain)
    return text


def _inline(kind: str, text: str) -> object:
    """Return a table or list as TOML writes it; the braces of a table may be left out."""
    candidates = [text] if kind == "conditions" else [text, f"{{ {', '.join(text.splitlines())} }}"]
    for candidate in candidates:
        with suppress(tomllib.TOMLDecodeError):
            found: Mapping[str, object] = tomllib.loads(f"value = {candidate}", parse_float=Decimal)
            return found["value"]
    return text
