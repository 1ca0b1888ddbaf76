"""The lattice that the columns of a policy span: what their levels merge, and how many values each class stands for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crowdblend.methods.recoding.classes import Recoding
from crowdblend.methods.recoding.dates import DateRange
from crowdblend.methods.recoding.hierarchies import Hierarchies
from crowdblend.methods.recoding.intervals import Intervals
from crowdblend.methods.selection.lattice import Ladder, Lattice
from crowdblend.policies.columns import Column
from crowdblend.policies.refusals import refusal


def lattice_of(columns: Sequence[Column], labels: Sequence[tuple[str, ...]] | None = None) -> Lattice:
    """Every combination of what the columns offer; `labels` are those that occur, for domains that are not listed."""
    occurring = labels or [("any",)] * len(columns)
    return Lattice(tuple(_ladder(column, len(seen)) for column, seen in zip(columns, occurring, strict=True)))


def _ladder(column: Column, occurring: int) -> Ladder:
    if column.chooses:
        return _offered_ladder(column)
    return Ladder(column.name, (np.arange(column.recoding.size or max(occurring, 1)),), weight=column.weight)


@lru_cache(maxsize=64)
def _offered_ladder(column: Column) -> Ladder:
    """Return the ladder of a column with a choice, which depends on its declaration alone."""
    finest = column.recodings[0]
    maps = tuple(_map(column.name, finest, coarser) for coarser in column.recodings)
    weeks = [isinstance(one, DateRange) and one.period == "week" for one in column.recodings]
    return Ladder(column.name, maps, leaves_of(finest), column.weight, nested=not any(weeks[:-1]))


def _map(name: str, finest: Recoding, coarser: Recoding) -> NDArray[np.int64]:
    """Return the coarser class of every finest class."""
    if isinstance(finest, Hierarchies) and isinstance(coarser, Hierarchies):
        inner = _hierarchy_map(name, finest, coarser)
    elif isinstance(finest, DateRange) and isinstance(coarser, DateRange):
        # The longer period of every shorter one is that of any of its days in the range.
        inner = [coarser.place(when) for when in finest.days]
    else:
        assert isinstance(finest, Intervals)
        assert isinstance(coarser, Intervals)
        inner = _interval_map(name, finest, coarser)
    extra = sum(label is not None for label in (finest.other, finest.missing))
    return np.array([*inner, *range(coarser.size - extra, coarser.size)], np.int64)


def _hierarchy_map(name: str, finest: Hierarchies, coarser: Hierarchies) -> list[int]:
    found: dict[int, int] = {}
    for value, code in finest.lookup.items():
        if found.setdefault(code, coarser.lookup[value]) != coarser.lookup[value]:
            message = (
                f"Level {coarser.level} of column {name!r} splits a group of level {finest.level}; levels must nest."
            )
            raise refusal("offer", message, "Correct the hierarchy, or leave that level out.", f"column {name!r}")
    return [found[code] for code in range(len(finest.own_labels))]


def _interval_map(name: str, finest: Intervals, coarser: Intervals) -> list[int]:
    times = len(finest.own_labels) - finest.bottom - finest.top, len(coarser.own_labels) - coarser.bottom - coarser.top
    if times[0] % times[1]:
        message = f"Width {coarser.width} of column {name!r} is no multiple of {finest.width}; widths must nest."
        raise refusal("offer", message, "Take widths that divide each other.", f"column {name!r}")
    inside = [place // (times[0] // times[1]) + finest.bottom for place in range(times[0])]
    return [0] * finest.bottom + inside + [len(coarser.own_labels) - 1] * finest.top


def leaves_of(finest: Recoding) -> NDArray[np.int64]:
    """Return the number of declared values that each finest class stands for."""
    leaves = np.ones(finest.size or 1, np.int64)
    if isinstance(finest, Hierarchies):
        counted = np.bincount(list(finest.lookup.values()), minlength=len(finest.own_labels))
        leaves[: len(counted)] = counted
    return leaves
