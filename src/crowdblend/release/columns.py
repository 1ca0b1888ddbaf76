"""Columns of a policy: each declaration becomes a recoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.recoding import Breaks, DateRange, Dates, Hierarchies, Intervals, Prefixes, Recoding, Values
from crowdblend.recoding.hierarchies import read_hierarchy
from crowdblend.release.keys import COLUMN_KINDS, Table, did_you_mean, naming, read_keys, shown


@dataclass(frozen=True)
class Column:
    """A published column and the recodings it may take; today exactly one, later the levels of a lattice."""

    name: str
    recodings: tuple[Recoding, ...]

    @property
    def recoding(self) -> Recoding:
        """The recoding of a column that offers only one."""
        (only,) = self.recodings
        return only


def read_columns(table: Any, folder: Path) -> tuple[Column, ...]:
    """The columns of a policy in the order they are written."""
    if not isinstance(table, Mapping) or not table:
        raise InvalidInput(
            "[columns] must name at least one column, and names none. "
            'Write one line per published column, for example sex = { values = ["Female", "Male"] }.'
        )
    lowered: dict[str, str] = {}
    for name in table:
        if not name.strip() or "\0" in name:
            raise InvalidInput(f"[columns] must name columns that can be seen, got {name!r}. Use the name in the data.")
        if name.lower() in lowered:
            raise InvalidInput(
                f"[columns] must not name two columns that differ in case only, got {lowered[name.lower()]!r} and "
                f"{name!r}. Rename one in the data."
            )
        lowered[name.lower()] = name
    return tuple(Column(name, (_recoding(name, declaration, folder),)) for name, declaration in table.items())


def _recoding(name: str, table: Any, folder: Path) -> Recoding:
    where = f"column {name!r}"
    if isinstance(table, list):
        raise InvalidInput(
            f"{where} must have one recoding, got a list; choosing among several is not available yet. Keep one."
        )
    if not isinstance(table, Mapping) or not table:
        raise InvalidInput(
            f"{where} must declare its domain in braces, got {shown(table)}. "
            f"Use one of {', '.join(COLUMN_KINDS)}, for example {{ values = ['a', 'b'] }}."
        )
    kind = _kind(where, table)
    if kind == "hierarchy" and isinstance(table.get("level"), str | list):
        raise InvalidInput(
            f"level in {where} must be a whole number; choosing a level is not available yet. Name one level."
        )
    given = read_keys(where, COLUMN_KINDS[kind], table)
    return naming(where, lambda: _BUILD[kind](given, folder))


def _kind(where: str, table: Table) -> str:
    kinds = [kind for kind in COLUMN_KINDS if kind in table]
    if len(kinds) > 1:
        raise InvalidInput(f"{where} must declare its domain in one way, got {' and '.join(kinds)}. Keep one of them.")
    if kinds:
        return kinds[0]
    if "from" in table or "to" in table:
        raise InvalidInput(f"{where} must have the key width (numbers) or date (dates) beside from and to. Add one.")
    every = dict.fromkeys(key.name for keys in COLUMN_KINDS.values() for key in keys)
    for name in table:
        if name not in every:
            raise InvalidInput(f"{where} has no key {name!r}. {did_you_mean(name, every)}")
    raise InvalidInput(f"{where} must declare its domain, and does not. Add one of {', '.join(COLUMN_KINDS)}.")


def _spare(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in names}


def _intervals(given: dict[str, Any], _: Path) -> Recoding:
    return Intervals(
        given["from"],
        given["to"],
        given["width"],
        include_stop=given.get("include_to", False),
        **_spare(given, "bottom", "top", "other", "missing"),
    )


def _dates(given: dict[str, Any], _: Path) -> Recoding:
    extra = _spare(given, "other", "missing")
    if ("from" in given) != ("to" in given):
        raise InvalidInput("from and to must be given together or not at all, got one. Add the other bound.")
    if "from" not in given:
        if "include_to" in given:
            raise InvalidInput("include_to must come with from and to, got neither. Add them, or drop include_to.")
        return Dates(given["date"], **extra)
    return DateRange(given["date"], given["from"], given["to"], include_stop=given.get("include_to", False), **extra)


def _hierarchy(given: dict[str, Any], folder: Path) -> Recoding:
    lines = read_hierarchy(folder / given["hierarchy"])
    return naming(
        f"hierarchy {given['hierarchy']!r}",
        lambda: Hierarchies(lines, given["level"], **_spare(given, "other", "missing")),
    )


_BUILD: dict[str, Callable[[dict[str, Any], Path], Recoding]] = {
    "values": lambda given, _: Values(**given),
    "width": _intervals,
    "breaks": lambda given, _: Breaks(**given),
    "prefix": lambda given, _: Prefixes(given["prefix"], **_spare(given, "missing")),
    "date": _dates,
    "hierarchy": _hierarchy,
}
