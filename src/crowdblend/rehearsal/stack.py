"""Copies of a population side by side, told apart by a column of their own, and released together (see `batch`).

Theorem. Let a mechanism treat every class by itself: its coin, its noise and whether it is shown depend on that class
alone, with independent randomness, and nothing else is published. Then the slices of the release of R disjoint copies
are R independent releases of one copy.

Proof. Classes of different copies are different classes, and no person is in two copies. So the slices are functions of
disjoint, independent parts of the randomness; and each slice is computed as it would be from its copy alone. ∎

Suppressed tables, noise below k, microdata and points are of this kind once `show_from` is fixed, and so are strata,
and tables from parts of a sample or from fresh samples when each of them has the column. Where a recoding is chosen,
every copy chooses its own: see `recoding_stack`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.randomness import ReleaseKey
from crowdblend.recoding import Values
from crowdblend.recoding.classes import MOST_CELLS_LISTED
from crowdblend.rehearsal.looking import Shown
from crowdblend.rehearsal.made_up_people import Crowd, Population, Rehearsal

COPY = "which copy"
# Of every file the name, the header, and the lines of one copy.
Slice = tuple[tuple[str, str, tuple[str, ...]], ...]


class Stack:
    """So many copies of a population, released together."""

    def __init__(self, planned: Any, population: Population, copies: int) -> None:
        policy = planned.policy
        if policy.recoding is not None:
            raise InvalidInput("a stack must have a fixed recoding, got a choice. Rehearse one at a time.")
        # Lines of text are cut apart by the name of their copy.
        fixed: dict[str, Any] = {"format": "csv"}
        if policy.below_k == "noise":
            # By default it depends on the number of cells, and here there are more of them.
            fixed["show_from"] = planned.mechanism().show_from
            if fixed["show_from"] is None:
                copies = min(copies, MOST_CELLS_LISTED // policy.cells)
        self._names = copy_names(copies)
        tables = tuple(replace(table, columns=(COPY, *table.columns)) for table in policy.tables)
        if tables:
            fixed["tables"] = tables
        side_by_side = replace(policy, columns=with_copies(policy.columns, self._names), **fixed)
        self._rehearsal = Rehearsal(side_by_side, stacked(population, self._names), planned)

    def publish(self, key: ReleaseKey) -> list[tuple[Slice, None]]:
        """What is published of each copy; nothing is chosen."""
        files, _ = self._rehearsal.publish_with(key)
        return [(cut, None) for cut in slices(files, self._names)]


def copy_names(copies: int) -> tuple[str, ...]:
    """What the copies are called, all of one length."""
    return tuple(f"{copy:06d}" for copy in range(copies))


def with_copies(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns, and before them the one that tells copies apart."""
    return (Column(COPY, (Values(names),)), *columns)


def stacked(population: Population, names: tuple[str, ...]) -> Population:
    """So many copies of a population."""
    return tuple(Crowd((name, *crowd.values), crowd.size) for name in names for crowd in population)


def slices(files: Mapping[str, bytes], names: tuple[str, ...]) -> list[Slice]:
    """The lines of each copy in every file, without the column that tells copies apart."""
    cut = [(name, *_cut(content.decode(), names)) for name, content in sorted(files.items())]
    return [tuple((name, header, tuple(lines[copy])) for name, header, lines in cut) for copy in names]


def _cut(text: str, names: tuple[str, ...]) -> tuple[str, dict[str, list[str]]]:
    header, *rows = text.rstrip("\n").split("\n")
    lines: dict[str, list[str]] = {copy: [] for copy in names}
    try:
        for row in rows:
            copy, rest = row.split(",", 1)
            lines[copy.strip('"')].append(rest)
    except (ValueError, KeyError):
        raise InvalidInput(
            "A label has a line break, by which the releases of a batch cannot be told apart.",
            remedy="Audit one release at a time.",
            where="--batch",
            code="rehearsal.batch",
        ) from None
    return header.split(",", 1)[1], lines


def shown_of(slice_: Slice) -> dict[str, Shown]:
    """The files of one copy as they are read."""
    return {name: Shown(next(_read(header)), list(_read(*lines))) for name, header, lines in slice_}


def _read(*lines: str) -> Iterator[list[str]]:
    return csv.reader(lines)
