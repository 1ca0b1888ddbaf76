"""Classes of whole numbers: labelled by their first and last number, and closed to everything with a fraction."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from crowdblend.errors import InvalidInput
from crowdblend.recoding.reading import Number, exact


def whole_label(first: Decimal, last: Decimal) -> str:
    """The numbers from the first to the last: a single one by itself, negative ones with a word between.

    >>> whole_label(Decimal(10), Decimal(19)), whole_label(Decimal(7), Decimal(7)), whole_label(Decimal(-9), Decimal(0))
    ('10–19', '7', '-9 to 0')
    """
    if first == last:
        return f"{first:f}"
    return f"{first:f} to {last:f}" if first < 0 else f"{first:f}–{last:f}"


def check_whole(named: Iterable[tuple[str, Number]]) -> None:
    """Refuse ends and widths with a fraction, where classes are of whole numbers."""
    for name, value in named:
        if exact(name, value) != exact(name, value).to_integral_value():
            raise InvalidInput(
                f"whole = true declares whole numbers, and {name} is {value}. Use a whole number, or remove whole.",
                where=name,
                code="recoding.whole",
            )


def whole_sql(value: str) -> str:
    """Whether a number has no fraction, in SQL."""
    return f"{value} = floor({value})"
