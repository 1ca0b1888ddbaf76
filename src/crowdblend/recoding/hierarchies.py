"""Generalization hierarchies: a file with one line per value, from the value itself to ever wider groups.

ARX's files are read as they are: fields separated by ';', the value first, then its group at level 1, 2 and so on.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.recoding.classes import Lookup
from crowdblend.recoding.reading import is_blank


@dataclass(frozen=True)
class Hierarchies(Lookup):
    """The groups of one level of a hierarchy; level 0 is the values themselves.

    >>> lines = (("Paris", "France", "Europe"), ("Lyon", "France", "Europe"), ("Kyoto", "Japan", "Asia"))
    >>> place = Hierarchies(lines, level=1)
    >>> place.labels, place.code("Lyon"), place.at(2).labels, place.code("Rome")
    (('France', 'Japan'), 0, ('Europe', 'Asia'), None)
    """

    lines: tuple[tuple[str, ...], ...]
    level: int

    def __post_init__(self) -> None:
        if not self.lines:
            raise InvalidInput(
                "a hierarchy must list at least one value, got none. Check that the file is the right one.",
                where="hierarchy",
                code="recoding.too-few",
            )
        widths = {len(line) for line in self.lines}
        if len(widths) > 1:
            raise InvalidInput(
                f"every line of a hierarchy must have the same number of levels, got {min(widths)} and {max(widths)} "
                "fields. Complete the short lines.",
                where="hierarchy",
                code="recoding.uneven",
            )
        if any(is_blank(field) for line in self.lines for field in line):
            raise InvalidInput(
                "a hierarchy must not have blank fields, got one. Name the group, or use missing.",
                where="hierarchy",
                code="recoding.blank",
            )
        if not 0 <= self.level < min(widths):
            raise InvalidInput(
                f"level must be between 0 and {min(widths) - 1}, got {self.level}. 0 keeps the values themselves.",
                where="level",
                code="recoding.level",
            )
        self._refuse_repeats()
        super().__post_init__()

    def _refuse_repeats(self) -> None:
        seen: set[str] = set()
        for value, *_ in self.lines:
            if value in seen:
                raise InvalidInput(
                    f"a hierarchy must list each value once, got {value!r} twice. Delete one line.",
                    where="hierarchy",
                    code="recoding.repeated",
                )
            seen.add(value)

    @property
    def levels(self) -> int:
        """How many levels there are, the values themselves included."""
        return len(self.lines[0])

    def at(self, level: int) -> Hierarchies:
        """The same hierarchy at another level."""
        return replace(self, level=level)

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The groups of the level, in the order of the file."""
        return tuple(dict.fromkeys(line[self.level] for line in self.lines))

    def declaration(self) -> dict[str, Any]:
        """The level; which values a group holds stays in the steward's file."""
        return {"recoding": "hierarchy", "level": self.level, "levels": self.levels}

    @cached_property
    def lookup(self) -> Mapping[str, int]:
        """The group of every value."""
        codes = {label: code for code, label in enumerate(self.own_labels)}
        return {line[0]: codes[line[self.level]] for line in self.lines}


def read_hierarchy(path: Path) -> tuple[tuple[str, ...], ...]:
    """The lines of a hierarchy file; a byte order mark and empty lines are ignored."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"hierarchy {path.name!r} cannot be read: {error.strerror}. Check the path.",
            where="hierarchy",
            code="recoding.unreadable",
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"hierarchy {path.name!r} is not UTF-8 text. Save it as UTF-8.",
            where="hierarchy",
            code="recoding.unreadable",
        ) from None
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
        return tuple(tuple(row) for row in rows if row)
    except csv.Error as error:
        raise InvalidInput(
            f"hierarchy {path.name!r} must be fields separated by ';' ({error}). Check quotes.",
            where="hierarchy",
            code="recoding.unreadable",
        ) from None
