"""Refusals and explanations in the words of the pages: fields and steps, not keys."""

from __future__ import annotations

import re
from functools import cache

from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Section, keys_of, parts_of
from crowdblend.policies.registry import KINDS, policy_class, publication_class
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
_SECTION = re.compile(r"\[\[?(data|about|columns|sampling|privacy|recoding|release|publish(?:\.\w+)?)\]?\]")
_VALUE = r"\"[^\"]*\"|'[^']*'|\[[^\]]*\]|[^\s,;:]+?"
_SYMBOLS = {"k": "k", "epsilon": "ε", "delta": "δ"}
_EXAMPLE = re.compile(r",? ?(?:for example|as in|such as) (?:\w+ = )?\[?\{(?:[^{}]|\{[^{}]*\})*\}\]?")
# What is the steward's own stays as it is: names of columns, values, files.
_QUOTED = re.compile(r"(?<!\w)(?<!= )'[^']*'(?!\w)")


def label_of(key: str) -> str:
    """Return what the field of a key is called.

    >>> label_of("noise_epsilon"), label_of("k")
    ('Noise epsilon', 'Smallest crowd k')
    """
    return _LABELS.get(key) or key[0].upper() + key[1:].replace("_", " ")


def in_words(text: str) -> str:
    """Return sentences without the notation of policy files and of the command line.

    >>> in_words("rate in [sampling] takes a number between 0 and 1, got 2.")
    '“Share of people sampled” takes a number between 0 and 1, got 2.'
    >>> in_words("[sampling] has no rates. Add top = true, or remove degree_bound.")
    '“Rates” is not filled in. Add “Top”, or remove “Degree bound”.'
    """
    key, section, begins = rf"(?P<key>{_any_key()})", _SECTION.pattern, r"(?:^|(?<=[.:] ))"
    # Keys of columns stand beside the name of one, never beside the section.
    holder = section.replace("columns|", "")

    def name_field(match: re.Match[str]) -> str:
        return f"“{label_of(match['key'])}”"

    def name_fields(match: re.Match[str]) -> str:
        first = match["first"]
        return f"“{label_of(first)}” {match['and']} {name_field(match)}" if first else name_field(match)

    text = _EXAMPLE.sub("", text)
    quoted = iter(_QUOTED.findall(text))
    text = _QUOTED.sub("\0", text)
    text = re.sub(
        rf"{begins}(?:{holder}|The declaration) has no {key}\b", lambda at: f"{name_field(at)} is not filled in", text
    )
    text = re.sub(rf"{begins}{holder}(?:: The declaration)? has none of ", "None of these is filled in: ", text)
    first = rf"(?:(?P<first>{_any_key()}) (?P<and>and|or) )?"
    text = re.sub(rf"\b{first}{key} (?:in|of|to|from) {holder}", name_fields, text)
    text = re.sub(rf"{begins}{holder}:? {key}\b(?! (?:=|is|has|have) )", name_field, text)
    text = re.sub(rf"{begins}{holder} (?={_any_key()} = )", "", text)
    text = re.sub(r" in quotes| in braces|, without quotes|, or pass [^.]*--force[^.]*", "", text)
    text = re.sub(rf"\b([Pp])ass --{key}", lambda at: f"{at[1]}ick {name_field(at)}", text)
    text = text.replace("crowdblend check", "“Check the rows” in the step Columns")
    text = re.sub(r"(for example) \[([^\]]*)\]", lambda at: f"{at[1]} {at[2].replace(chr(34), '')}", text)
    text = settings_in_words(text)
    text = re.sub(rf"\b(?=\w+_){key}\b", name_field, text)
    text = re.sub(r"\b(epsilon|delta)\b", lambda at: _SYMBOLS[at[1]], text)
    text = _SECTION.sub(lambda at: _SECTIONS[at[1]], text)
    text = re.sub("\0", lambda _: next(quoted, ""), text)
    return re.sub(r"^[a-z](?=\w)", lambda at: at[0].upper(), text)


def settings_in_words(text: str) -> str:
    """Return a line of a plan with its settings in words; all else in it may be names of the steward's own.

    >>> settings_in_words('max_rate, age: exact from k = 35, with below_k = "noise"')
    'max_rate, age: exact from k = 35, with “Below k: noise”'
    """
    designs = "|".join(DESIGNS)
    text = re.sub(rf'design = ("({designs})"((, | or |, or )"({designs})")*)', _name_designs, text)
    return re.sub(rf"\b(?P<key>{_any_key()}) = (?P<value>{_VALUE})(?=[\s,;:)]|\.?$|\. )", _state_field, text)


def _name_designs(match: re.Match[str]) -> str:
    """Return what the data may be, as the page asks it."""
    return re.sub(r'"(\w+)"', lambda at: f"“{DESIGNS[at[1]].words}”", match[1])


def _state_field(match: re.Match[str]) -> str:
    """Return a key with its value, as the page shows the field."""
    key, value = match["key"], match["value"].strip("\"'")
    if key in _SYMBOLS:
        return f"{_SYMBOLS[key]} = {value}"
    if value in ("true", "false"):
        return f"“{label_of(key)}”" if value == "true" else f"“{label_of(key)}” not ticked"
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
def _any_key() -> str:
    """Return the pattern of the keys that a policy can have, the longest first."""
    holders: list[type[Section]] = [
        *map(policy_class, KINDS),
        *map(publication_class, KINDS),
        *DESIGNS.values(),
        *DOMAINS.values(),
        AxisDomain,
    ]
    holders.append(Terms)
    holders += [part.holder for one in holders for part in parts_of(one).values()]
    names = {"design", "kind", "split"} | {key.name for one in holders for key in keys_of(one).values()}
    return "|".join(sorted(names, key=len, reverse=True))
