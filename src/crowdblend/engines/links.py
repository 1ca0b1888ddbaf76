"""Refusals of names and values in the tables of a network, the same for every engine."""

from __future__ import annotations

from typing import NoReturn

from crowdblend.engines.column_types import ColumnType
from crowdblend.errors import InvalidInput


def refuse_blanks(name: str, what: str) -> NoReturn:
    """Refuse a row without a name or value."""
    raise InvalidInput(
        f"the column {name!r} of the {what} must have a value in every row, and has NULLs. Remove those rows."
    )


def refuse_broken_name(name: str, kind: ColumnType) -> NoReturn:
    """Refuse names that are numbers with fractions."""
    raise InvalidInput(
        f"the column {name!r} must name people by whole numbers or texts, got a {kind.value}. Convert it."
    )
