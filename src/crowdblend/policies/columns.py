"""The columns of a policy: a name, its declared domain, and the recodings that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.policies.domains import DOMAINS, AxisDomain, Domain, HierarchyDomain, NumberDomain
from crowdblend.policies.key import did_you_mean, keys_of, naming, read_keys, refusal
from crowdblend.policies.source import located
from crowdblend.policies.values import problem_of, shown

if TYPE_CHECKING:
    from crowdblend.recoding import Recoding

_EXAMPLE = 'Write one line per published column, for example sex = { values = ["Female", "Male"] }.'


@dataclass(frozen=True)
class Column:
    """A published column and the recodings it may take, finest first; `weight` is how much it matters in a choice."""

    name: str
    recodings: tuple[Recoding, ...]
    weight: float = 1.0
    domain: Domain | None = field(default=None, compare=False)

    @classmethod
    def of(cls, name: str, domain: Domain) -> Column:
        """The column with that domain."""
        if not isinstance(domain, Domain):
            raise refusal(
                "column-domain",
                f"column {name!r} has no domain.",
                f"Declare it with one of {', '.join(DOMAINS)}.",
                f"column {name!r}",
            )
        return naming(f"column {name!r}", lambda: cls(name, domain.recodings(), domain.importance, domain))

    @property
    def recoding(self) -> Recoding:
        """The recoding in which people are counted: the only one, or the finest to choose from."""
        return self.recodings[0]

    @property
    def chooses(self) -> bool:
        """Whether there is something to choose."""
        return len(self.recodings) > 1


Columns = Mapping[str, Domain] | Iterable[Column]


class _ColumnsField:
    """The field `columns` of a policy: takes domains by name, or columns; gives the columns in their order."""

    def __get__(self, policy: Any, owner: type) -> Any:
        """The columns; none where none were given."""
        return () if policy is None else policy.__dict__["columns"]

    def __set__(self, policy: Any, columns: Columns) -> None:
        """Check the columns, and keep them."""
        policy.__dict__["columns"] = columns_of(columns)


def columns_field() -> Any:
    """Declare the columns of a policy: `columns={"sex": ValueDomain(values=["Female", "Male"])}`."""
    return _ColumnsField()


def columns_of(given: Columns) -> tuple[Column, ...]:
    """The columns: at least one, each named once, whatever their case."""
    if isinstance(given, Mapping):
        columns = tuple(Column.of(check_name(name), domain) for name, domain in given.items())
    elif isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise refusal("type", f"[columns] takes domains by name, got {shown(given)}.", _EXAMPLE, "[columns]")
    else:
        columns = tuple(given)
    for column in columns:
        if not isinstance(column, Column):
            raise refusal("type", f"[columns] takes domains by name, got {shown(column)}.", _EXAMPLE, "[columns]")
    if not columns:
        raise refusal("no-columns", "[columns] names no column.", _EXAMPLE, "[columns]")
    seen: dict[str, str] = {}
    for name in (check_name(column.name) for column in columns):
        if name.lower() in seen:
            raise refusal(
                "column-twice",
                f"[columns] names {seen[name.lower()]!r} and {name!r}, which differ in case at most.",
                "Keep one of them, or rename one in the data.",
                f"column {name!r}",
            )
        seen[name.lower()] = name
    return columns


def check_name(name: Any) -> str:
    """A name that a column can have."""
    if not isinstance(name, str) or not name.strip() or problem_of("text", name) is not None:
        raise refusal(
            "column-name",
            f"[columns] has a column called {shown(name)}.",
            "Use the name of the column in the data.",
            "[columns]",
        )
    return name


def read_columns(table: Any, folder: Path, *, axes: bool = False) -> dict[str, Domain]:
    """The domains of a policy's columns in the order they are written; a resolution declares numbers, or `axes`."""
    if not isinstance(table, Mapping) or not table:
        raise refusal("no-columns", "[columns] names no column.", _EXAMPLE, "[columns]")
    return {check_name(name): _read_domain(name, declared, folder, axes) for name, declared in table.items()}


def _read_domain(name: str, table: Any, folder: Path, axes: bool) -> Domain:
    where = f"column {name!r}"
    if not isinstance(table, Mapping) or not table:
        raise refusal(
            "column-domain",
            f"{where} has {shown(table)} instead of a domain in braces.",
            f"Use one of {', '.join(DOMAINS)}, for example {{ values = ['a', 'b'] }}.",
            where,
        )
    way = "resolution" if axes and "resolution" in table else _way(where, table)
    kind = AxisDomain if way == "resolution" and axes else DOMAINS[way]
    given = read_keys(kind, table, where)
    if kind is HierarchyDomain and isinstance(given.get("hierarchy"), str):
        given["hierarchy"] = located(given["hierarchy"], folder)
    return naming(where, partial(kind, **given))


def _way(where: str, table: Mapping[str, Any]) -> str:
    ways = [way for way in DOMAINS if way in table]
    if len(ways) == 1:
        return ways[0]
    if ways:
        raise refusal(
            "column-domain",
            f"{where} declares its domain in {len(ways)} ways, {' and '.join(ways)}.",
            "Keep one of them.",
            where,
        )
    if "from" in table or "to" in table:
        raise refusal(
            "column-domain", f"{where} has from and to alone.", "Add width for numbers, or date for dates.", where
        )
    known = dict.fromkeys(key.name for domain in DOMAINS.values() for key in keys_of(domain).values())
    for name in table:
        if name not in known:
            raise refusal("unknown-key", f"{where} has no key {name!r}.", did_you_mean(name, known), where)
    raise refusal("column-domain", f"{where} declares no domain.", f"Add one of {', '.join(DOMAINS)}.", where)


def refuse_numbers(columns: Iterable[Column]) -> None:
    """Refuse columns without classes, where classes are published."""
    for column in columns:
        if isinstance(column.domain, NumberDomain) or not column.recodings:
            raise refusal(
                "no-classes",
                f"column {column.name!r} declares numbers to be averaged, and has no classes.",
                "Use width instead of resolution.",
                f"column {column.name!r}",
            )


def refuse_choice(columns: Iterable[Column], kind: str) -> None:
    """Refuse columns that offer several recodings, where nothing chooses."""
    for column in columns:
        if column.chooses:
            raise refusal(
                "recoding",
                f"column {column.name!r} offers several recodings, and {kind} takes one.",
                "Name one level or width.",
                f"column {column.name!r}",
            )
