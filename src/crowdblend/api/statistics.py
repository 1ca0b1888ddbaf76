"""One statistic in one call: `Statistics(median("income"), count({"sex": "female"}), by="region")`.

Each function has the keys of a policy as arguments; a statistic without a name is called after what it is of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Never

from crowdblend.kinds.statistics.statistic import Statistic
from crowdblend.trusted.guarantees.parameters import check_type

Labels = Mapping[str, str | Sequence[str]]


def average(
    column: str,
    *,
    where: Labels | None = None,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return the average of a column of numbers between two bounds.

    Parameters:
        column: The column of numbers, declared by `bounds`, `axis` or `intervals`.
    """
    return _of("average", **locals())


def total(
    column: str,
    *,
    where: Labels | None = None,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return the sum of a column of numbers between two bounds.

    Parameters:
        column: The column of numbers, declared by `bounds`, `axis` or `intervals`.
    """
    return _of("sum", **locals())


def median(
    column: str,
    *,
    where: Labels | None = None,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return the median of a column of numbers between two bounds, on its grid.

    Parameters:
        column: The column of numbers, declared by `bounds`, `axis` or `intervals`.
    """
    return _of("median", **locals())


def quantile(
    column: str,
    at: float,
    *,
    where: Labels | None = None,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return the value below which a share of the people are, on the grid of a column of numbers.

    Parameters:
        column: The column of numbers, declared by `bounds`, `axis` or `intervals`.
        at: The share of people below the value, with up to three decimals, such as 0.9.
    """
    given = locals()
    check_type("at", at, Real, "one share, such as 0.9")
    return _of("quantile", **{**given, "name": f"{at:g}-quantile of {column}" if name is None else name})


def fraction(
    labels: Labels,
    *,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return the share of people with these labels.

    Parameters:
        labels: A label, or a list of them, for each column that matters, such as {"sex": "female"}.
    """
    return _of("fraction", **locals())


def count(
    labels: Labels,
    *,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return how many people have these labels.

    Parameters:
        labels: A label, or a list of them, for each column that matters, such as {"sex": "female"}.
    """
    return _of("count", **locals())


def histogram(
    column: str,
    *,
    where: Labels | None = None,
    name: str | None = None,
    error: float | None = None,
    weight: float = 1.0,
    **unknown: Never,
) -> Statistic:
    """Return how many people have each label of a column.

    Parameters:
        column: The column, declared with labels that are known beforehand.
    """
    return _of("histogram", **locals())


def _of(
    what: str,
    *,
    column: str = "",
    labels: Labels | None = None,
    by: str | Sequence[str] | None = None,
    name: str | None = None,
    unknown: Mapping[str, object],
    **keys: Any,
) -> Statistic:
    subject = column if labels is None else labels
    about = column if labels is None else ", ".join(f"{one} {some}" for one, some in labels.items())
    groups = (by,) if isinstance(by, str) else by
    given: dict[str, Any] = {"name": f"{what} of {about}" if name is None else name, what: subject, **keys, **unknown}
    return Statistic(**given, by=None if groups is None else tuple(groups))
