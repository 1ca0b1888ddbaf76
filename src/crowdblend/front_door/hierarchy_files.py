"""Hierarchy files as tables: a value in each row, then its group at each level."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.recoding import Hierarchies, read_hierarchy

MOST_ROWS, MOST_LEVELS = 2_000, 12


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a hierarchy file; none where there is no file yet."""
    return [list(line) for line in read_hierarchy(path)] if path.exists() else []


def write_rows(path: Path, rows: list[list[str]]) -> None:
    """Write a hierarchy file; refuses one whose levels do not nest, or in which a cell is blank."""
    kept = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not kept or not all(all(row) for row in kept):
        raise InvalidInput(
            "Every row needs a value and its group at each level.",
            remedy="Fill in the blank cells, or empty the row.",
            where="hierarchy",
            code="recoding.blank",
        )
    for level in range(len(kept[0])):
        Hierarchies(tuple(map(tuple, kept)), level)
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
