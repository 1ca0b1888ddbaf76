"""Names in backticks in sentences, spelled when they are shown: as policy files, Python or pages have them.

    Add `privacy.epsilon`, or write `sampling.design = "poisson"`; `crowdblend check` shows the rows.

A key stands with its section, a section alone, a setting with the value that TOML has for it, several values as in
`publish.below_k = "noise" | "threshold"`; commands and their options stand as they are typed. What is no such name,
like a column of the steward's that has backticks, is left as it is.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import ClassVar, NamedTuple, Protocol

SECTIONS = (
    "data",
    "about",
    "columns",
    "sampling",
    "privacy",
    "recoding",
    "release",
    "publish",
    "publish.statistics",
    "publish.boxes",
    "publish.quadtree",
)


class Key(NamedTuple):
    """A key of a policy, with its section; a parameter that is no policy's alone has none."""

    section: str
    name: str


class Setting(NamedTuple):
    """A key with the values that it may be given, as TOML writes them."""

    key: Key
    values: tuple[str, ...]


class Value(NamedTuple):
    """A table or a list that some key takes, as TOML writes it."""

    text: str


class SectionName(NamedTuple):
    """A section of a policy."""

    name: str


class Command(NamedTuple):
    """A command with its arguments, as a terminal takes it."""

    line: str


class Option(NamedTuple):
    """An option of a command, with its value where it takes one."""

    name: str
    value: str


Reference = Key | Setting | Value | SectionName | Command | Option


class Notation(Protocol):
    """The spelling of keys, settings, sections, commands and options."""

    def spell(self, named: Reference) -> str:
        """Return the words for what a sentence names."""


def reference(text: str) -> Reference | None:
    """Return what a text in backticks names; None where it is no name of this product.

    >>> reference("sampling.rate")
    Key(section='sampling', name='rate')
    >>> reference("census.csv") is None
    True
    """
    if text.startswith("crowdblend "):
        return Command(text)
    if text.startswith("--"):
        name, _, value = text[2:].partition(" ")
        return Option(name, value)
    if text.startswith(("{ ", "[")):
        return Value(text)
    path, _, values = text.partition(" = ")
    section, _, name = path.rpartition(".")
    if not name.isidentifier() or (section and section not in SECTIONS):
        return None
    if values:
        return Setting(Key(section, name), tuple(values.split(" | ")))
    return SectionName(path) if path in SECTIONS else Key(section, name)


def spell(text: str, notation: Notation | None) -> str:
    """Return a sentence in which everything that it names is spelled in a notation; as it is without one.

    >>> spell("Add `privacy.epsilon`, or write `publish.top = true`.", TOML)
    'Add [privacy] epsilon, or write top = true.'
    >>> spell("Add `privacy.epsilon`, or write `publish.top = true`.", PYTHON)
    'Add epsilon, or write top=True.'
    """
    if notation is None:
        return text
    first, *rest = text.split("`")
    found = [first]
    while rest:
        named = reference(rest[0]) if len(rest) > 1 else None
        found += ["`", rest.pop(0)] if named is None else [notation.spell(named), rest[1]]
        if named is not None:
            del rest[:2]
    return "".join(found)


def within(where: str, name: str) -> str:
    """Return the key of a place as errors name it: of a section in backticks, or of a column.

    >>> within("`sampling`", "rate"), within("column 'age'", "from")
    ('`sampling.rate`', "column 'age' from")
    """
    return f"{where[:-1]}.{name}`" if where.endswith("`") and name.isidentifier() else f"{where} {name}"


def alternatives(values: tuple[str, ...]) -> str:
    """Return values that a key may be given, as a list of words.

    >>> alternatives(("a", "b", "c"))
    'a, b or c'
    """
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last


def section_title(name: str) -> str:
    """Return the line that begins a section of a policy file.

    >>> section_title("data"), section_title("publish.boxes")
    ('[data]', '[[publish.boxes]]')
    """
    return f"[[{name}]]" if name.startswith("publish") else f"[{name}]"


