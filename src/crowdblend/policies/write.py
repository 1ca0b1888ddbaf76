"""A policy as TOML: every key that differs from its default, so that what is read back is an equal policy."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.notation import section_title
from crowdblend.policies.columns import Column
from crowdblend.policies.key import Key, Section, keys_of, parts_of, sections_of
from crowdblend.policies.publication import Publication
from crowdblend.policies.source import STDIN
from crowdblend.policies.terms import Terms

_ORDER = ("data", "sampling", "privacy", "recoding", "release", "about")


def write_policy(
    terms: Terms, publish: Sequence[Publication], split: str | None, path: Path | None = None, *, force: bool = False
) -> str:
    """Return the text of a policy; written to `path` where one is given, with paths relative to its folder."""
    folder = Path() if path is None else path.parent
    blocks = {name: _lines(terms, keys, folder) for name, keys in sections_of(Terms).items()}
    if split is not None:
        blocks["privacy"].append(f"split = {toml_text(split)}")
    given = {name: lines for name, lines in blocks.items() if lines}
    if terms.gives("sampling"):
        design = f"design = {toml_text(terms.sampling.design)}"
        given["sampling"] = [design, *_lines(terms.sampling, keys_of(type(terms.sampling)), folder)]
    for name, holder in (("recoding", terms.recoding), ("about", terms.about)):
        if holder is not None:
            given[name] = _lines(holder, keys_of(type(holder)), folder)
    found = ["\n".join([f"[{name}]", *given[name]]) for name in _ORDER if name in given]
    if terms.columns:
        columns = [f"{toml_name(one.name)} = {domain_text(one, folder)}" for one in terms.columns]
        found.append("\n".join(["[columns]", *columns]))
    found += ["\n\n".join(_publication(one, folder)) for one in publish]
    text = "\n\n".join(found) + "\n"
    if path is not None:
        _write(path, text, force=force)
    return text


def _publication(publication: Publication, folder: Path) -> Iterator[str]:
    """Yield the lines of a publication, and of the sections inside it."""
    lines = [section_title("publish"), f"kind = {toml_text(publication.kind)}"]
    lines += _lines(publication, keys_of(type(publication)), folder)
    inside = []
    for field, part in parts_of(type(publication)).items():
        value = getattr(publication, field)
        if part.inline:
            lines += _lines(value, keys_of(type(value)), folder)
        else:
            inside += ["\n".join([section_title(part.name), *_lines(one, keys_of(type(one)), folder)]) for one in value]
    yield "\n".join(lines)
    yield from inside


def _write(path: Path, text: str, *, force: bool) -> None:
    if path.exists() and not force:
        raise InvalidInput(
            f"{path.name!r} exists.", remedy="Pass force=True to overwrite it.", where=str(path), code="output.exists"
        )
    # A link that is put there meanwhile is not followed.
    with path.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def domain_text(column: Column, folder: Path = Path()) -> str:
    """Return the declared domain of a column in braces; paths are relative to `folder`."""
    if column.domain is None:
        raise column.refusal("no-toml", "was made from a recoding, which TOML cannot say.", "Declare its domain.")
    return f"{{ {', '.join(_lines(column.domain, keys_of(type(column.domain)), folder))} }}"


def _lines(holder: Section, keys: Mapping[str, Key], folder: Path) -> list[str]:
    """Return one line for each key that does not have its default."""
    values = ((key, getattr(holder, attribute)) for attribute, key in keys.items())
    return [_line(key, value, folder) for key, value in values if key.is_given(value)]


def _line(key: Key, value: object, folder: Path) -> str:
    return f"{key.name} = {toml_value(key.with_paths(value, lambda path: _relative(path, folder)))}"


def _relative(path: str, folder: Path) -> str:
    """Return a path in the folder relative to it, any other as a whole one: both are found again from there."""
    if path == STDIN or "://" in path:
        return path
    inside = os.path.relpath(path, folder)
    return os.path.abspath(path) if inside.startswith("..") else Path(inside).as_posix()


def toml_value(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_name(name)} = {toml_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | datetime.date):
        return toml_text(value) if isinstance(value, str) else value.isoformat()
    return _number(str(value) if isinstance(value, Decimal) else repr(value))


def _number(text: str) -> str:
    """Return a number as TOML wants it: digits on both sides of the point, a plain exponent."""
    digits, mark, exponent = text.lower().partition("e")
    return digits + (f"e{int(exponent)}" if mark else "")


def toml_text(text: str) -> str:
    """Return a text in quotes, with escapes for every sign that does not show, or that a terminal would obey.

    >>> print(toml_text("a\\x9bb\\u202e \\u00e9"))
    "a\\u009bb\\u202e é"
    """
    return "".join(map(_escape, json.dumps(text, ensure_ascii=False)))


def _escape(sign: str) -> str:
    return sign if sign.isprintable() else f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def toml_name(name: str) -> str:
    """Return a key, in quotes where it needs them."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_text(name)
