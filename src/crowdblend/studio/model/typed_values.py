"""The value of a key from the text that someone types into a field, and the text of a value.

A field is text whatever the key holds: lists of texts have one a line, lists of numbers have blanks or commas between
them, and what has names in it has a line for each, `name: value`. What does not fit is passed on as it is, so that the
key refuses it in its own words.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation

_NUMBERS = ("number", "decimal", "whole", "level", "widths", "numbers", "wholes")
_LISTS = ("widths", "periods")
_LINES = ("texts", "paths")


def typed_value(kind: str, text: str) -> object:
    """Return the value that a text stands for.

    >>> typed_value("texts", "Female\\n Male "), typed_value("widths", "5, 10"), typed_value("whole", "20")
    (['Female', 'Male'], [5, 10], 20)
    >>> typed_value("periods", "year"), typed_value("periods", "day, month")
    ('year', ['day', 'month'])
    >>> typed_value("rates", "north: 0.1\\nsouth: 0.5"), typed_value("rates", "rates.csv")
    ({'north': Decimal('0.1'), 'south': Decimal('0.5')}, 'rates.csv')
    >>> typed_value("where", "sex: Female\\nage: [0, 10)\\nage: [10, 20)"), typed_value("ends", "x: 0 to 1")
    ({'sex': ['Female'], 'age': ['[0, 10)', '[10, 20)']}, {'x': [0, 1]})
    >>> typed_value("conditions", "sex: Male; age: 30–39")
    [{'sex': 'Male', 'age': '30–39'}]
    """
    if kind in _LINES:
        return [line.strip() for line in text.splitlines() if line.strip()]
    text = text.strip()
    if kind == "flag":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind == "day":
        with suppress(ValueError):
            return datetime.date.fromisoformat(text)
    if kind in _NAMED:
        pairs = _pairs(text)
        return text if pairs is None else _NAMED[kind](pairs)
    if kind == "conditions":
        every = [_pairs(line, ";") for line in text.splitlines() if line.strip()]
        return text if None in every else [dict(one or ()) for one in every]
    parts: list[object] = [part for part in re.split(r"[\s,;]+", text) if part]
    read = _number if kind in _NUMBERS else str
    listed = kind in ("numbers", "wholes") or (kind in _LISTS and len(parts) > 1)
    return [read(str(part)) for part in parts] if listed else read(text)


def typed_text(kind: str, value: object) -> str:
    """Return the text that stands for a value, as `typed_value` reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {text}" for name, each in value.items() for text in _named_texts(kind, each))
    if kind == "conditions" and isinstance(value, list | tuple):
        return "\n".join("; ".join(f"{name}: {label}" for name, label in one.items()) for one in value)
    if isinstance(value, list | tuple):
        return ("\n" if kind in _LINES else ", ").join(map(str, value))
    return str(value)


def _named_texts(kind: str, value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [" to ".join(map(str, value))] if kind == "ends" else list(map(str, value))
    return [str(value)]


def _number(text: str) -> object:
    plain = text.replace("_", "")
    with suppress(ValueError):
        return int(plain)
    with suppress(InvalidOperation):
        return Decimal(plain)
    return text


def _pairs(text: str, between: str = "\n") -> list[tuple[str, str]] | None:
    """Return names with their texts; None where a line has no name."""
    found = [line.partition(": ") for line in text.split(between) if line.strip()]
    return [(name.strip(), rest.strip()) for name, _, rest in found] if all(rest for *_, rest in found) else None


_NAMED: dict[str, Callable[[list[tuple[str, str]]], object]] = {
    "rates": lambda pairs: {name: _number(rate) for name, rate in pairs},
    "where": lambda pairs: {name: [one for other, one in pairs if other == name] for name, _ in pairs},
    "ends": lambda pairs: {name: [_number(end) for end in ends.split(" to ")] for name, ends in pairs},
}
