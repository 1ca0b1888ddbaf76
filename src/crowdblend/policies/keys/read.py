"""Read one section of a policy: every key of the right kind and in range, or one sentence that says what is wrong."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypeVar

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check

Kind: TypeAlias = Literal[
    "text",
    "texts",
    "flag",
    "number",
    "whole",
    "numbers",
    "wholes",
    "day",
    "level",
    "widths",
    "ends",
    "conditions",
    "where",
]
Table: TypeAlias = Mapping[str, Any]
Result = TypeVar("Result")

PLACEHOLDER = "FILL_IN"
_LARGEST = 10**18
_KIND_WORDS: dict[Kind, str] = {
    "text": 'a text in quotes, for example "text"',
    "texts": 'a list of texts, for example ["a", "b"]',
    "flag": "true or false",
    "number": "a number",
    "whole": "a whole number",
    "numbers": "a list of numbers, for example [0, 10, 20]",
    "wholes": "a list of whole numbers, for example [0, 2, 3]",
    "level": 'a whole number, or "choose"',
    "widths": "a number, or a list of numbers to choose from",
    "ends": "two ends for every axis, for example { x = [0, 1], y = [0, 2] }",
    "where": 'labels by column, for example { sex = "Female", age = ["[0, 10)", "[10, 20)"] }',
    "day": "a date such as 1990-01-01, without quotes",
    "conditions": 'a list of conditions, for example [{ sex = "Male" }]',
}


@dataclass(frozen=True)
class Key:
    """One key: what it may hold, and what it means."""

    name: str
    kind: Kind
    meaning: str
    choices: tuple[str, ...] = ()
    required: bool = False
    ranged: bool = False  # the range is that of the parameter of the same name
    kinds: tuple[str, ...] = ()  # the kinds of release that it says something about; all when empty


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, float | Decimal)


def _are_ends(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


def _is_day(value: Any) -> bool:
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


def _is_where(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(map(_is_label_or_labels, value.values()))


def _is_label_or_labels(value: Any) -> bool:
    labels = value if isinstance(value, list) and value else [value]
    return all(isinstance(label, str) or _is_whole(label) for label in labels)


_FITS: dict[Kind, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "texts": lambda value: isinstance(value, list) and all(isinstance(item, str) or _is_whole(item) for item in value),
    "flag": lambda value: isinstance(value, bool),
    "number": _is_number,
    "whole": _is_whole,
    "numbers": lambda value: isinstance(value, list) and all(map(_is_number, value)),
    "wholes": lambda value: isinstance(value, list) and all(map(_is_whole, value)),
    "level": lambda value: _is_whole(value) or value == "choose",
    "widths": lambda value: _is_number(value) or (isinstance(value, list) and all(map(_is_number, value))),
    "ends": lambda value: isinstance(value, Mapping) and bool(value) and all(map(_are_ends, value.values())),
    "day": _is_day,
    "where": _is_where,
    "conditions": lambda value: isinstance(value, list) and all(isinstance(item, Mapping) for item in value),
}


def shown(value: Any) -> str:
    """A given value in a message, as TOML writes it, cut when it is long."""
    text = _toml(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a table of keys"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, str) else str(value)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the nearest known one, or all of them."""
    names = list(known)
    near = get_close_matches(name.lower(), names, n=1)
    return f"Did you mean {near[0]}?" if near else f"Use {', '.join(names)}."


def naming(where: str, build: Callable[[], Result]) -> Result:
    """The result, or the same refusal with the place it is about in front."""
    try:
        return build()
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def refuse_placeholder(where: str, value: Any) -> None:
    """Refuse a starter policy that was not completed."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            refuse_placeholder(f"{where}.{name}" if where else name, item)
    elif isinstance(value, list):
        for item in value:
            refuse_placeholder(where, item)
    elif isinstance(value, str) and PLACEHOLDER in value:
        raise InvalidInput(f"{where} must be filled in, and still says {PLACEHOLDER}. Write what you know beforehand.")


def read_keys(where: str, keys: tuple[Key, ...], table: Any) -> dict[str, Any]:
    """The values of one section, each of the right kind and in range; `where` names the section in messages."""
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{where} must be a table of keys, got {shown(table)}. Write key = value lines below it.")
    declared = {key.name: key for key in keys}
    for name in table:
        if name not in declared:
            raise InvalidInput(f"{where} has no key {name!r}. {did_you_mean(name, declared)}")
    for key in keys:
        if key.required and key.name not in table:
            raise InvalidInput(f"{where} must have the key {key.name}, and it is missing. Add it: {key.meaning}")
    return {name: _read(where, declared[name], value) for name, value in table.items()}


def _read(where: str, key: Key, value: Any) -> Any:
    if not _FITS[key.kind](value):
        raise InvalidInput(
            f"{key.name} in {where} must be {_KIND_WORDS[key.kind]}, got {shown(value)}. Correct it: {key.meaning}"
        )
    if key.choices and value not in key.choices:
        choices = ", ".join(f'"{choice}"' for choice in key.choices)
        raise InvalidInput(
            f"{key.name} in {where} must be one of {choices}, got {shown(value)}. Correct it: {key.meaning}"
        )
    if key.kind == "texts":
        return tuple(str(item) for item in value)
    if key.kind == "where":
        return {name: tuple(map(str, some if isinstance(some, list) else [some])) for name, some in value.items()}
    if key.ranged:
        value = float(value) if isinstance(value, Decimal) else value
        if abs(value) > _LARGEST:
            raise InvalidInput(
                f"{key.name} in {where} must be below 1e18, got a larger number. Correct it: {key.meaning}"
            )
        naming(where, lambda: check(key.name, value))
    return tuple(value) if isinstance(value, list) else value
