"""Hierarchy files as tables: a value in each row, then its group at each level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.hierarchies import (
    Hierarchies,
    interval_hierarchy,
    order_hierarchy,
    prefix_hierarchy,
    read_hierarchy,
)

MOST_ROWS, MOST_LEVELS = 2_000, 12


def check_size(rows: int, levels: int) -> None:
    """Refuse a table that is too large for a page."""
    if rows > MOST_ROWS or levels > MOST_LEVELS:
        message = f"The table takes {MOST_ROWS:,} rows and {MOST_LEVELS} levels."
        remedy = "Write the file with `crowdblend hierarchy`, or by hand."
        raise InvalidInput(message, remedy=remedy, where="hierarchy", code="hierarchy.size")


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a hierarchy file; one blank row where there is no file yet."""
    rows = [list(line) for line in read_hierarchy(path)] if path.exists() else [["", ""]]
    check_size(len(rows), len(rows[0]))
    return rows


def hierarchy_files(columns: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """Return the files that are called after columns, as ARX calls its hierarchies.

    >>> hierarchy_files(["sex", "marital-status"], ["hierarchy_sex.csv", "data/marital-status-hierarchy.csv", "x.csv"])
    {'sex': 'hierarchy_sex.csv', 'marital-status': 'data/marital-status-hierarchy.csv'}
    """
    stems = {
        re.sub(r"[_ .-]?hierarchy[_ .-]?", "", Path(path).stem.lower()): path for path in paths if "hierarchy" in path
    }
    known = {name: stems.get(name.strip().lower()) for name in columns}
    return {name: path for name, path in known.items() if path is not None}


def checked_rows(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without blank ones; refuses a table whose levels do not nest, or in which a cell is blank."""
    kept = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not kept or not all(all(row) for row in kept):
        message = "Every row needs a value and its group at each level."
        remedy = "Fill in the blank cells, or empty the row."
        raise InvalidInput(message, remedy=remedy, where="hierarchy", code="recoding.blank")
    for level in range(len(kept[0])):
        Hierarchies(tuple(map(tuple, kept)), level)
        # A group as a whole belongs to one group of the next level.
        if level and len({(row[level - 1], row[level]) for row in kept}) > len({row[level - 1] for row in kept}):
            message = f"Level {level} splits a group of level {level - 1}; levels must nest."
            remedy = "Give all values that share a group the same group at every coarser level."
            raise InvalidInput(message, remedy=remedy, where="hierarchy", code="recoding.nesting")
    return kept


def group_counts(rows: list[list[str]]) -> list[int]:
    """Return how many groups there are at each level, the values themselves first."""
    return [len({row[level] for row in rows}) for level in range(len(rows[0]))]


def made_rows(rule: str, values: str, numbers: Mapping[str, str]) -> list[list[str]]:
    """Return a table made by a rule, as `crowdblend hierarchy` makes it: intervals, prefixes, or order."""
    listed = [line.strip() for line in values.splitlines() if line.strip()]
    if rule == "intervals":
        start, stop = (_whole(name, numbers.get(name, "")) for name in ("from", "to"))
        check_size(stop - start, 1)
        lines = interval_hierarchy(start, stop, _wholes("widths", numbers.get("widths", "")))
    elif rule == "prefixes":
        lines = prefix_hierarchy(listed, _wholes("keep", numbers.get("keep", "")))
    else:
        lines = order_hierarchy(listed, _wholes("sizes", numbers.get("sizes", "")))
    check_size(len(lines), len(lines[0]))
    return [list(line) for line in lines]


def _wholes(name: str, text: str) -> list[int]:
    return [_whole(name, part) for part in re.split(r"[\s,;]+", text.strip()) if part]


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text.strip()):
        raise InvalidInput(
            f"{name} takes whole numbers.", remedy="Write digits only.", where=name, code="hierarchy.number"
        )
    return int(text)
