"""One statistic in one call: `Statistics(median("income"), count({"sex": "female"}), by="region")`.

Each function has the keys of a policy as arguments; a statistic without a name is called after what it is of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from crowdblend.kinds.statistics.statistic import Statistic

Labels = Mapping[str, str | Sequence[str]]


class Keys(TypedDict, total=False):
    """Keyword arguments that every statistic takes."""

    name: str
    error: float
    weight: float


class GroupedKeys(Keys, total=False):
    """Keyword arguments of statistics that are computed by group."""

    by: str | Sequence[str]


class SomeKeys(Keys, total=False):
    """Keyword arguments of statistics about some people only."""

    where: Labels


class MeasureKeys(GroupedKeys, SomeKeys, total=False):
    """Keyword arguments of statistics of a numeric column."""


def average(column: str, **keys: Unpack[MeasureKeys]) -> Statistic:
    """Return the average of a column of numbers between two bounds."""
    return _of("average", column, **keys)


def total(column: str, **keys: Unpack[MeasureKeys]) -> Statistic:
    """Return the sum of a column of numbers between two bounds."""
    return _of("sum", column, **keys)


def median(column: str, **keys: Unpack[MeasureKeys]) -> Statistic:
    """Return the median of a column of numbers between two bounds, on its grid."""
    return _of("median", column, **keys)


def quantile(column: str, at: float, **keys: Unpack[MeasureKeys]) -> Statistic:
    """Return the value below which a share of the people are, on the grid of a column of numbers."""
    given: dict[str, Any] = {"name": f"{at:g}-quantile of {column}", **keys}
    return _of("quantile", column, at=at, **given)


def fraction(labels: Labels, **keys: Unpack[Keys]) -> Statistic:
    """Return the share of people with these labels."""
    return _of("fraction", labels, **keys)


def count(labels: Labels, **keys: Unpack[GroupedKeys]) -> Statistic:
    """Return how many people have these labels."""
    return _of("count", labels, **keys)


def histogram(column: str, **keys: Unpack[SomeKeys]) -> Statistic:
    """Return how many people have each label of a column."""
    return _of("histogram", column, **keys)


def _of(what: str, subject: str | Labels, **keys: Any) -> Statistic:
    about = subject if isinstance(subject, str) else ", ".join(f"{one} {labels}" for one, labels in subject.items())
    by = keys.pop("by", None)
    groups = (by,) if isinstance(by, str) else by
    given: dict[str, Any] = {"name": f"{what} of {about}", what: subject, **keys}
    return Statistic(**given, by=None if groups is None else tuple(groups))
