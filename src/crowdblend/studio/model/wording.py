"""Refusals and explanations in the words of the pages: fields and steps, not keys."""

from __future__ import annotations

from crowdblend.notation import (
    Command,
    Key,
    Notation,
    Option,
    Reference,
    SectionName,
    Setting,
    Value,
    alternatives,
    reference,
    spell,
)
from crowdblend.policies.sampling import DESIGNS

# Fields that are called by more than the name of their key.
_LABELS = {
    "k": "Smallest crowd k",
    "epsilon": "Privacy loss ε",
    "delta": "Added probability δ",
    "rate": "Share of people sampled",
    "person": "Column that tells people apart",
    "rows_are_people": "Every row is another person",
    "population": "Name of the population",
    "source": "File or table",
    "of": "People of the population",
    "split": "How the publications share it",
}
_SECTIONS = {
    "data": "the step Data",
    "about": "the step Data",
    "columns": "the step Columns",
    "sampling": "the sample",
    "privacy": "the guarantee",
    "recoding": "the choice of the recoding",
    "release": "the files",
    "publish": "the publication",
    "publish.statistics": "the statistic",
    "publish.boxes": "the box",
    "publish.quadtree": "the quadtree",
}
_STEPS = {"data": "data", "about": "data", "columns": "columns"}
_SYMBOLS = {"k": "k", "epsilon": "ε", "delta": "δ"}


def label_of(key: str) -> str:
    """Return what the field of a key is called.

    >>> label_of("noise_epsilon"), label_of("k")
    ('Noise epsilon', 'Smallest crowd k')
    """
    return _LABELS.get(key) or key[0].upper() + key[1:].replace("_", " ")


def in_words(text: str) -> str:
    """Return a sentence in the words of the pages.

    >>> in_words("`sampling.rate` takes a number between 0 and 1, got 2.")
    '“Share of people sampled” takes a number between 0 and 1, got 2.'
    >>> in_words("add `top = true`, or remove `publish.degree_bound`.")
    'Add “Top”, or remove “Degree bound”.'
    """
    words = settings_in_words(text)
    return words[:1].upper() + words[1:] if words[:2].isalpha() else words


def settings_in_words(text: str) -> str:
    """Return a line of a plan in the words of the pages.

    >>> settings_in_words('exact from k = 35, with `publish.below_k = "noise"`')
    'exact from k = 35, with “Below k: noise”'
    """
    return spell(text, PAGES)


class _Pages:
    """The notation of the pages: fields, steps and buttons."""

    def spell(self, named: Reference) -> str:
        match named:
            case Key(_, name) | Option(name, _):
                return f"“{label_of(name)}”"
            case Setting(Key(_, name), values):
                return alternatives(tuple(_field(name, _plain(value)) for value in values))
            case Value(text):
                return _plain(text)
            case SectionName(name):
                return _SECTIONS[name]
            case Command("crowdblend check"):
                return "“Check the rows” in the step Columns"
            case Command(line):
                return line


PAGES: Notation = _Pages()


def _field(name: str, value: str) -> str:
    """Return a field with its value, as the page shows both."""
    if name == "design" and value in DESIGNS:
        return f"“{DESIGNS[value].words}”"
    if name in _SYMBOLS:
        return f"{_SYMBOLS[name]} = {value}"
    if value in ("true", "false"):
        return f"“{label_of(name)}”" if value == "true" else f"“{label_of(name)}” not ticked"
    return f"“{value}”" if name == "kind" else f"“{label_of(name)}: {value}”"


def _plain(value: str) -> str:
    """Return a value of TOML as fields show it, without quotes and braces.

    >>> _plain('{ sex = "Female" }')
    'sex: Female'
    """
    for sign in "{}[]\"'":
        value = value.replace(sign, "")
    return value.strip().replace(" = ", ": ")


def place_of(where: str | None) -> tuple[str, str] | None:
    """Return the step and the field that an error is about; None where it is about none.

    >>> place_of("`sampling.rate`"), place_of("`publish.k`"), place_of("column 'age'")
    (('release', 'sampling:rate'), ('release', 'publish/0/k'), ('columns', 'age'))
    """
    if where is None:
        return None
    if where.startswith("column "):
        return "columns", where.removeprefix("column ").strip("'\"")
    named, _, rest = where.removeprefix("`").partition("`")
    match reference(named) if where.startswith("`") else None:
        case Key(section, key) if section:
            pass
        case SectionName(section):
            key = rest.strip().split(" ")[-1]
        case _:
            return None
    if section == "columns":
        return "columns", key
    if section.startswith("publish"):
        _, _, inside = section.partition(".")
        return "release", f"publish/0/{inside}/0/{key}" if inside else f"publish/0/{key}"
    return _STEPS.get(section, "release"), f"{section}:{key}"
