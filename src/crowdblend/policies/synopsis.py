"""The policy of a synopsis: which class of queries the synthetic rows shall answer, about which declared columns.

SynopsisPolicy
├── data: DataSource       where the people are, one row each, and how many they are
├── sampling: Sampling     how many of them are drawn
├── columns: Column …      the columns of the synthetic rows, every class known beforehand
├── asked: Asked           the class of queries
└── release: Release       ε, and how surely the stated error holds
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.exactly import ExactlyDrawn
from crowdblend.policies.keys import SYNOPSIS, did_you_mean, read_keys, shown
from crowdblend.policies.sections import read_data, read_release, read_sampling

_CLASSES = ("conjunctions", "ranges", "half_planes", "queries")


@dataclass(frozen=True)
class Asked:
    """The section [synopsis]: exactly one class of queries, and how the rows are made."""

    conjunctions: int | None = None
    ranges: str | None = None
    half_planes: tuple[str, ...] | None = None
    queries: tuple[Mapping[str, str], ...] | None = None
    rows: int | None = None
    mechanism: Literal["fitted", "exponential"] | None = None

    def __post_init__(self) -> None:
        given = [name for name in _CLASSES if getattr(self, name) is not None]
        if len(given) != 1:
            raise InvalidInput(
                f"[synopsis] must have exactly one of {', '.join(_CLASSES)}, got {' and '.join(given) or 'none'}. "
                "Write conjunctions = 3, for example."
            )


@dataclass(frozen=True)
class SynopsisPolicy(ExactlyDrawn):
    """What the steward decided, complete and free of contradictions."""

    columns: tuple[Column, ...]
    asked: Asked

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.epsilon <= 100:
            raise InvalidInput(
                f"epsilon in [release] must be above 0 and at most 100 for a synopsis, got {self.epsilon:g}. Lower it."
            )
        for column in self.columns:
            if column.chooses or not column.recoding.closed:
                raise InvalidInput(
                    f"column {column.name!r} must have classes that are all known beforehand, in one recoding. "
                    "Declare it with values, width, breaks, or a hierarchy at one level."
                )
        self._check_named()

    def labels(self, name: str) -> tuple[str, ...]:
        """The classes of a column."""
        found = next(column for column in self.columns if column.name == name)
        return tuple(getattr(found.recoding, "labels", ()))

    def _check_named(self) -> None:
        names = [column.name for column in self.columns]
        asked = self.asked
        if asked.ranges is not None and names != [asked.ranges]:
            _check_known(asked.ranges, names)
            raise InvalidInput(
                f"ranges in [synopsis] must be of the only column, got {len(names)} columns. Declare that one alone."
            )
        if asked.half_planes is not None and sorted(names) != sorted(asked.half_planes):
            for name in asked.half_planes:
                _check_known(name, names)
            raise InvalidInput(
                "half_planes in [synopsis] must name the only two columns, one for each side of the grid. Declare "
                "those two alone."
            )
        if asked.half_planes is not None and len(asked.half_planes) != 2:
            raise InvalidInput(f"half_planes in [synopsis] must name two columns, got {len(asked.half_planes)}.")
        for condition in asked.queries or ():
            for name, label in condition.items():
                _check_known(name, names)
                if label not in self.labels(name):
                    raise InvalidInput(
                        f"column {name!r} has no class {label!r}. {did_you_mean(label, self.labels(name))}"
                    )


def _check_known(name: str, names: list[str]) -> None:
    if name not in names:
        raise InvalidInput(f"[synopsis] asks about {name!r}, which [columns] must declare. {did_you_mean(name, names)}")


def read_policy(parts: dict[str, Any], folder: Path) -> SynopsisPolicy:
    """The policy of a synopsis."""
    for name in ("columns", "synopsis"):
        if name not in parts:
            raise InvalidInput(f"the policy must have a section [{name}], and it is missing. Add it.")
    return SynopsisPolicy(
        data=read_data(parts["data"], folder),
        sampling=read_sampling(parts.get("sampling", {})),
        release=read_release(parts["release"]),
        columns=read_columns(parts["columns"], folder),
        asked=_read_asked(parts["synopsis"]),
    )


def _read_asked(table: Any) -> Asked:
    given = read_keys("[synopsis]", SYNOPSIS, table)
    if "queries" in given:
        given["queries"] = tuple(_condition(condition) for condition in given["queries"])
    return Asked(**given)


def _condition(given: Mapping[str, Any]) -> dict[str, str]:
    for value in given.values():
        if not isinstance(value, str) and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidInput(f"a query in [synopsis] must give each column one label, got {shown(value)}. Quote it.")
    return {name: str(value) for name, value in given.items()}
