"""Packed codes: a row's class as a number in mixed radix, column after column, in as many 64-bit numbers as it takes.

The order of packed codes is the order of the codes. The labels of an open column are numbered as they come, and put in
order at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from crowdblend.errors import InvalidInput
from crowdblend.methods.mechanisms.mechanism import SampledClasses
from crowdblend.methods.recoding.axes import Axis
from crowdblend.methods.recoding.bounded_recoding import Steps
from crowdblend.methods.recoding.classes import ClosedRecoding, Open, Recoding
from crowdblend.policies.columns import Column
from crowdblend.sources.engines.class_counter import Counts, PackedCodes
from crowdblend.sources.engines.engine import ColumnType
from crowdblend.sources.engines.refusals import at_column, outside_bounds, outside_domain, refusal

_NUMBER = 1 << 63
_OPEN_SIZE = 1 << 31


@dataclass(frozen=True)
class Place:
    """The place of a column's code: in number `at` of the packed code, multiplied by `weight`."""

    at: int
    weight: int
    size: int


class Packing:
    """The packed codes of some columns, and the labels of open columns that came so far."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.places = _places([column.recoding.size or _OPEN_SIZE for column in columns])
        self._numbered: dict[int, dict[str, int]] = {
            position: {} for position, column in enumerate(columns) if isinstance(column.recoding, Open)
        }

    @property
    def width(self) -> int:
        """The number of integers in a packed code."""
        return self.places[-1].at + 1 if self.places else 1

    @property
    def classes(self) -> int | None:
        """The number of possible classes; None if they are not listed or do not fit one number."""
        if self._numbered or self.width > 1:
            return None
        return self.places[0].weight * self.places[0].size if self.places else 1

    @property
    def open(self) -> list[int]:
        """The positions of the open columns."""
        return list(self._numbered)

    def number(self, position: int, labels: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of labels of an open column; a new label gets the next one."""
        numbered = self._numbered[position]
        return np.array([numbered.setdefault(label, len(numbered)) for label in labels], dtype=np.int64)

    def labels(self, position: int) -> list[str]:
        """Return the labels of an open column in the order of their numbers."""
        return list(self._numbered[position])

    def refuse(self, position: int, hint: str | None = None) -> NoReturn:
        """Refuse values of a column that have no class; the hint says what helps, where something is known to."""
        column = self.columns[position]
        if isinstance(column.recoding, Steps):
            raise outside_bounds(column.name, hint)
        usual = f"{_remedy(column.recoding)}, or widen the domain."
        raise outside_domain(column.name, usual if hint is None else f"{hint}. Or: {usual[0].lower()}{usual[1:]}")

    def content(self, codes: PackedCodes) -> NDArray[np.uint64]:
        """Return the content of each class, by column: the code, or a hash of an open label."""
        said = np.empty((len(codes[0]), len(self.columns)), dtype=np.uint64)
        for position in range(len(self.columns)):
            digits = self.digits(codes, position)
            if position in self._numbered:
                digests = [blake2b(label.encode(), digest_size=8).digest() for label in self._numbered[position]]
                said[:, position] = np.frombuffer(b"".join(digests), dtype="<u8")[digits]
            else:
                said[:, position] = digits
        return said

    def crowds(self, codes: PackedCodes) -> PackedCodes:
        """Return the crowd of each row, within which people hide: its class, of points its labels and its block."""
        if not any(column.steps_of_block for column in self.columns):
            return codes
        digits = (self.digits(codes, position) for position in range(len(self.columns)))
        return tuple(one // (column.steps_of_block or 1) for one, column in zip(digits, self.columns, strict=True))

    def classes_of(self, packed_codes: PackedCodes, counts: Counts) -> SampledClasses:
        """Return the classes with their labels, in order of code."""
        codes = np.empty((len(counts), len(self.columns)), dtype=np.int32)
        labels: list[tuple[str, ...]] = []
        for position, column in enumerate(self.columns):
            digits = self.digits(packed_codes, position)
            if isinstance(column.recoding, ClosedRecoding):
                labels.append(column.recoding.labels)
            else:
                names = list(self._numbered[position])
                order = sorted(range(len(names)), key=names.__getitem__)
                labels.append(tuple(names[number] for number in order))
                ranks = np.empty(len(names), dtype=np.int64)
                ranks[order] = np.arange(len(names))
                digits = ranks[digits]
            codes[:, position] = digits
        if self._numbered:
            by_code = np.lexsort(codes.T[::-1])
            codes, counts = codes[by_code], counts[by_code]
        classes = SampledClasses(tuple(column.name for column in self.columns), tuple(labels), codes, counts)
        # A row that was not kept may have had a label of its own.
        return only_occurring(classes, [position in self._numbered for position in range(len(self.columns))])

    def digits(self, codes: PackedCodes, position: int) -> NDArray[np.int64]:
        """Return the codes of one column; of an open column, the numbers of its labels."""
        place = self.places[position]
        digits: NDArray[np.int64] = codes[place.at] // place.weight
        digits %= place.size
        return digits


def _remedy(recoding: Recoding) -> str:
    """Return the remedy for values of a column of this kind that have no class."""
    if isinstance(recoding, Axis):
        return 'Set `outside = "drop"` to leave those people out'
    no_other = isinstance(recoding, Open) and recoding.reads == "text"
    return f"Declare {'missing' if no_other else 'other or missing'} to give them a class"


def only_occurring(classes: SampledClasses, is_open: Sequence[bool]) -> SampledClasses:
    """Return the classes without those labels of open columns that no class has."""
    codes, labels = classes.codes.copy() if any(is_open) else classes.codes, list(classes.labels)
    for position in np.flatnonzero(is_open):
        used, codes[:, position] = np.unique(codes[:, position], return_inverse=True)
        labels[position] = tuple(labels[position][code] for code in used)
    return SampledClasses(classes.columns, tuple(labels), codes, classes.counts)


def _places(sizes: Sequence[int]) -> list[Place]:
    """Return places: as many columns in a number as fit, the first one most significant."""
    groups: list[list[int]] = []
    product = _NUMBER
    for size in sizes:
        if product * size >= _NUMBER:
            groups.append([])
            product = 1
        groups[-1].append(size)
        product *= size
    places: list[Place] = []
    for at, group in enumerate(groups):
        weights = [1]
        for size in reversed(group[1:]):
            weights.append(weights[-1] * size)
        places += [Place(at, weight, size) for weight, size in zip(reversed(weights), group, strict=True)]
    return places


def refuse_unreadable(name: str, kind: ColumnType) -> None:
    """Refuse a column that is recoded and has a list or structure in each row, or moments without a day."""
    if kind is ColumnType.NESTED:
        message = "Split it into columns with one number, date or text in each row."
        raise refusal("nested-column", f"Column {name!r} holds several values in each row.", message, at_column(name))
    if kind is ColumnType.ZONED:
        raise zoned_column(name)


def zoned_column(name: str) -> InvalidInput:
    """Return the refusal of a column of moments with a time zone, by its type or as texts."""
    message = f"Column {name!r} holds moments with a time zone, which fall on other days in other zones."
    remedy = "Convert it to dates of the zone that you mean, such as (moment AT TIME ZONE 'Europe/Berlin')::date."
    return refusal("zoned-column", message, remedy, at_column(name))
