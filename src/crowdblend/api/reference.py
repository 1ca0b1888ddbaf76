"""Docstrings of the public names: what the source says of a name, every parameter, and an example.

    help(cb.Table)

A parameter that is a key of a policy is explained on that key, and nowhere else; other parameters are explained in the
docstring, where they have a line under `Parameters:` or stand in backticks. The docstring of a function is composed
when its name is loaded, that of a class when it is first read.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent, fill, indent
from typing import Any

from crowdblend.api.examples import EXAMPLES
from crowdblend.notation import PYTHON, spell
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.policies import key as keys

PARAMETERS = "\n\nParameters:\n"
EXAMPLE = "\n\nExample, after the lines of help(crowdblend):\n\n"
_ENTRY = re.compile(r"^(\w+): (.+(?:\n +.+)*)", re.MULTILINE)
_WITH_KEYS = ("crowdblend.policies.", "crowdblend.kinds.", "crowdblend.publishing.synthesis.")
# Docstrings as the source has them, by public name.
_SOURCES: dict[str, str | None] = {}


def document(name: str, thing: Any) -> None:
    """Give a public name its whole docstring."""
    if isinstance(thing, type):
        if not isinstance(vars(thing)["__doc__"], _ClassDocstring):
            thing.__doc__ = _ClassDocstring(name, thing)  # type: ignore[assignment]  # a text where it is read
    else:
        thing.__doc__ = _whole(name, thing, _SOURCES.setdefault(name, thing.__doc__))


class _ClassDocstring:
    """The docstring of a class, composed when it is first read."""

    def __init__(self, name: str, thing: type) -> None:
        self._name, self._thing, self.source = name, thing, vars(thing)["__doc__"]
        self._whole: str | None = None

    def __get__(self, instance: object, owner: type) -> str | None:
        if self._whole is None:
            self._whole = _whole(self._name, self._thing, self.source)
        return self._whole


def _whole(name: str, thing: Any, source: str | None) -> str | None:
    if source is None:  # Python was told to leave docstrings out
        return None
    text = inspect.cleandoc(source).partition(PARAMETERS)[0]
    meanings = dict(_meanings(thing, source))
    entries = [
        fill(f"{one}: {meanings[one]}", 116, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False)
        for one in parameters_of(thing)
        if one in meanings
    ]
    section = PARAMETERS + "\n".join(entries) if entries else ""
    return text + section + EXAMPLE + indent(EXAMPLES[name].strip("\n"), "    ")


def parameters_of(thing: Callable[..., object]) -> list[str]:
    """Return the names of the parameters, without the one that is there to refuse misspelt names."""
    found = inspect.signature(thing).parameters.values()
    return [one.name for one in found if one.annotation != "Never"]


def _meanings(thing: Any, source: str) -> Iterator[tuple[str, str]]:
    """Yield every parameter that has a meaning, and that meaning; a later one of the same parameter counts."""
    of_keys = _key_meanings(thing)
    for parameter in parameters_of(thing):
        # What a function is about is the key of its own name: `date(period, …)` is date = "…".
        meaning = of_keys.get(parameter) or of_keys.get(getattr(thing, "__name__", ""))
        if meaning is not None:
            yield parameter, meaning
    for base in reversed(thing.__mro__) if isinstance(thing, type) else ():
        found = vars(base)["__doc__"]
        yield from _entries(found.source if isinstance(found, _ClassDocstring) else found)
    yield from _entries(source)


def _entries(source: object) -> list[tuple[str, str]]:
    """Return the parameters that a docstring lists in the source."""
    section = inspect.cleandoc(source).partition(PARAMETERS)[2] if isinstance(source, str) else ""
    return [(name, " ".join(meaning.split())) for name, meaning in _ENTRY.findall(dedent(section))]


def _key_meanings(thing: Any) -> Mapping[str, str]:
    """Return the meanings of the keys of a policy that a class or a function has as parameters, as Python has them.

    This is the one place that knows which class declares the keys.
    """
    holder = thing
    if not isinstance(thing, type):  # a function of domains or statistics, which are values of keys themselves
        holder = vars(sys.modules[thing.__module__]).get(thing.__annotations__.get("return"))
    if not isinstance(holder, type) or not holder.__module__.startswith(_WITH_KEYS):
        return {}  # without loading what declares keys
    if not issubclass(holder, keys.Section):
        return {}
    meanings: dict[str, str] = {}
    for each in (*(part.holder for part in keys.parts_of(holder).values() if part.inline), holder):
        meanings |= {name: one.meaning for name, one in keys.parts_of(each).items()}
        meanings |= {name: one.meaning for name, one in keys.keys_of(each).items()}
    return {name: spell(meaning, PYTHON) for name, meaning in meanings.items()}