class _Toml:
    """The notation of policy files and of the command line."""

    def spell(self, named: Reference) -> str:
        match named:
            case Key(section, name):
                return f"{section_title(section)} {name}" if section else name
            case Setting(key, values):
                # Publications have keys of these names alone, and there may be many of them.
                place = "" if key.section.startswith("publish") else f"{section_title(key.section)} "
                return f"{place if key.section else ''}{key.name} = {alternatives(values)}"
            case Value(text):
                return text
            case SectionName(name):
                return section_title(name)
            case Command(line):
                return line
            case Option(name, value):
                return f"--{name} {value}".rstrip()


class _Python:
    """The notation of Python: arguments, classes and functions."""

    # Keys whose arguments have another name.
    _ARGUMENTS: ClassVar[dict[Key, str]] = {
        Key("data", "format"): "source_format",
        Key("data", "unit"): "unit_word",
        Key("", "from"): "start",
        Key("", "to"): "stop",
        Key("publish.statistics", "from"): "start",
        Key("publish.statistics", "to"): "stop",
    }
    _FLAGS: ClassVar[tuple[str, ...]] = ("force", "new")
    _CALLS: ClassVar[dict[str, str]] = {
        "crowdblend check": "check(data, policy)",
        "crowdblend synthesize": "synthesize",
        "crowdblend ledger list": "Ledger.entries()",
        "crowdblend ledger show": "Ledger.entry",
        "crowdblend ledger overlap": "Ledger.overlap",
        "crowdblend ledger distinct": "Ledger.distinct",
    }

    def spell(self, named: Reference) -> str:
        match named:
            case Key(section, name):
                argument = self._ARGUMENTS.get(named, name)
                return f"{section}.{argument}" if section in ("sampling", "recoding", "about") else argument
            case Setting():
                return self._setting(named)
            case Value(text):
                return _python_value(text)
            case SectionName(name):
                return "the policy" if name in ("data", "privacy", "release") else name.rpartition(".")[2]
            case Command(line):
                return self._call(line)
            case Option(name, value):
                argument = name.replace("-", "_")
                return f"{argument}=True" if name in self._FLAGS else f'{argument}="{value}"' if value else argument

    def _setting(self, setting: Setting) -> str:
        key, values = setting
        if key == Key("sampling", "design"):
            return f"sampling={alternatives(tuple(f'{one.strip(_QUOTES).title()}(…)' for one in values))}"
        if key == Key("publish", "kind"):
            return alternatives(tuple(one.strip(_QUOTES).title().replace("-", "") for one in values))
        if key.section == "columns":
            return f'columns={{"{key.name}": {alternatives(tuple(map(_domain, values)))}}}'
        return f"{self._ARGUMENTS.get(key, key.name)}={alternatives(tuple(map(_python_value, values)))}"

    def _call(self, line: str) -> str:
        for words, function in self._CALLS.items():
            if line == words or line.startswith(f"{words} "):
                given = shlex.split(line.removeprefix(words))
                said = ", ".join(one if one.isdecimal() else repr(one) for one in given)
                return f"{function}({said})" if given else function
        return line


_QUOTES = "\"'"


def _python_value(value: str) -> str:
    """Return a value of TOML as Python writes it; numbers, and what is no TOML, as they are.

    >>> _python_value("true"), _python_value('{ sex = "Female" }'), _python_value("1e-6")
    ('True', '{"sex": "Female"}', '1e-6')
    """
    try:
        found = tomllib.loads(f"value = {value}")["value"]
    except ValueError:
        return value
    return _literal(found) if isinstance(found, bool | dict | list) else value


def _literal(value: object) -> str:
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def _domain(value: str) -> str:
    """Return the domain of a column as Python declares it.

    >>> _domain('{ values = ["a", "b"] }'), _domain("{ from = 0, to = 9, resolution = 0.1, width = 5 }")
    ('values("a", "b")', 'axis(0, 9, resolution=0.1, width=5)')
    """
    given = tomllib.loads(f"value = {value}")["value"]
    way = "axis" if "resolution" in given else next(iter(given))
    first = [given.pop(name) for name in ("from", "to") if name in given] or given.pop(way)
    said = [*map(_literal, first), *(f"{name}={_literal(one)}" for name, one in given.items())]
    return f"{way}({', '.join(said)})"


TOML: Notation = _Toml()
PYTHON: Notation = _Python()


class Caution(UserWarning):
    """A warning that names what it is about as errors do."""

    def __str__(self) -> str:
        return spell(str(self.args[0]), PYTHON)
