"""Columns of a policy: each declaration becomes a recoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.keys import COLUMN_KINDS, Table, did_you_mean, naming, read_keys, shown
from crowdblend.recoding import Breaks, DateRange, Dates, Hierarchies, Intervals, Prefixes, Recoding, Values
from crowdblend.recoding.hierarchies import read_hierarchy


@dataclass(frozen=True)
class Column:
    """A published column and the recodings it may take, finest first; `weight` is how much it matters in a choice."""

    name: str
    recodings: tuple[Recoding, ...]
    weight: float = 1.0

    @property
    def recoding(self) -> Recoding:
        """The recoding in which people are counted: the only one, or the finest to choose from."""
        return self.recodings[0]

    @property
    def chooses(self) -> bool:
        """Whether there is something to choose."""
        return len(self.recodings) > 1


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
    return tuple(_column(name, declaration, folder) for name, declaration in table.items())


def _column(name: str, table: Any, folder: Path) -> Column:
    where = f"column {name!r}"
    if isinstance(table, list):
        raise InvalidInput(
            f"{where} must have one declaration, got a list. Offer levels of one hierarchy, or several widths."
        )
    if not isinstance(table, Mapping) or not table:
        raise InvalidInput(
            f"{where} must declare its domain in braces, got {shown(table)}. "
            f"Use one of {', '.join(COLUMN_KINDS)}, for example {{ values = ['a', 'b'] }}."
        )
    kind = _kind(where, table)
    given = read_keys(where, COLUMN_KINDS[kind], table)
    weight = float(given.pop("weight", 1))
    recodings = naming(where, lambda: _offered(kind, given, folder))
    return Column(name, recodings, weight)


def _offered(kind: str, given: dict[str, Any], folder: Path) -> tuple[Recoding, ...]:
    """The recodings to choose from, finest first; one where nothing is to be chosen."""
    if kind == "hierarchy":
        return _hierarchies(given, folder)
    if kind == "width" and isinstance(given["width"], tuple):
        widths = given["width"]
        _check_rising("width", widths)
        return tuple(_intervals({**given, "width": width}, folder) for width in widths)
    return (_BUILD[kind](given, folder),)


def _check_rising(name: str, values: tuple[Any, ...]) -> None:
    if len(values) < 2 or any(low >= high for low, high in pairwise(values)):
        raise InvalidInput(
            f"{name} must list at least two different values to choose from, finest first, got {shown(list(values))}. "
            "Sort them, or give a single one."
        )


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


def _hierarchies(given: dict[str, Any], folder: Path) -> tuple[Recoding, ...]:
    if ("level" in given) == ("levels" in given):
        raise InvalidInput("a hierarchy must have either level or levels. Give the level, or those to choose from.")
    lines = read_hierarchy(folder / given["hierarchy"])
    everything = given.get("level") == "choose"
    finest = naming(
        f"hierarchy {given['hierarchy']!r}",
        lambda: Hierarchies(lines, 0 if everything else given.get("level", 0), **_spare(given, "other", "missing")),
    )
    if everything and finest.levels < 2:
        raise InvalidInput("a hierarchy must have at least two levels to choose from, got one. Name level = 0.")
    if everything:
        return tuple(finest.at(level) for level in range(finest.levels))
    if "level" in given:
        return (finest,)
    _check_rising("levels", given["levels"])
    return tuple(finest.at(level) for level in given["levels"])


def _no_classes(_: dict[str, Any], __: Path) -> Recoding:
    raise InvalidInput(
        "resolution declares numbers to be averaged, and this column must have classes. Use width instead."
    )


_BUILD: dict[str, Callable[[dict[str, Any], Path], Recoding]] = {
    "values": lambda given, _: Values(**given),
    "width": _intervals,
    "breaks": lambda given, _: Breaks(**given),
    "prefix": lambda given, _: Prefixes(given["prefix"], **_spare(given, "missing")),
    "date": _dates,
    "resolution": _no_classes,
}
