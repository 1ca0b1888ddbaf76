"""Recodings: fixed maps from raw values to classes, decided before the data are seen.

Three kinds, by what an engine has to do:

    Recoding
    ├── ClosedRecoding        the classes are known: `labels`, and `code(value)` is a position in them
    │   ├── ComputedRecoding  an engine evaluates `sql(column)`
    │   └── Lookup            an engine looks values up in `lookup`, and takes `fallback_sql(column)` for the others
    └── Open                  the classes are not listed: `label(value)`, and an engine evaluates `label_sql(column)`

Two optional classes take what has no other place: `missing` takes blanks, and `other` takes every value outside the
domain, blanks included unless `missing` is declared. Without them such a value has no class, and a release refuses it.

In SQL, `column` is an expression that is already quoted. `typed` says that it has the recoding's own type
(a number or date column) instead of text; it is faster, and the answer is that for the value written as text.
A recoding that reads text never has to be told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from msgspec.structs import replace

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.domain import Domain
from crowdblend.methods.recoding.reading import blank_sql, is_blank, quote

LARGEST_DOMAIN = 1_000_000
MOST_LISTED = 10_000
# Up to this many cells of a table are listed one by one.
MOST_CELLS_LISTED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Recoding(ABC):
    """A map from raw values to classes that knows nothing of the data."""

    other: str | None = None
    missing: str | None = None

    kind: ClassVar[Literal["computed", "lookup", "open"]]
    reads: ClassVar[Literal["text", "number", "date"]] = "text"

    def __post_init__(self) -> None:
        for name, label in (("other", self.other), ("missing", self.missing)):
            if label is not None and (is_blank(label) or "\0" in label):
                message = f"{name} must be a label that can be seen, got {label!r}. Name the class in a word."
                raise InvalidInput(message, where=name, code="recoding.label")
        if self.other is not None and self.other == self.missing:
            raise InvalidInput(
                f"other and missing must be two different labels, got {self.other!r} twice. "
                "Leave missing out: other then takes blanks too.",
                where="missing",
                code="recoding.repeated",
            )

    @property
    def closed(self) -> bool:
        """True if every possible class is known beforehand."""
        return self.labels is not None

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...] | None:
        """The label of every class in order of code, or None when they are not listed."""

    @property
    def size(self) -> int | None:
        """The number of classes; None when they are not listed."""
        return None if self.labels is None else len(self.labels)

    @abstractmethod
    def label(self, value: str | None) -> str | None:
        """Return the label of a raw value's class, or None when the value is outside the domain."""

    @abstractmethod
    def declaration(self) -> Domain:
        """Return the name of the recoding and its parameters, without labels."""

    def domain(self, most: int = MOST_LISTED) -> Domain:
        """Return the whole declared domain: how values become labels, and every label that is known.

        Nothing of it depends on the data, so it may be published as it is. Of computed labels there may be a million;
        where there are more than `most`, the parameters, from which they follow, say it all.
        """
        listed = self.labels is not None and (self.kind != "computed" or len(self.labels) <= most)
        return replace(
            self.declaration(),
            labels=self.labels if listed else None,
            size=None if listed else self.size,
            other=self.other,
            missing=self.missing,
        )


@dataclass(frozen=True, kw_only=True)
class ClosedRecoding(Recoding):
    """A recoding whose classes are all listed; a class is a position in `labels`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        seen: set[str] = set()
        for label in self.labels:
            if label in seen:
                message = f"Labels must differ, got {label!r} twice. Rename or merge one of them."
                raise InvalidInput(message, where="labels", code="recoding.repeated")
            seen.add(label)

    @property
    @abstractmethod
    def own_labels(self) -> tuple[str, ...]:
        """The labels of the domain itself, without `other` and `missing`."""

    @abstractmethod
    def own_code(self, value: str) -> int | None:
        """Return the position of a value that is not blank, or None outside the domain."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The domain's labels, then `other`, then `missing`."""
        return self.own_labels + tuple(label for label in (self.other, self.missing) if label is not None)

    @cached_property
    def other_code(self) -> int | None:
        """The code of the class `other`."""
        return None if self.other is None else len(self.own_labels)

    @cached_property
    def missing_code(self) -> int | None:
        """The code that blanks get: that of `missing`, or else that of `other`."""
        return self.other_code if self.missing is None else len(self.labels) - 1

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.labels)

    def code(self, value: str | None) -> int | None:
        """Return the code of a raw value's class, or None when it is outside the domain."""
        if value is None or is_blank(value):
            return self.missing_code
        own = self.own_code(value)
        return self.other_code if own is None else own

    def label(self, value: str | None) -> str | None:
        """Return the label of a raw value's class, or None when the value is outside the domain."""
        code = self.code(value)
        return None if code is None else self.labels[code]

    def fallback_sql(self, column: str, typed: bool = False) -> str:
        """Return the code of a value that the domain itself does not hold: `missing`, `other` or NULL."""
        if self.missing_code is None:
            return "CAST(NULL AS INTEGER)"
        otherwise = "NULL" if self.other_code is None else str(self.other_code)
        if self.missing_code == self.other_code:
            return f"CAST({otherwise} AS INTEGER)"
        return f"CAST(CASE WHEN {blank_sql(column, typed)} THEN {self.missing_code} ELSE {otherwise} END AS INTEGER)"


