"""One statistic in one call: `Statistics(median("income"), count({"sex": "female"}), by="region")`.

Each function has the keys of a policy as arguments; a statistic without a name is called after what it is of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdblend.kinds.statistics.statistic import Statistic

Labels = Mapping[str, str | Sequence[str]]
Columns = str | Sequence[str]


def average(
    column: str,
    *,
    name: str | None = None,
    by: Columns | None = None,
    where: Labels | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return the average of a column of numbers between two bounds."""
    return _of("average", column, name, by, where=where, error=error, weight=weight)


def total(
    column: str,
    *,
    name: str | None = None,
    by: Columns | None = None,
    where: Labels | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return the sum of a column of numbers between two bounds."""
    return _of("sum", column, name, by, where=where, error=error, weight=weight)


def median(
    column: str,
    *,
    name: str | None = None,
    by: Columns | None = None,
    where: Labels | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return the median of a column of numbers between two bounds, on its grid."""
    return _of("median", column, name, by, where=where, error=error, weight=weight)


def quantile(
    column: str,
    at: float,
    *,
    name: str | None = None,
    by: Columns | None = None,
    where: Labels | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return the value below which a share of the people are, on the grid of a column of numbers."""
    named = f"{at:g}-quantile of {column}" if name is None else name
    return _of("quantile", column, named, by, at=at, where=where, error=error, weight=weight)


def fraction(labels: Labels, *, name: str | None = None, error: float | None = None, weight: float = 1.0) -> Statistic:
    """Return the share of people with these labels."""
    return _of("fraction", labels, name, None, error=error, weight=weight)


def count(
    labels: Labels,
    *,
    name: str | None = None,
    by: Columns | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return how many people have these labels."""
    return _of("count", labels, name, by, error=error, weight=weight)


def histogram(
    column: str,
    *,
    name: str | None = None,
    where: Labels | None = None,
    error: float | None = None,
    weight: float = 1.0,
) -> Statistic:
    """Return how many people have each label of a column."""
    return _of("histogram", column, name, None, where=where, error=error, weight=weight)


def _of(what: str, subject: str | Labels, name: str | None, by: Columns | None, **keys: Any) -> Statistic:
    about = subject if isinstance(subject, str) else ", ".join(f"{one} {labels}" for one, labels in subject.items())
    groups = None if by is None else (by,) if isinstance(by, str) else tuple(by)
    given: dict[str, Any] = {what: subject, **keys}
    return Statistic(name=f"{what} of {about}" if name is None else name, by=groups, **given)
