"""The domain of a column in one call: `columns={"sex": values("Female", "Male"), "age": intervals(0, 100, width=10)}`.

Each function has the keys of a policy as arguments; `from` and `to` are the first two. Keys read numbers as they are
written: 0.1 is a tenth, as in TOML.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal, Protocol, runtime_checkable

from crowdblend.policies.domains import (
    AxisDomain,
    BreakDomain,
    DateDomain,
    HierarchyDomain,
    IntervalDomain,
    NumberDomain,
    PrefixDomain,
    ValueDomain,
)
from crowdblend.policies.value_types import Period


@runtime_checkable
class Categories(Protocol):
    """A type that declares its values."""

    @property
    def categories(self) -> Any:
        """The values in order."""


Number = int | float | Decimal
Day = datetime.date | str


def values(
    *listed_values: str | bool | int | Categories | Sequence[str | bool | int],
    other: str | None = None,
    missing: str | None = None,
) -> ValueDomain:
    """A class for each of the values, listed or in one list; `other` is that of all others, `missing` that of NULL.

    A type that declares its categories, `pandas.CategoricalDtype` or `polars.Enum`, stands for them. Declare it from
    what you know: `astype("category")` reads them off the data.
    """
    if len(listed_values) == 1 and isinstance(listed_values[0], Categories):
        listed_values = tuple(listed_values[0].categories)
    elif len(listed_values) == 1 and isinstance(listed_values[0], list | tuple):
        listed_values = tuple(listed_values[0])
    return ValueDomain(values=listed_values, other=other, missing=missing)  # type: ignore[arg-type]  # texts there


def intervals(
    start: Number,
    stop: Number,
    *,
    width: Number | Sequence[Number],
    include_to: bool = False,
    bottom: bool = False,
    top: bool = False,
    whole: bool = False,
    other: str | None = None,
    missing: str | None = None,
    weight: float | None = None,
) -> IntervalDomain:
    """Intervals of equal width from `start` to below `stop`; several widths, finest first, are offered for a choice.

    With `whole`, values are whole numbers and classes are called 10–19 instead of [10, 20).
    """
    return IntervalDomain(**locals())


def breaks(
    *ends: Number,
    bottom: bool = False,
    top: bool = False,
    whole: bool = False,
    other: str | None = None,
    missing: str | None = None,
) -> BreakDomain:
    """Intervals between rising ends."""
    given = locals()
    return BreakDomain(breaks=given.pop("ends"), **given)


def prefix(characters: int, *, missing: str | None = None) -> PrefixDomain:
    """Return the first characters of a text; an open domain."""
    return PrefixDomain(prefix=characters, missing=missing)


def date(
    period: Period | Sequence[Period],
    start: Day | None = None,
    stop: Day | None = None,
    *,
    include_to: bool = False,
    other: str | None = None,
    missing: str | None = None,
    weight: float | None = None,
) -> DateDomain:
    """Years, quarters, months, weeks or days; `start` and `stop` together close the domain.

    Several periods, finest first, are offered for a choice.
    """
    given = locals()
    return DateDomain(date=given.pop("period"), **given)


def hierarchy(
    file: str | os.PathLike[str],
    *,
    level: int | Literal["choose"] | None = None,
    levels: Iterable[int] | None = None,
    other: str | None = None,
    missing: str | None = None,
    weight: float | None = None,
) -> HierarchyDomain:
    """Groups from a file: one value a line, then its group at each level; several levels are offered for a choice."""
    levels = None if levels is None else tuple(levels)
    given = locals()
    return HierarchyDomain(hierarchy=given.pop("file"), **given)


def bounds(
    start: Number,
    stop: Number,
    *,
    resolution: Number,
    outside: Literal["refuse", "clamp"] = "refuse",
    blank: Number | None = None,
) -> NumberDomain:
    """Numbers between two bounds, to be averaged, rounded to whole multiples of the resolution."""
    return NumberDomain(**locals())


def axis(
    start: Number,
    stop: Number,
    *,
    resolution: Number,
    width: Number | None = None,
    outside: Literal["refuse", "drop"] = "refuse",
) -> AxisDomain:
    """Return an axis of points between two bounds, in steps of the resolution; `width` is that of the blocks."""
    return AxisDomain(**locals())
