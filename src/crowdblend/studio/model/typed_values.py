"""The value of a key from the text that someone types into a field, and the text of a value.

A field is text whatever the key holds: lists of texts have one a line, lists of numbers have blanks or commas between
them, and what has names in it has a line for each, `name: value`. What does not fit is passed on as it is, so that the
key refuses it in its own words.

A text that a field would change, or that would be read as something else, stands in quotes with JSON's escapes: one
with blanks at its ends, with signs that do not show, or with the signs that divide names and values. So every value
has a text, and every text that a form sends back unchanged is the same value again.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

_NUMBERS = ("number", "decimal", "whole", "level", "widths", "numbers", "wholes")
_LISTS = ("widths", "periods")
_LINES = ("texts", "paths")
_TEXTS = ("text", "path")
_IN_QUOTES = r'"(?:[^"\\]|\\.)*"'
_QUOTED = re.compile(_IN_QUOTES)
_NAME = re.compile(rf"\s*({_IN_QUOTES})\s*: (.*)")
_CONDITION = re.compile(rf"(?:{_IN_QUOTES}|[^;])+")
# A form refuses it as broken text.
_REPLACEMENT = "\ufffd"


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
    >>> typed_value("text", '" "'), typed_value("texts", '" a"\\n"b\\\\nc"'), typed_value("rates", '"a: b": 0.5')
    (' ', [' a', 'b\\nc'], {'a: b': Decimal('0.5')})
    """
    if kind in _LINES:
        return typed_lines(text)
    if kind == "conditions":
        return _conditions(text)
    text = text.strip()
    if kind in _TEXTS or (kind in _NAMED and _QUOTED.fullmatch(text)):
        return _unquote(text)
    if kind in _NAMED:
        pairs = _pairs(text.split("\n"))
        return text if pairs is None else _NAMED[kind](pairs)
    return _plain_value(kind, text)


def _plain_value(kind: str, text: str) -> object:
    """Return a truth value, a day, a number, a choice, or a list of numbers or choices."""
    if kind == "flag":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind == "day":
        with suppress(ValueError):
            return datetime.date.fromisoformat(text)
    parts: list[object] = [part for part in re.split(r"[\s,;]+", text) if part]
    read = _number if kind in _NUMBERS else str
    listed = kind in ("numbers", "wholes") or (kind in _LISTS and len(parts) > 1)
    return [read(str(part)) for part in parts] if listed else read(text)


def _conditions(text: str) -> object:
    every = [_pairs(_CONDITION.findall(line)) for line in text.split("\n") if line.strip()]
    return text.strip() if None in every else [dict(one or ()) for one in every]


def typed_lines(text: str) -> list[str]:
    """Return the texts that are typed one a line."""
    return [_unquote(line.strip()) for line in text.split("\n") if line.strip()]


def typed_text(kind: str, value: object) -> str:
    """Return the text that stands for a value, as `typed_value` reads it."""
    text = str(value)
    if isinstance(value, bool):
        text = text.lower()
    elif isinstance(value, Mapping):
        pairs = ((name, one) for name, each in value.items() for one in _named_texts(kind, each))
        text = "\n".join(f"{_quote(name, ': ')}: {one}" for name, one in pairs)
    elif isinstance(value, list | tuple):
        text = _listed_text(kind, value)
    elif isinstance(value, str) and kind in (*_TEXTS, *_NAMED):
        plain = kind == "text" and _has_plain_lines(value)
        text = value if plain else _quote(value, *([": "] if kind in _NAMED else []))
    return text


def _listed_text(kind: str, values: Sequence[Any]) -> str:
    if kind == "conditions":
        pairs = ([f"{_quote(name, ': ', ';')}: {_quote(label, ';')}" for name, label in one.items()] for one in values)
        return "\n".join(map("; ".join, pairs))
    return "\n".join(_quote(str(one)) for one in values) if kind in _LINES else ", ".join(map(str, values))


def _has_plain_lines(text: str) -> bool:
    """Return whether a text of several lines, such as a query, can stand in a field of several lines as it is."""
    return "\n" in text and text == text.strip() and not _QUOTED.fullmatch(text) and _shows(text.replace("\n", ""))


def _shows(text: str) -> bool:
    return text.isprintable() and _REPLACEMENT not in text


def _quote(text: str, *between: str) -> str:
    """Return a text as it is, or in quotes where that would be another; `between` are signs that divide texts."""
    divided = any(sign in text for sign in between) or (between and '"' in text)
    if text and text == text.strip() and not divided and not _QUOTED.fullmatch(text) and _shows(text):
        return text
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(sign if _shows(sign) else json.dumps(sign)[1:-1] for sign in plain)


def _unquote(text: str) -> str:
    if _QUOTED.fullmatch(text):
        with suppress(ValueError):
            return str(json.loads(text))
    return text


def _named_texts(kind: str, value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [" to ".join(map(str, value))] if kind == "ends" else [_quote(str(one)) for one in value]
    return [str(value)]


def _number(text: str) -> object:
    plain = text.replace("_", "")
    with suppress(ValueError):
        return int(plain)
    with suppress(InvalidOperation):
        return Decimal(plain)
    return text


def _pairs(lines: list[str]) -> list[tuple[str, str]] | None:
    """Return names with their texts; None where a line has no name."""
    found = [_pair(line) for line in lines if line.strip()]
    return [(name, _unquote(rest.strip())) for name, rest in found] if all(rest for _, rest in found) else None


def _pair(line: str) -> tuple[str, str]:
    if quoted := _NAME.fullmatch(line):
        return _unquote(quoted[1]), quoted[2]
    name, _, rest = line.partition(": ")
    return name.strip(), rest


_NAMED: dict[str, Callable[[list[tuple[str, str]]], object]] = {
    "rates": lambda pairs: {name: _number(rate) for name, rate in pairs},
    "where": lambda pairs: {name: [one for other, one in pairs if other == name] for name, _ in pairs},
    "ends": lambda pairs: {name: [_number(end) for end in ends.split(" to ")] for name, ends in pairs},
}
