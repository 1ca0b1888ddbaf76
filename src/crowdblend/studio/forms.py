"""Fields of forms from the keys of policies: whatever a policy can say has a field, with its own meaning beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from crowdblend.errors import InvalidInput
from crowdblend.kinds.statistics.estimands import ESTIMANDS
from crowdblend.policies.key import Key
from crowdblend.policies.registry import WHOLES, WORDS
from crowdblend.studio.model.typed_values import typed_text
from crowdblend.studio.model.unsaid import LONGEST_TEXT
from crowdblend.studio.model.wording import in_words, label_of

WHAT = {kind: words.publishes for kind, words in WORDS.items()}
KIND_NAMES = {**{kind: words.name for kind, words in WORDS.items()}, "programme": WHOLES["programme"].name}
WAY_NAMES = {
    "values": "listed values",
    "width": "intervals of equal width",
    "breaks": "intervals between breaks",
    "prefix": "first characters",
    "date": "periods of time",
    "hierarchy": "groups from a file",
    "resolution": "numbers between bounds",
}
_FORM = "application/x-www-form-urlencoded"
# A hierarchy has a field for every cell.
_MOST_FIELDS = 25_000
# The input of a key by its type, and what is shown while nothing was typed.
_INPUTS = {"flag": "flag", **dict.fromkeys(("texts", "paths", "where", "ends", "conditions", "rates"), "lines")}
_INPUTS |= {"number": "number", "whole": "number", "decimal": "number"}
_EXAMPLES = {
    "where": "sex: Female",
    "ends": "x: 0 to 1",
    "conditions": "sex: Female; age: 30–39",
    "day": "1990-01-31",
    "rates": "north: 0.05",
    "texts": "one a line",
}
ENCODINGS = {"utf-8": "UTF-8", "windows-1252": "Windows, western Europe", "latin-1": "Latin 1", "utf-16": "UTF-16"}
# What can be chosen where the policy takes any text, with the words for it.
_OFFERED = {
    "delimiter": {",": "a comma", ";": "a semicolon", "|": "an upright line", typed_text("text", "\t"): "a tab"},
    "decimal": {".": "a point, 1.5", ",": "a comma, 1,5"},
    "thousands": {
        ",": "a comma, 1,000",
        ".": "a point, 1.000",
        "'": "an apostrophe, 1'000",
        typed_text("text", " "): "any space, 1 000",
    },
    "encoding": ENCODINGS,
    "date_format": {
        "%Y-%m-%d": "1990-01-31",
        "%d.%m.%Y": "31.01.1990",
        "%d/%m/%Y": "31/01/1990",
        "%m/%d/%Y": "01/31/1990",
        "%Y%m%d": "19900131",
    },
    "memory": {size: size for size in ("1GB", "2GB", "4GB", "8GB", "16GB")},
}
_PERIODS = ("day", "week", "month", "quarter", "year")
# What a page of its own says.
_HIDDEN = ("proposes",)
_COLUMNS_KEYS = ("columns", "by")
_COLUMN_KEYS = (*(name for name, one in ESTIMANDS.items() if not one.of_labels), "ranges", "column")


@dataclass(frozen=True)
class Field:
    """An input: its name in the form, what it is called and means, and what was typed."""

    name: str
    label: str
    meaning: str
    value: str
    input: str
    choices: Mapping[str, str] = field(default_factory=dict)
    """What can be chosen, with the words for it."""
    required: bool = False
    example: str = ""
    columns: bool = False
    """Whether it names a column."""

    @property
    def key(self) -> str:
        """The key of the policy that it is for."""
        return re.split(r"[:/]", self.name)[-1]


def field_of(key: Key, name: str, value: str) -> Field:
    """Return the input for a key."""
    named = key.name in _COLUMN_KEYS and key.kind == "text"
    offered = _OFFERED.get(key.name, {}) if key.kind == "text" else {}
    shown = {**{choice: choice for choice in key.choices if key.kind != "flag"}, **offered}
    kind = "choice" if shown else _INPUTS.get(key.kind, "text")
    if key.kind == "periods" or (key.name in _COLUMNS_KEYS and key.kind == "texts"):
        kind, shown = "boxes", dict(zip(_PERIODS, _PERIODS, strict=True)) if key.kind == "periods" else {}
        value = re.sub(r"[\s,]+", "\n", value) if key.kind == "periods" else value
    if kind == "text" and "\n" in value:
        kind = "lines"
    if kind == "choice" and value:
        shown = {**shown, value: shown.get(value, value)}
    meaning = "All of them, unless some are ticked." if key.name == "columns" else in_words(key.meaning)
    example = _EXAMPLES.get(key.kind, "")
    return Field(name, label_of(key.name), meaning, value, kind, shown, key.required, example, named)


def fields_of(
    keys: Mapping[str, Key], prefix: str, texts: Mapping[str, str], skip: tuple[str, ...] = ()
) -> list[Field]:
    """Return the inputs for the keys of a section."""
    return [
        field_of(key, f"{prefix}{name}", texts.get(name, ""))
        for name, key in keys.items()
        if name not in (*skip, *_HIDDEN)
    ]


async def form_of(request: Request) -> dict[str, str]:
    """Return what a form sent, by name; refuses what no form of ours sends."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise malformed_request()
    try:
        sent = await request.form(max_files=0, max_fields=_MOST_FIELDS)
        items = list(sent.multi_items())
    except Exception:
        raise malformed_request() from None
    found: dict[str, str] = {}
    for name, sent_value in items:
        if not isinstance(sent_value, str):
            raise malformed_request()
        value = sent_value.replace("\r\n", "\n")
        if len(value) > LONGEST_TEXT or any("\ud800" <= one <= "\udfff" or one in "\ufffd\0" for one in name + value):
            raise malformed_request()
        # A box that is not ticked sends nothing but the blank before it; several that are ticked send a line each.
        found[name] = "\n".join(filter(None, (found.get(name), value)))
    return found


def malformed_request() -> InvalidInput:
    """Return the refusal of a request that no page of the studio sends."""
    message = "This request cannot be read."
    return InvalidInput(message, remedy="Reload the page, and try again.", where="request", code="studio.malformed")


def prefixed_fields(form: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the fields whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


def revision_of(form: Mapping[str, str]) -> int | None:
    """Return the revision of the draft that the page was made from."""
    text = form.get("revision", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def numbered_sections(form: Mapping[str, str], section: str) -> dict[int, dict[str, str]]:
    """Return the repeated sections of a form by their numbers: fields are called `section/number/key`."""
    items: dict[int, dict[str, str]] = {}
    for name, value in prefixed_fields(form, f"{section}/").items():
        number, _, key = name.partition("/")
        if number.isascii() and number.isdigit() and len(number) < 5:
            items.setdefault(int(number), {})[key] = value
    return dict(sorted(items.items()))


def whole_of(form: Mapping[str, str], name: str) -> int | None:
    """Return a whole number from a form; None where the field is blank."""
    text = form.get(name, "").strip().replace(",", "").replace("_", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 13):
        raise InvalidInput(
            f"{name} takes a whole number.", remedy="Write digits only.", where=name, code="studio.number"
        )
    return int(text)
