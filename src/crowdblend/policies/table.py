"""The policy of tables and microdata: everything a steward decides, checked before a row is touched.

Policy
├── data: DataSource       where the people are, one row each
├── sampling: Sampling     how they were, or will be, drawn
├── columns: Column …      what is published about them, and in which classes
├── release: Release       the kind of publication and its promise
├── tables: Table …        several tables from the one sample, if wanted
└── recoding: Choosing     how the recoding is chosen, if columns offer several
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.policies.choosing import Choosing, lattice_of, read_choosing
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.keys import TABLES, did_you_mean, read_keys, shown
from crowdblend.policies.sections import (
    STDIN,
    DataSource,
    Release,
    Sampling,
    Table,
    read_data,
    read_release,
    read_sampling,
)

__all__ = ["Choosing", "Column", "DataSource", "Policy", "Release", "Sampling", "Table", "read_policy"]

_RESERVED = ("count", "exact")


@dataclass(frozen=True)
class Policy:
    """What the steward decided, complete and free of contradictions."""

    data: DataSource
    sampling: Sampling
    columns: tuple[Column, ...]
    release: Release
    tables: tuple[Table, ...] = ()
    recoding: Choosing | None = None

    def __post_init__(self) -> None:
        self._check_choosing()
        self._check_columns()
        self._check_planned()
        self._check_tables()

    @property
    def kind(self) -> str:
        """What is published."""
        return self.release.kind

    @property
    def planned(self) -> Literal["k", "rate", "epsilon", "delta"] | None:
        """The one parameter that is left to the plan, or None when all are given."""
        if self.release.k is None:
            return "k"
        if self.release.epsilon is None:
            return "epsilon"
        if self.release.delta is None:
            return "delta"
        return "rate" if self.sampling.rate is None and not self.sampling.biased else None

    @property
    def closed(self) -> bool:
        """Whether every column's classes are known beforehand."""
        return all(column.recoding.closed for column in self.columns)

    @property
    def cells(self) -> int | None:
        """How many cells the finest table has, or None when a domain is open."""
        return self.cells_at([0] * len(self.columns))

    def cells_at(self, levels: Sequence[int]) -> int | None:
        """How many cells the table has at these levels of its columns."""
        sizes = [column.recodings[level].size for column, level in zip(self.columns, levels, strict=True)]
        return math.prod(size for size in sizes if size is not None) if None not in sizes else None

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def _check_choosing(self) -> None:
        offering = [column.name for column in self.columns if column.chooses]
        if self.recoding is None:
            if offering:
                raise InvalidInput(
                    f"column {offering[0]!r} offers several recodings, and nothing says how to choose. "
                    'Add [recoding] with epsilon and using = "population" or "split", or name one level.'
                )
            return
        if not offering:
            raise InvalidInput(
                "[recoding] must come with a column that offers several recodings, and none does. "
                'Write level = "choose" for a hierarchy, or remove [recoding].'
            )
        if self.recoding.using == "population" and self.sampling.already_drawn:
            raise InvalidInput(
                'using = "population" in [recoding] must have the whole population, and already_drawn says that only '
                'the sample exists. Use using = "split".'
            )
        if self.recoding.using == "split" and self.sampling.rate is None:
            raise InvalidInput('[sampling] must have the rate when using = "split" in [recoding]. Add rate.')
        if self.sampling.biased:
            raise InvalidInput(
                "[recoding] must come with one sampling rate for everybody, got low and high. Drop them, or name one "
                "level."
            )
        if self.recoding.using == "split" and self.release.below_k == "noise":
            raise InvalidInput(
                'using = "split" in [recoding] must come with suppression below k, got "noise". Suppress, or let the '
                "population choose."
            )
        if self.data.source == STDIN:
            raise InvalidInput("source in [data] must be a file to choose a recoding: it is read twice. Save it first.")
        self.recoding.search_of(lattice_of(self.columns))

    def _check_columns(self) -> None:
        for column in self.columns:
            if self.data.person is not None and column.name.lower() == self.data.person.lower():
                raise InvalidInput(
                    f"column {column.name!r} must not be published: it tells people apart. Remove it from [columns]."
                )
            if column.name.lower() in _RESERVED and self.release.kind == "table":
                raise InvalidInput(
                    f"column {column.name!r} must have another name: a table has its own column of that name. "
                    "Rename it in the data."
                )
            if self.release.below_k == "noise" and not column.recoding.closed:
                raise InvalidInput(
                    f'column {column.name!r} must have a closed domain for below_k = "noise", because empty cells get '
                    "noise too. List its classes (values, hierarchy, or from and to for dates), or suppress."
                )

    def _check_planned(self) -> None:
        given = {"k": self.release.k, "epsilon": self.release.epsilon, "delta": self.release.delta}
        missing = [name for name, value in given.items() if value is None]
        if self.sampling.rate is None and not self.sampling.biased:
            missing.insert(1 if "k" in missing else 0, "rate")
        if len(missing) > 1:
            raise InvalidInput(
                f"at most one of k, rate, epsilon and delta may be left out, and {', '.join(missing)} are. "
                "Give all but the one to be planned."
            )
        if self.release.k is not None and self.sampling.exceptions >= max(1, self.release.k - 1):
            raise InvalidInput(
                f"exceptions must be below k - 1, got {self.sampling.exceptions} with k = {self.release.k}. Raise k."
            )

    def _check_tables(self) -> None:
        names = [column.name for column in self.columns]
        seen: set[str] = set()
        for table in self.tables:
            if self.release.kind != "table":
                raise InvalidInput(
                    f'[[tables]] must come with kind = "table", got "{self.release.kind}". Drop one of them.'
                )
            if self.release.flag:
                raise InvalidInput(
                    "flag must be left out with [[tables]], since sums of shown cells are not exact. Drop one of them."
                )
            if table.name.lower() in seen:
                raise InvalidInput(f"[[tables]] must have different names, got {table.name!r} twice. Rename one.")
            seen.add(table.name.lower())
            for name in table.columns:
                if name not in names:
                    raise InvalidInput(
                        f"table {table.name!r} has no column {name!r} to take. {did_you_mean(name, names)}"
                    )


def read_policy(parts: dict[str, Any], folder: Path) -> Policy:
    """The policy of a table or of microdata."""
    if "columns" not in parts:
        raise InvalidInput("the policy must have a section [columns], and it is missing. Add it.")
    return Policy(
        data=read_data(parts["data"], folder),
        sampling=read_sampling(parts.get("sampling", {})),
        columns=read_columns(parts["columns"], folder),
        release=read_release(parts["release"]),
        tables=_read_tables(parts.get("tables", [])),
        recoding=read_choosing(parts["recoding"]) if "recoding" in parts else None,
    )


def _read_tables(parts: Any) -> tuple[Table, ...]:
    if not isinstance(parts, list):
        raise InvalidInput(f"[[tables]] must be written with double brackets, got {shown(parts)}. Add the brackets.")
    return tuple(Table(**read_keys("[[tables]]", TABLES, part)) for part in parts)
