"""Refusals and explanations in the words of the pages: fields and steps, not keys."""

from __future__ import annotations

import re
from functools import cache

from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Section, keys_of, parts_of
from crowdblend.policies.publication import CommonKeys
from crowdblend.policies.registry import KINDS, policy_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms

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
}
_STEPS = {"data": "data", "about": "data", "columns": "columns"}
_SECTION = re.compile(r"\[\[?(data|about|columns|sampling|privacy|recoding|release|publish(?:\.\w+)?)\]?\]")
_VALUE = r"\"[^\"]*\"|'[^']*'|\[[^\]]*\]|[^\s,;:]+?"
_GREEK = {"epsilon": "ε", "delta": "δ"}


def label_of(key: str) -> str:
    """Return what the field of a key is called.

    >>> label_of("rows_per_person"), label_of("k")
    ('Rows per person', 'Smallest crowd k')
    """
    return _LABELS.get(key) or key[0].upper() + key[1:].replace("_", " ")


def in_words(text: str) -> str:
    """Return a sentence without the notation of policy files.

    >>> in_words("rate in [sampling] takes a number between 0 and 1, got 2.")
    '“Share of people sampled” takes a number between 0 and 1, got 2.'
    >>> in_words("[sampling] has no rates. Add top = true, or remove degree_bound.")
    '“Rates” is not filled in. Add “Top”, or remove “Degree bound”.'
    """
    key = f"(?P<key>{'|'.join(sorted(_keys(), key=len, reverse=True))})"
    section = _SECTION.pattern

    def name_field(match: re.Match[str]) -> str:
        return f"“{label_of(match['key'])}”"

    text = re.sub(
        rf"(?:{section}|The declaration) has no {key}\b", lambda at: f"{name_field(at)} is not filled in", text
    )
    text = re.sub(rf"{section}(?:: The declaration)? has none of ", "None of these is filled in: ", text)
    text = re.sub(rf"\b{key} (?:in|of|to) {section}", name_field, text)
    text = re.sub(rf"{section}:? {key}\b(?! (?:is|has|have)\b)", name_field, text)
    text = re.sub(r",? ?(?:for example|as in|such as) \[?\{[^}]*\}\]?", "", text)
    text = re.sub(r" in quotes| in braces|, without quotes", "", text)
    text = re.sub(rf"\b([Pp])ass --{key}", lambda at: f"{at[1]}ick {name_field(at)}", text)
    text = re.sub(r"(for example) \[([^\]]*)\]", lambda at: f"{at[1]} {at[2].replace(chr(34), '')}", text)
    text = re.sub(rf"\b{key} = (?P<value>{_VALUE})(?=[\s,;:)]|\.?$|\. )", _state_field, text)
    text = re.sub(rf"\b{key}\b", lambda at: name_field(at) if "_" in at["key"] else _GREEK.get(at["key"], at[0]), text)
    text = _SECTION.sub(lambda at: _SECTIONS[at[1].partition(".")[0]], text)
    return text[:1].upper() + text[1:]


def _state_field(match: re.Match[str]) -> str:
    """Return a key with its value, as the page shows the field."""
    key, value = match["key"], match["value"].strip("\"'")
    if key == "design":
        return f"“{DESIGNS[value].words}”" if value in DESIGNS else "another answer to what the data are"
    if value in ("true", "false"):
        return f"“{label_of(key)}”" if value == "true" else f"“{label_of(key)}” not ticked"
    if re.fullmatch(r"-?[\d.,]+(e[-+]?\d+)?", value):
        return f"{_GREEK.get(key) or ('k' if key == 'k' else label_of(key).lower())} of {value}"
    return f"“{label_of(key)}: {value}”"


def place_of(where: str | None) -> tuple[str, str] | None:
    """Return the step and the field that an error is about; None where it is about none.

    >>> place_of("[sampling] rate"), place_of("[[publish]] k"), place_of("column 'age'")
    (('release', 'sampling:rate'), ('release', 'publish/0/k'), ('columns', 'age'))
    """
    if column := re.fullmatch(r"(?:\[columns\] |column )'?(.*?)'?", where or ""):
        return "columns", column[1]
    found = _SECTION.match(where or "")
    if found is None:
        return None
    section, key = found[1], (where or "")[found.end() :].strip().split(" ")[-1]
    if section.startswith("publish"):
        _, _, inside = section.partition(".")
        return "release", f"publish/0/{inside}/0/{key}" if inside else f"publish/0/{key}"
    return _STEPS.get(section, "release"), f"{section}:{key}"


@cache
def _keys() -> frozenset[str]:
    """Return the names of all keys that a policy can have."""
    holders: list[type[Section]] = [*map(policy_class, KINDS), *DESIGNS.values(), *DOMAINS.values(), AxisDomain]
    holders += [Terms, CommonKeys]
    holders += [part.holder for one in holders for part in parts_of(one).values()]
    return frozenset({"design", "split"} | {key.name for one in holders for key in keys_of(one).values()})