@dataclass(frozen=True, kw_only=True)
class ComputedRecoding(ClosedRecoding):
    """A closed recoding that an engine computes."""

    kind: ClassVar[Literal["computed"]] = "computed"

    @abstractmethod
    def own_sql(self, column: str, typed: bool) -> str:
        """Return the code within the domain itself in SQL, NULL outside."""

    def sql(self, column: str, typed: bool = False) -> str:
        """Return the INTEGER code in SQL, NULL outside the domain."""
        return self._with_fallback(f"CAST({self.own_sql(column, typed)} AS INTEGER)", column, typed)

    def quick_sql(self, column: str, *, whole: bool) -> str:
        """Return the code of a column that has the type to be read, as any type of number; `whole`: of up to 64 bits.

        In doubles, which hold codes exactly: after every step with whole numbers the database looks whether they fit.
        """
        return self._with_fallback(self.own_quick_sql(column, whole), column, True)

    def own_quick_sql(self, column: str, _whole: bool) -> str:
        """Return the code within the domain itself, NULL outside."""
        return self.own_sql(column, True)

    def _with_fallback(self, own: str, column: str, typed: bool) -> str:
        return own if self.missing_code is None else f"COALESCE({own}, {self.fallback_sql(column, typed)})"


@dataclass(frozen=True)
class WiderClasses(ComputedRecoding):
    """Classes of `times` neighbouring classes each, a level of the tree that ranges are counted by; the last has fewer.

    >>> from crowdblend.methods.recoding.intervals import Intervals
    >>> wide = WiderClasses(Intervals(0, 50, 10), 2)
    >>> wide.labels, wide.code("39")
    (('[0, 10) to [10, 20)', '[20, 30) to [30, 40)', '[40, 50)'), 1)
    """

    finest: ComputedRecoding
    times: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", self.finest.reads)
        super().__post_init__()

    @cached_property
    def own_labels(self) -> tuple[str, ...]:
        """The first and the last label of every class."""
        names = self.finest.own_labels
        parts = [names[start : start + self.times] for start in range(0, len(names), self.times)]
        return tuple(part[0] if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts)

    def declaration(self) -> Domain:
        """Return the declaration of the finest classes, and how many of them a class has."""
        return replace(self.finest.declaration(), join=self.times)

    def own_code(self, value: str) -> int | None:
        """Return the position of the class that holds the value's finest one."""
        code = self.finest.own_code(value)
        return None if code is None else code // self.times

    def own_sql(self, column: str, typed: bool) -> str:
        """The same in SQL."""
        return f"(CAST({self.finest.own_sql(column, typed)} AS INTEGER) // {self.times})"

    def own_quick_sql(self, column: str, whole: bool) -> str:
        """The same in doubles."""
        return f"floor(({self.finest.own_quick_sql(column, whole)}) / {self.times})"


@dataclass(frozen=True, kw_only=True)
class Lookup(ClosedRecoding):
    """A closed recoding that an engine looks up: exact equality of text, code point by code point."""

    kind: ClassVar[Literal["lookup"]] = "lookup"

    @property
    @abstractmethod
    def lookup(self) -> Mapping[str, int]:
        """The code of every value of the domain."""

    def own_code(self, value: str) -> int | None:
        """Return the code that the table gives."""
        return self.lookup.get(value)


@dataclass(frozen=True, kw_only=True)
class Open(Recoding):
    """A recoding whose classes are not listed: good for suppression, never for noise on every cell."""

    kind: ClassVar[Literal["open"]] = "open"

    @property
    def labels(self) -> None:
        """Not listed."""
        return

    @abstractmethod
    def own_label(self, value: str) -> str | None:
        """Return the label of a value that is not blank, or None when it cannot be read."""

    @abstractmethod
    def own_label_sql(self, column: str, typed: bool) -> str:
        """Return the label in SQL; NULL for blanks and for what cannot be read."""

    def label(self, value: str | None) -> str | None:
        """Return the label of a raw value's class, or None when the value cannot be read."""
        if value is None or is_blank(value):
            return self.other if self.missing is None else self.missing
        own = self.own_label(value)
        return self.other if own is None else own

    def label_sql(self, column: str, typed: bool = False) -> str:
        """Return the VARCHAR label in SQL, NULL when the value cannot be read."""
        own = self.own_label_sql(column, typed)
        if self.missing is None:
            return own if self.other is None else f"COALESCE({own}, {quote(self.other)})"
        otherwise = "NULL" if self.other is None else quote(self.other)
        blank = f"CASE WHEN {blank_sql(column, typed)} THEN {quote(self.missing)} ELSE {otherwise} END"
        return f"COALESCE({own}, {blank})"
