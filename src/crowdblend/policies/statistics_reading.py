"""Read a policy of statistics from the parts of its TOML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column, read_columns
from crowdblend.policies.keys import COLUMN_KINDS, STATISTICS, naming, read_keys, shown
from crowdblend.policies.sections import read_data, read_release, read_sampling
from crowdblend.policies.statistics import WHAT, Statistic, StatisticsPolicy
from crowdblend.recoding import Bounded, Intervals
from crowdblend.recoding.reading import exact

_DEFAULT_STEPS = 1_000


def read_policy(parts: dict[str, Any], folder: Path) -> StatisticsPolicy:
    """The policy of statistics."""
    if "columns" not in parts:
        raise InvalidInput("the policy must have a section [columns], and it is missing. Add it.")
    classes, measures = _read_columns(parts["columns"], folder)
    return StatisticsPolicy(
        data=read_data(parts["data"], folder),
        sampling=read_sampling(parts.get("sampling", {})),
        release=read_release(parts["release"]),
        classes=classes,
        measures=measures,
        statistics=_read_statistics(parts.get("statistics", [])),
    )


def _read_columns(table: Any, folder: Path) -> tuple[tuple[Column, ...], dict[str, Bounded]]:
    """The columns with classes, and the columns with bounds; intervals of equal width have both."""
    table = table if isinstance(table, Mapping) else {}
    numbers = {name: made for name, made in table.items() if isinstance(made, Mapping) and "resolution" in made}
    rest = {name: made for name, made in table.items() if name not in numbers}
    classes = read_columns(rest, folder) if rest or not numbers else ()
    for column in classes:
        if column.chooses:
            raise InvalidInput(f"column {column.name!r} must have one recoding for statistics. Name a single one.")
    measures = {name: _bounded(f"column {name!r}", made) for name, made in numbers.items()}
    measures |= {made.name: _of_intervals(made.recoding) for made in classes if isinstance(made.recoding, Intervals)}
    return classes, measures


def _of_intervals(recoding: Intervals) -> Bounded:
    """The numbers behind intervals, on a grid of a thousand steps; what has a class of its own beyond is moved in."""
    step = (exact("to", recoding.stop) - exact("from", recoding.start)) / _DEFAULT_STEPS
    beyond = recoding.top or recoding.bottom or recoding.other is not None
    return Bounded(recoding.start, recoding.stop, step, "clamp" if beyond else "refuse")


def _bounded(where: str, table: Any) -> Bounded:
    given = read_keys(where, COLUMN_KINDS["resolution"], table)
    outside, blank = given.get("outside", "refuse"), given.get("blank")
    return naming(where, lambda: Bounded(given["from"], given["to"], given["resolution"], outside, blank))


def _read_statistics(parts: Any) -> tuple[Statistic, ...]:
    if not isinstance(parts, list):
        raise InvalidInput(f"[[statistics]] must be a list of tables, got {shown(parts)}. Use double brackets.")
    return tuple(_statistic(read_keys("[[statistics]]", STATISTICS, part)) for part in parts)


def _statistic(given: dict[str, Any]) -> Statistic:
    asked = [what for what in WHAT if what in given]
    if len(asked) != 1:
        raise InvalidInput(
            f"statistic {given['name']!r} must have exactly one of average, fraction, count and histogram, got "
            f"{' and '.join(asked) or 'none'}. Keep one."
        )
    what = asked[0]
    if "where" in given and what != "histogram":
        raise InvalidInput(
            f"where of statistic {given['name']!r} must come with histogram, got {what}. An average among some people "
            "is a ratio, and a fraction or count takes its labels itself."
        )
    named = what in ("average", "histogram")
    return Statistic(
        name=given["name"],
        what=what,
        column=given[what] if named else None,
        where=given.get("where", {}) if named else given[what],
        weight=float(given.get("weight", 1)),
    )
