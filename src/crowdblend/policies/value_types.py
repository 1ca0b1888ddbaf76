"""The types of value that keys of a policy take: how errors say them, what they take and what they keep."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct


class Kind(Struct, frozen=True):
    """A type of value: its name, how errors say it, what it takes where that is more than it keeps, and what it keeps.

    Everything else about it, the JSON schema included, follows from the annotation that it stands in.
    """

    name: str
    words: str
    takes: object = None
    keeps: Callable[[Any], object] | None = None


def _labels(value: str | int | bool | tuple[str | int | bool, ...]) -> tuple[str, ...]:
    """Return labels as texts: truth values as the data show them."""
    every = value if isinstance(value, tuple) else (value,)
    return tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in every)


_Label = str | int | bool
_SOME = Meta(min_length=1)
PLAIN: dict[object, Kind] = {
    str: Kind("text", 'a text, for example "text"'),
    bool: Kind("flag", "true or false"),
    int: Kind("whole", "a whole number"),
    float: Kind("number", "a number"),
    datetime.date: Kind("day", 'a date such as 1990-01-31, or a month or year such as "1990-01"'),
}
# Numbers of a domain stay the decimals that were written, so that 0.1 is a tenth.
Exact = Annotated[int | Decimal, Kind("decimal", "a number")]
Exacts = Annotated[tuple[int | Decimal, ...], Kind("numbers", "a list of numbers, for example [0, 10, 20]")]
Wholes = Annotated[tuple[int, ...], Kind("wholes", "a list of whole numbers, for example [0, 2, 3]")]
FilePath = Annotated[str, Kind("path", 'a path, for example "people.csv"')]
FilePaths = Annotated[
    tuple[str, ...],
    Kind(
        "paths",
        'a path, or a list of them, for example "town-proposal"',
        str | tuple[str, ...],
        lambda given: given if isinstance(given, tuple) else (given,),
    ),
]
Texts = Annotated[
    tuple[str, ...], Kind("texts", 'a list of texts, for example ["a", "b"]', tuple[_Label, ...], _labels)
]
Names = Annotated[tuple[str, ...], Kind("texts", 'a list of names, for example ["sex", "age"]')]
Level = Annotated[int | Annotated[str, Meta(pattern="^choose$")], Kind("level", 'a whole number, or "choose"')]
Widths = Annotated[
    int | Decimal | tuple[int | Decimal, ...], Kind("widths", "a number, or a list of numbers to choose from")
]
Period = Literal["day", "week", "month", "quarter", "year"]
Periods = Annotated[
    Period | tuple[Period, ...],
    Kind("periods", "day, week, month, quarter, year, or a list of them to choose from"),
]
Ends = Annotated[
    Annotated[dict[str, tuple[int | Decimal, int | Decimal]], _SOME],
    Kind("ends", "two ends for every axis, for example `{ x = [0, 1], y = [0, 2] }`"),
]
Rates = Annotated[
    str | Annotated[dict[str, float], _SOME],
    Kind("rates", "a rate for every label, for example `{ north = 0.1, south = 0.5 }`, or the path of a file of them"),
]
Where = Annotated[
    Mapping[str, tuple[str, ...]],
    Kind(
        "where",
        'labels by column, for example `{ sex = "Female", age = ["[0, 10)", "[10, 20)"] }`',
        Annotated[dict[str, _Label | Annotated[tuple[_Label, ...], _SOME]], _SOME],
        lambda given: {name: _labels(labels) for name, labels in given.items()},
    ),
]
Conditions = Annotated[
    tuple[Mapping[str, str], ...],
    Kind(
        "conditions",
        'a list of conditions, for example `[{ sex = "Male" }]`',
        tuple[Annotated[dict[str, _Label], _SOME], ...],
        lambda given: tuple({name: _labels(label)[0] for name, label in item.items()} for item in given),
    ),
]
