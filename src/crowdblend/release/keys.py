"""Every key of a policy, declared once: the reader, the JSON schema and the messages all come from here."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypeVar

from crowdblend.errors import InvalidInput
from crowdblend.guarantees.parameters import check
from crowdblend.recoding.dates import PERIODS
from crowdblend.selection.scores import SCORES

Kind: TypeAlias = Literal["text", "texts", "flag", "number", "whole", "numbers", "wholes", "day", "level", "widths"]
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
    "day": "a date such as 1990-01-01, without quotes",
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


_BIASED = "Biased sampling: "
DATA = (
    Key(
        "source",
        "text",
        "CSV or Parquet file, folder or glob, DuckDB file, postgresql:// address, or - for stdin.",
        required=True,
    ),
    Key("population", "text", "Your name for the people, under which the ledger adds up what was promised about them."),
    Key("person", "text", "The column that tells people apart: the unit of protection, one row per person."),
    Key("rows_are_people", "flag", "True instead of person: you vouch that every row is another person."),
    Key("format", "text", "What the source is, when its name does not say.", ("csv", "parquet", "duckdb", "postgres")),
    Key("table", "text", "The table in a DuckDB or PostgreSQL database."),
    Key("delimiter", "text", "The character between the fields of a CSV file."),
    Key("duplicates", "text", "What to do when a person has several rows.", ("refuse", "one")),
)
SAMPLING = (
    Key("rate", "number", "The share of people kept.", ranged=True),
    Key("already_drawn", "flag", "True when the table is itself the sample and the rate is your assumption."),
    Key("low", "number", _BIASED + "the smallest probability of the people who can be sampled.", ranged=True),
    Key("high", "number", _BIASED + "the largest ordinary probability.", ranged=True),
    Key("exceptions", "whole", _BIASED + "how many people may have any probability.", ranged=True),
    Key("max_rate", "number", _BIASED + "the largest probability of anybody protected.", ranged=True),
    Key("key", "text", "What happens to the secret key of the sample.", ("destroy", "seal")),
)
KINDS = ("table", "microdata")
LATER_KINDS = ("points", "statistics", "synopsis", "graph", "outlier-table")
RELEASE = (
    Key("kind", "text", "What is published.", KINDS, required=True),
    Key("below_k", "text", "What happens to classes below k.", ("suppress", "noise")),
    Key("k", "whole", "The crowd size, the person included; leave it out to have it planned.", ranged=True),
    Key("epsilon", "number", "The privacy loss; leave it out to have it planned.", ranged=True),
    Key("delta", "number", "The probability beyond epsilon; leave it out to have it planned.", ranged=True),
    Key("flag", "flag", "Say which cells are exact; needs a larger k."),
    Key("noise_epsilon", "number", "The privacy loss of the noise below k, before sampling.", ranged=True),
    Key("show_from", "whole", "With noise: the smallest value that is shown; cells not shown read as 0."),
    Key("format", "text", "The format of the published data.", ("parquet", "csv")),
    Key("memory", "text", 'The memory that the engine may use, such as "1GB"; it spills to disk beyond.'),
    Key("threads", "whole", "How many threads the engine may use."),
)
RECODING = (
    Key("epsilon", "number", "The part of the release's epsilon that the choice may use.", required=True, ranged=True),
    Key(
        "using",
        "text",
        "Who decides: the whole population, or a part of the sample that is not published.",
        ("population", "split"),
        required=True,
    ),
    Key("share", "number", "With split: the share of the sample that decides; 0.2 unless given.", ranged=True),
    Key("score", "text", "What a good recoding is.", SCORES),
)
TABLES = (
    Key("name", "text", "The table's name, also its file name.", required=True),
    Key("columns", "texts", "The columns of the table, all named in [columns].", required=True),
)
SECTIONS: dict[str, tuple[Key, ...]] = {
    "data": DATA,
    "sampling": SAMPLING,
    "release": RELEASE,
    "recoding": RECODING,
}

_OTHER = Key("other", "text", "The class of every value outside the domain.")
_MISSING = Key("missing", "text", "The class of NULL and empty values.")
_WEIGHT = Key("weight", "number", "How much the column matters when the recoding is chosen; 1 unless given.")
_CODING = (
    Key("bottom", "flag", 'Give values below the domain the class "< first".'),
    Key("top", "flag", 'Give values above the domain the class "≥ last".'),
)
_INCLUDE = Key("include_to", "flag", "Count the value of to into the last class.")
COLUMN_KINDS: dict[str, tuple[Key, ...]] = {
    "values": (Key("values", "texts", "The values, kept as they are.", required=True), _OTHER, _MISSING),
    "width": (
        Key("from", "number", "The lower end, included.", required=True),
        Key("to", "number", "The upper end, excluded unless include_to is true.", required=True),
        Key("width", "widths", "The width of every interval, or several to choose from, finest first.", required=True),
        _INCLUDE,
        *_CODING,
        _OTHER,
        _MISSING,
        _WEIGHT,
    ),
    "breaks": (Key("breaks", "numbers", "The rising ends of the classes.", required=True), *_CODING, _OTHER, _MISSING),
    "prefix": (Key("prefix", "whole", "How many characters to keep.", required=True), _MISSING),
    "date": (
        Key("date", "text", "The period to cut to.", PERIODS, required=True),
        Key("from", "day", "The first day."),
        Key("to", "day", "The last day, excluded unless include_to is true."),
        _INCLUDE,
        _OTHER,
        _MISSING,
    ),
    "hierarchy": (
        Key(
            "hierarchy",
            "text",
            "A file: one value a line, then its group at each level, with ';' between.",
            required=True,
        ),
        Key("level", "level", 'The level to publish; 0 keeps the values themselves, "choose" offers all levels.'),
        Key("levels", "wholes", "The levels to choose from, finest first."),
        _OTHER,
        _MISSING,
        _WEIGHT,
    ),
}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, float | Decimal)


def _is_day(value: Any) -> bool:
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


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
    "day": _is_day,
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
    if key.ranged:
        value = float(value) if isinstance(value, Decimal) else value
        if abs(value) > _LARGEST:
            raise InvalidInput(
                f"{key.name} in {where} must be below 1e18, got a larger number. Correct it: {key.meaning}"
            )
        naming(where, lambda: check(key.name, value))
    return tuple(value) if isinstance(value, list) else value
