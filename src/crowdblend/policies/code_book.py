"""A code book: the values and ranges that columns can have, from a CSV file or a Frictionless schema.

It says what was known before the data were collected, so a starter policy may take its domains from it.

- CSV: a line for each value, with the columns `column` (or variable, name, field) and `value` (or code). Instead of a
  value, `from` and `to` (or min and max) give a range.
- A list: a CSV file with one column, called as in the data, whose lines below are its values.
- An earlier policy (.toml): its domains as they are.
- Frictionless: a Table Schema, Data Resource or Data Package (JSON): enum, categories, minimum and maximum, type.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.load import PathCheck, load_checked_policy
from crowdblend.policies.write import domain_text
from crowdblend.trusted.calculus import Assumption, verify_file
from crowdblend.trusted.calculus.folder_files import CERTIFICATE
from crowdblend.trusted.machine.regular_files import read_regular

_NAMES = ("column", "variable", "name", "field")
_VALUES = ("value", "code")
_LOW, _HIGH = ("from", "min", "minimum"), ("to", "max", "maximum")
_KINDS = {**dict.fromkeys(("integer", "year"), "whole"), **dict.fromkeys(("date", "datetime"), "date")}
_KINDS |= {"number": "number", "boolean": "boolean"}


_PROPOSED = (
    "has domains that were proposed from the data",
    "Name the folder of the proposal itself, whose loss is then part of the policy.",
)


@dataclass(frozen=True)
class Entry:
    """A column in a code book: its values in order, or its smallest and largest value; its kind.

    `declared` is the domain of an earlier policy or of a proposal, as TOML writes it, and `origin` says which.
    """

    values: tuple[str, ...] = ()
    low: str | None = None
    high: str | None = None
    kind: str | None = None
    declared: str | None = None
    origin: str = "from the earlier policy"


def read_code_book(path: Path, data: Path | None = None, check: PathCheck | None = None) -> dict[str, Entry]:
    """Return the entries of a code book, by column; the data themselves are refused as one.

    `check` sees the paths in an earlier policy before anything there is opened.
    """
    if data is not None and path.resolve() == data.resolve():
        raise _refusal(path, "is the data", "Name what was known before them: a code book, a list, an earlier policy.")
    if path.suffix.lower() == ".toml":
        policy = load_checked_policy(path, check)
        if policy.proposed:
            raise _refusal(path, *_PROPOSED)
        return {column.name: Entry(declared=domain_text(column)) for column in policy.columns}
    try:
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror}", "Check the path.") from None
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8 text", "Save it as UTF-8.") from None
    if text.lstrip().startswith(("{", "[")):
        if (path.parent / CERTIFICATE).exists() and Assumption.PROPOSED_DOMAINS in verify_file(path.parent).stated:
            raise _refusal(path, *_PROPOSED)
        return dict(_from_schema(path, text))
    return _from_table(path, text)


def _from_table(path: Path, text: str) -> dict[str, Entry]:
    first = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=first.count))
    known = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
    name, value, low, high = (_first(known, names) for names in (_NAMES, _VALUES, _LOW, _HIGH))
    if len(rows.fieldnames or ()) == 1 and name is None:
        (listed,) = rows.fieldnames or ()
        return {str(listed).strip(): Entry(tuple(dict.fromkeys(row[listed].strip() for row in rows if row[listed])))}
    if name is None or (value is None and (low is None or high is None)):
        raise _refusal(path, "has no columns called column and value, or column, from and to", "Name them so.")
    found: dict[str, Entry] = {}
    for row in rows:
        entry = found.get(column := (row[name] or "").strip(), Entry())
        if value is not None and (row[value] or "").strip():
            entry = replace(entry, values=tuple(dict.fromkeys((*entry.values, row[value].strip()))))
        elif low is not None and high is not None and row[low] and row[high]:
            entry = replace(entry, low=row[low].strip(), high=row[high].strip())
        if column:
            found[column] = entry
    return found


def _first(known_names: Mapping[str, str | None], names: tuple[str, ...]) -> str | None:
    return next((known_names[name] for name in names if name in known_names), None)


def _from_schema(path: Path, text: str) -> Iterator[tuple[str, Entry]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _refusal(path, "is no JSON", "Write a Frictionless Table Schema, or a CSV file.") from None
    fields = list(_fields(found))
    if not fields:
        raise _refusal(path, "has no fields", "Write a Frictionless Table Schema, or a CSV file.")
    for field in fields:
        constraints: Any = field.get("constraints")
        limits: Mapping[str, Any] = constraints if isinstance(constraints, Mapping) else {}
        listed = limits.get("enum") or field.get("categories") or ()
        values = [item.get("value") if isinstance(item, Mapping) else item for item in listed]
        texts = tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values)
        low, high = limits.get("minimum"), limits.get("maximum")
        kind = _KINDS.get(str(field.get("type")))
        bounded = low is not None and high is not None
        yield str(field["name"]), Entry(texts, str(low) if bounded else None, str(high) if bounded else None, kind)


def _fields(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the fields of a schema, resource or package."""
    if not isinstance(node, Mapping):
        return
    for field in _list(node, "fields"):
        if isinstance(field, Mapping) and isinstance(field.get("name"), str):
            yield field
    yield from _fields(node.get("schema"))
    for resource in _list(node, "resources"):
        yield from _fields(resource)


def _list(node: Mapping[str, Any], name: str) -> list[Any]:
    listed = node.get(name)
    return listed if isinstance(listed, list) else []


def _refusal(path: Path, what: str, remedy: str) -> InvalidInput:
    return InvalidInput(
        f"The code book {path.name!r} {what}.", remedy=remedy, where="`--codebook`", code="init.codebook"
    )
