"""The types of value that a key of a policy can hold: what fits, how it is converted, how it is shown."""

from __future__ import annotations

import datetime
import math
import numbers
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from crowdblend.guarantees.parameters import brief

Kind: TypeAlias = Literal[
    "text",
    "path",
    "texts",
    "flag",
    "number",
    "decimal",
    "whole",
    "numbers",
    "wholes",
    "day",
    "level",
    "widths",
    "periods",
    "ends",
    "rates",
    "conditions",
    "where",
]

_LARGEST, _LARGEST_WHOLE = 10**300, 10**18
_MOST_DIGITS = 400
KIND_WORDS: dict[Kind, str] = {
    "text": 'a text in quotes, for example "text"',
    "path": 'a path in quotes, for example "people.csv"',
    "texts": 'a list of texts, for example ["a", "b"]',
    "flag": "true or false",
    "number": "a number",
    "decimal": "a number",
    "whole": "a whole number",
    "numbers": "a list of numbers, for example [0, 10, 20]",
    "wholes": "a list of whole numbers, for example [0, 2, 3]",
    "level": 'a whole number, or "choose"',
    "widths": "a number, or a list of numbers to choose from",
    "periods": "year, quarter, month, week or day in quotes, or a list of them to choose from",
    "ends": "two ends for every axis, for example { x = [0, 1], y = [0, 2] }",
    "rates": "a rate for every label, for example { north = 0.1, south = 0.5 }, or the path of a file of them",
    "where": 'labels by column, for example { sex = "Female", age = ["[0, 10)", "[10, 20)"] }',
    "day": "a date such as 1990-01-01, without quotes",
    "conditions": 'a list of conditions, for example [{ sex = "Male" }]',
}


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and (_is_whole(value) or not isinstance(value, numbers.Rational))
    return (real or isinstance(value, Decimal)) and not isinstance(value, bool)


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(of, value))


def _is_label(value: Any) -> bool:
    return isinstance(value, str | bool) or _is_whole(value)


def _label(value: Any) -> str:
    """A label as text: a truth value as the data show it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_labels(value: Any) -> bool:
    return _is_label(value) or (bool(value) and _is_list(value, _is_label))


def _is_mapping(value: Any, of: Callable[[Any], bool]) -> bool:
    named = isinstance(value, Mapping) and bool(value) and all(isinstance(name, str) for name in value)
    return named and all(map(of, value.values()))


def _is_pair(value: Any) -> bool:
    return _is_list(value, _is_number) and len(value) == 2


_FITS: dict[Kind, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "path": lambda value: isinstance(value, str | os.PathLike),
    "texts": lambda value: _is_list(value, _is_label),
    "flag": lambda value: isinstance(value, bool),
    "number": _is_number,
    "decimal": _is_number,
    "whole": _is_whole,
    "numbers": lambda value: _is_list(value, _is_number),
    "wholes": lambda value: _is_list(value, _is_whole),
    "level": lambda value: _is_whole(value) or (isinstance(value, str) and value == "choose"),
    "widths": lambda value: _is_number(value) or _is_list(value, _is_number),
    "periods": lambda value: isinstance(value, str) or _is_list(value, lambda one: isinstance(one, str)),
    "ends": lambda value: _is_mapping(value, _is_pair),
    "rates": lambda value: isinstance(value, str | os.PathLike) or _is_mapping(value, _is_number),
    "day": lambda value: isinstance(value, datetime.date) and not isinstance(value, datetime.datetime),
    "where": lambda value: _is_mapping(value, _is_labels),
    "conditions": lambda value: _is_list(value, lambda item: _is_mapping(item, _is_label)),
}


def fits(kind: Kind, value: Any) -> bool:
    """Whether a value is of that kind."""
    return _FITS[kind](value)


def convert(kind: Kind, value: Any) -> Any:  # noqa: PLR0911  one line for each kind
    """A value that fits, in the one type that policies keep.

    Lists become tuples and whole labels texts. A number becomes a double; a number of a domain stays the decimal that
    was written, so that 0.1 is a tenth.
    """
    if kind == "path" or (kind == "rates" and not isinstance(value, Mapping)):
        return os.fspath(value)
    if kind == "rates":
        return {label: convert("number", rate) for label, rate in value.items()}
    if kind == "texts":
        return tuple(map(_label, value))
    if kind == "where":
        return {
            name: tuple(map(_label, some if isinstance(some, list | tuple) else [some])) for name, some in value.items()
        }
    if kind == "conditions":
        return tuple({name: _label(label) for name, label in item.items()} for item in value)
    if kind == "ends":
        return {name: tuple(map(_exact, ends)) for name, ends in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_exact, value))
    if kind == "number":
        value = _exact(value)
        return value if isinstance(value, int) or not value.is_finite() else float(value)
    return _exact(value)


def _exact(value: Any) -> Any:
    """A number as the decimal that was written, whole ones as int, whatever library it comes from."""
    if isinstance(value, bool | str | Decimal | int) or not isinstance(value, numbers.Real):
        return value
    return int(value) if isinstance(value, numbers.Integral) else Decimal(repr(float(value)))


def problem_of(kind: Kind, value: Any) -> str | None:
    """What is wrong with a value of the right type: a NUL, a number that no double holds."""
    item: Any
    for item in _leaves(value):
        if isinstance(item, str) and "\0" in item:
            return "holds a NUL character"
        if isinstance(item, str) and any("\ud800" <= character <= "\udfff" for character in item):
            return "holds half of a surrogate pair, which is not Unicode text"
        if isinstance(item, int | float | Decimal) and not isinstance(item, bool):
            if isinstance(item, float | Decimal) and not math.isfinite(item):
                return "is not a finite number"
            largest = _LARGEST_WHOLE if kind in ("whole", "wholes", "level") else _LARGEST
            if not -largest <= item <= largest or (isinstance(item, Decimal) and _too_long(item)):
                return "is a number too large or with too many digits"
    if kind in ("path", "rates") and not str(value).strip():
        return "is blank"
    return None


def _too_long(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return not isinstance(exponent, int) or exponent < -_MOST_DIGITS or len(value.as_tuple().digits) > _MOST_DIGITS


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value, *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def shown(value: Any) -> str:
    """A given value in a message, as TOML writes it, cut where it is long."""
    text = _toml(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a table of keys"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value[:20]))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | bytes) or not isinstance(value, int | float | Decimal | datetime.date):
        return brief(value)
    return brief(value) if isinstance(value, int) else str(value)
