"""Generalization hierarchies: a file with one line per value, from the value itself to ever wider groups.

ARX's files are read as they are: fields separated by ';', the value first, then its group at level 1, 2 and so on.

Hierarchies from a rule: intervals of whole numbers, prefixes of codes, groups of neighbours in an order. The values
come from a code book or from the rule itself, never from the data. Each line is a value and its group at every level,
the last of which is "*" for everybody, as ARX writes such files.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.classes import Lookup
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.intervals import whole_label
from crowdblend.methods.recoding.reading import is_blank
from crowdblend.trusted.machine.regular_files import read_regular


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
            message = "A hierarchy must list at least one value, got none. Check that the file is the right one."
            raise InvalidInput(message, where="hierarchy", code="recoding.too-few")
        widths = {len(line) for line in self.lines}
        if len(widths) > 1:
            raise InvalidInput(
                f"Every line of a hierarchy must have the same number of levels, got {min(widths)} and {max(widths)} "
                "fields. Complete the short lines.",
                where="hierarchy",
                code="recoding.uneven",
            )
        if any(is_blank(field) for line in self.lines for field in line):
            message = "A hierarchy must not have blank fields, got one. Name the group, or use missing."
            raise InvalidInput(message, where="hierarchy", code="recoding.blank")
        if not 0 <= self.level < min(widths):
            message = f"level must be between 0 and {min(widths) - 1}, got {self.level}. 0 keeps the values themselves."
            raise InvalidInput(message, where="level", code="recoding.level")
        seen: set[str] = set()
        for value, *_ in self.lines:
            if value in seen:
                message = f"A hierarchy must list each value once, got {value!r} twice. Delete one line."
                raise InvalidInput(message, where="hierarchy", code="recoding.repeated")
            seen.add(value)
        super().__post_init__()

    @property
    def levels(self) -> int:
        """The number of levels, the values themselves included."""
        return len(self.lines[0])

    def at(self, level: int) -> Hierarchies:
        """The same hierarchy at another level."""
        return replace(self, level=level)

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The groups of the level, in the order of the file."""
        return tuple(dict.fromkeys(line[self.level] for line in self.lines))

    def declaration(self) -> Domain:
        """Return the level; which values a group holds stays in the steward's file."""
        return Domain(recoding="hierarchy", level=self.level, levels=self.levels)

    @cached_property
    def lookup(self) -> Mapping[str, int]:
        """The group of every value."""
        codes = {label: code for code, label in enumerate(self.own_labels)}
        return {line[0]: codes[line[self.level]] for line in self.lines}


Lines = tuple[tuple[str, ...], ...]
LARGEST_FILE = 100_000_000
_MOST_VALUES = 1_000_000
_EVERYBODY = "*"


def read_hierarchy(path: Path) -> Lines:
    """Return the lines of a hierarchy file; a byte order mark and empty lines are ignored."""
    try:
        text = read_regular(path, LARGEST_FILE).decode("utf-8-sig")
    except OSError as error:
        message = f"Hierarchy {path.name!r} cannot be read: {error.strerror}. Check the path."
        raise InvalidInput(message, where="hierarchy", code="recoding.unreadable") from None
    except UnicodeDecodeError:
        message = f"Hierarchy {path.name!r} is not UTF-8 text. Save it as UTF-8."
        raise InvalidInput(message, where="hierarchy", code="recoding.unreadable") from None
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
        return tuple(tuple(row) for row in rows if row)
    except csv.Error as error:
        message = f"Hierarchy {path.name!r} must be fields separated by ';' ({error}). Check quotes."
        raise InvalidInput(message, where="hierarchy", code="recoding.unreadable") from None


def interval_hierarchy(start: int, stop: int, widths: Sequence[int]) -> Lines:
    """Return every whole number from `start` to below `stop`, in intervals of each width.

    >>> interval_hierarchy(0, 4, [2])
    (('0', '0–1', '*'), ('1', '0–1', '*'), ('2', '2–3', '*'), ('3', '2–3', '*'))
    """
    if start >= stop or stop - start > _MOST_VALUES:
        raise _refusal(
            "`--to`", "size", f"`--from {start}` and `--to {stop}` hold no number, or more than {_MOST_VALUES:,}."
        )
    _check_nesting("`--width`", widths, 1)
    if (stop - start) % widths[-1]:
        raise _refusal("`--width`", "step", f"{stop - start} numbers are no whole number of intervals of {widths[-1]}.")

    def label(value: int, width: int) -> str:
        low = start + (value - start) // width * width
        return whole_label(Decimal(low), Decimal(low + width - 1))

    return tuple((str(value), *(label(value, width) for width in widths), _EVERYBODY) for value in range(start, stop))


def prefix_hierarchy(values: Sequence[str], keep: Sequence[int]) -> Lines:
    """Codes cut to their first characters, level by level; what is cut is starred.

    >>> prefix_hierarchy(["10115", "10999"], [3, 1])
    (('10115', '101**', '1****', '*'), ('10999', '109**', '1****', '*'))
    """
    _check_values(values)
    if not keep or keep[-1] < 1 or any(longer <= shorter for longer, shorter in pairwise(keep)):
        given = " ".join(map(str, keep))
        raise _refusal("`--keep`", "order", f"`--keep {given}` does not fall from level to level.")
    return tuple(
        (value, *(value[:length] + "*" * max(0, len(value) - length) for length in keep), _EVERYBODY)
        for value in values
    )


def order_hierarchy(values: Sequence[str], sizes: Sequence[int]) -> Lines:
    """Values in their order, in groups of this many neighbours at each level, called by the first and the last.

    >>> order_hierarchy(["none", "primary", "secondary", "tertiary"], [2])[2]
    ('secondary', 'secondary – tertiary', '*')
    """
    _check_values(values)
    _check_nesting("`--size`", sizes, 2)

    def label(place: int, size: int) -> str:
        low = place // size * size
        high = min(low + size, len(values)) - 1
        return values[low] if low == high else f"{values[low]} – {values[high]}"

    return tuple((value, *(label(place, size) for size in sizes), _EVERYBODY) for place, value in enumerate(values))


def hierarchy_text(lines: Lines) -> str:
    """Return the lines as a file has them, with ';' between and quotation marks where a value needs them."""
    return "".join(";".join(map(_field, line)) + "\n" for line in lines)


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ';"\r\n') else text


def _check_values(values: Sequence[str]) -> None:
    if not values or len(set(values)) < len(values):
        raise _refusal("VALUES", "repeated", "The list of values is empty, or has a value twice.")


def _check_nesting(option: str, sizes: Sequence[int], least: int) -> None:
    if not sizes or sizes[0] < least or any(big % small or big == small for small, big in pairwise(sizes)):
        given = " ".join(map(str, sizes))
        raise _refusal(option, "nesting", f"{option}: {given} are not rising multiples of each other from {least} on.")


def _refusal(where: str, code: str, message: str) -> InvalidInput:
    remedies = {
        "size": "Declare the range that applies to everybody.",
        "step": "Widen the range, or take widths that divide it.",
        "order": "Give the longest first, such as `--keep 3` and then `--keep 1`.",
        "repeated": "List every value once.",
        "nesting": "Give the finest first, such as 5, 10, 20.",
    }
    return InvalidInput(message, remedy=remedies[code], where=where, code=f"hierarchy.{code}")
